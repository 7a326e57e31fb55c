from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.archive import member_names, members
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import LogLimits, Record


def packed(tmp_path: Path, **content: bytes) -> Path:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        for name, value in content.items():
            file.writestr(name, value)
    path = tmp_path / "log.zip"
    path.write_bytes(data.getvalue())
    return path


def test_members_come_in_the_order_asked_for(tmp_path: Path) -> None:
    path = packed(tmp_path, a=b"1", b=b"2")
    assert member_names(path) == ["a", "b"]
    assert list(members(path, ["b", "a"], LogLimits())) == [b"2", b"1"]


def test_a_member_that_is_too_large_or_absent_is_told_in_its_place(tmp_path: Path) -> None:
    path = packed(tmp_path, a=b"x" * 101, b=b"2")
    large, absent, good = members(path, ["a", "c", "b"], LogLimits(record_bytes=100))
    assert isinstance(large, RecordError)
    assert str(large) == "a: a record of more than 100 bytes"
    assert isinstance(absent, RecordError)
    assert absent.position == "c"
    assert good == b"2"


def test_what_unpacks_out_of_proportion_ends_the_reading(tmp_path: Path) -> None:
    path = packed(tmp_path, a=b"1", b=b"x" * 1_000_000)
    found = members(path, ["a", "b"], LogLimits(expansion=10, expansion_free_bytes=1000))
    assert next(found) == b"1"
    with pytest.raises(RecordError, match="unpacks to more than 10 times its size"):
        next(found)


def test_a_log_gives_members_as_records(tmp_path: Path) -> None:
    log = Log("log.zip", packed(tmp_path, a=b'{"x": 1}', b=b"{"))
    assert log.layout == "zip"
    good, broken = log.members(["a", "b"])
    assert good == Record({"x": 1}, "a")
    assert isinstance(broken, RecordError)
    assert (broken.source, broken.position) == ("log.zip", "b")
    (told,) = log.records()
    assert isinstance(told, RecordError)
