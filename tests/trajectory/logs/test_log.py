from __future__ import annotations

import gzip
import json
import random
import re
from pathlib import Path

import pytest

from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import LogLimits, Record

JSONL = b'{"a": 1}\n\n{"a": 2}\r\n'
INDENTED = b'{\n  "a": 1\n}\n{\n  "a": 2\n}'
ARRAY = b'[\n{"a": 1},\n{"a": 2}\n]'


def log_of(tmp_path: Path, data: bytes, limits: LogLimits | None = None) -> Log:
    path = tmp_path / "some.log"
    path.write_bytes(data)
    return Log("some.log", path, limits or LogLimits())


def values(log: Log) -> list[object]:
    return [item.value if isinstance(item, Record) else str(item) for item in log.records()]


@pytest.mark.parametrize(
    ("data", "layout"),
    [
        (JSONL, "lines"),
        (b'{"a": 1}', "lines"),
        (b'[{"a": 1}]\n[{"a": 2}]\n', "lines"),
        (b'{"broken\n{"a": 1}\n', "lines"),
        ('{"a": "é"}\n'.encode("latin-1"), "lines"),
        ('{\n  "a": "é"\n}\n'.encode("latin-1"), "values"),
        (INDENTED, "values"),
        (ARRAY, "array"),
        (b'[{"a": 1}, {"a": 2}]', "array"),
        (b"You are in a room.\n> look\n", "text"),
        (b"[INFO] {started}\n> look\n", "text"),
        (b"{'python': 'repr'}", "text"),
        (b"# title\n\n```\n{\n```\n", "text"),
        (b'noise {"a": 1}\n{"a": 2}\n', "lines"),
        (b'INFO {run}\nnoise\n{"a": 1}\n{"a": 2}\n', "lines"),
        (b'INFO {run}\n{"a": 1}\n', "lines"),
        (b'INFO {run}\n{"broken\n{"a": 1}\n', "lines"),
        (b'INFO {run}\n{"a": 1}\n> look\n', "text"),
        (b'saving\n{\n  "a": 1\n}', "values"),
        (b"PK\x03\x04rest", "binary"),
        (b"a\x00b", "binary"),
        (b"a\x00b\n> look\n", "binary"),
        (b'\x00\x01\xff\x00{"a": 1}\n{"a": 2}\n', "lines"),
        (bytes(512) + JSONL, "lines"),
        (bytes(9) + INDENTED, "values"),
        (bytes(9) + ARRAY, "array"),
        (b" \n", "empty"),
        (b"", "empty"),
    ],
)
def test_the_layout_is_told_by_content(tmp_path: Path, data: bytes, layout: str) -> None:
    assert log_of(tmp_path, data).layout == layout


@pytest.mark.parametrize(
    ("noise", "data"),
    [
        *((bytes(512), data) for data in (JSONL, INDENTED, ARRAY)),
        *((b"\x00\x01\x7f\x00", data) for data in (JSONL, INDENTED)),
    ],
)
def test_noise_before_the_first_record_takes_nothing(
    tmp_path: Path, noise: bytes, data: bytes
) -> None:
    assert values(log_of(tmp_path, noise + data))[-2:] == [{"a": 1}, {"a": 2}]


def test_a_hole_that_a_crash_left_is_told_and_takes_nothing(tmp_path: Path) -> None:
    first, hole, second = values(log_of(tmp_path, b'{"a": 1}\n' + bytes(64) + b'{"a": 2}\n'))
    assert (first, second) == ({"a": 1}, {"a": 2})
    assert "line 2: 64 bytes that are not JSON" in str(hole)


@pytest.mark.parametrize("data", [JSONL, INDENTED, ARRAY])
@pytest.mark.parametrize("wrap", ["plain", "gzip", "utf-8-sig", "utf-16"])
def test_records_in_any_wrapping(tmp_path: Path, data: bytes, wrap: str) -> None:
    if wrap == "gzip":
        data = gzip.compress(data)
    elif wrap != "plain":
        data = data.decode().encode(wrap)
    assert values(log_of(tmp_path, data)) == [{"a": 1}, {"a": 2}]


def test_positions(tmp_path: Path) -> None:
    found = [item.position for item in log_of(tmp_path, JSONL).records()]
    assert found == ["line 1", "line 3"]
    found = [item.position for item in log_of(tmp_path, ARRAY).records()]
    assert found == ["record 1", "record 2"]


def test_broken_lines_are_told_and_the_others_read(tmp_path: Path) -> None:
    data = b'{"a": 1}\nnot json\n{"b": "\xff"}\n\x02\x03 {"a": 2}\n{"a": 3'
    found = list(log_of(tmp_path, data).records())
    told = [(item.position, isinstance(item, Record)) for item in found]
    assert told == [
        ("line 1", True),
        ("line 2", False),
        ("line 3", False),
        ("line 4", False),  # the bytes before the brace …
        ("line 4", True),  # … and the record behind them
        ("line 5", False),
    ]
    assert "ends in the middle" in str(found[-1])
    assert str(found[1]).startswith("some.log, line 2: ")


def cut_gzip(tmp_path: Path, lines: list[bytes], share: float) -> Log:
    data = gzip.compress(b"".join(lines))
    return log_of(tmp_path, data[: int(len(data) * share)])


@pytest.mark.parametrize("share", [0.3, 0.6, 0.99])
def test_whole_lines_before_a_cut_in_little_gzip_data_are_read(
    tmp_path: Path, share: float
) -> None:
    noise = random.Random(7)
    lines = [b'{"a": "%s"}\n' % noise.randbytes(40).hex().encode() for _ in range(60)]
    log = cut_gzip(tmp_path, lines, share)
    assert log.layout == "lines"
    assert log.preview().records
    found = list(log.records())
    whole = [item for item in found if isinstance(item, Record)]
    assert 0 < len(whole) < 60
    assert [item.value for item in whole] == [json.loads(line) for line in lines[: len(whole)]]
    (told,) = (item for item in found if isinstance(item, RecordError))
    assert told.hint == "whole records before that place are read; fetch the file again"
    unpacked = int(str(re.search(r"byte (\d+)", str(told.position or told.message))[1]))  # type: ignore[index]
    assert len(whole) == unpacked // len(lines[0])


def test_gzip_data_of_which_nothing_can_be_read_promises_nothing(tmp_path: Path) -> None:
    with pytest.raises(RecordError) as told:
        _ = cut_gzip(tmp_path, [b'{"a": 1}\n'], 0.4).layout
    assert told.value.hint == "fetch the file again"


def test_what_is_no_text_says_what_it_is(tmp_path: Path) -> None:
    assert "zip" in log_of(tmp_path, b"PK\x03\x04").problem
    assert "pickle" in log_of(tmp_path, b"\x80\x04\x95").problem
    assert "empty" in log_of(tmp_path, b"").problem
    assert values(log_of(tmp_path, b"plain words")) == ["some.log: not JSON"]


def test_a_preview_holds_the_first_records_that_parse(tmp_path: Path) -> None:
    preview = log_of(tmp_path, b'{"a": 1}\n{"a": \n{"a": 3}\n').preview()
    assert preview.layout == "lines"
    assert preview.records == ({"a": 1}, {"a": 3})


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(TrajectoryError, match=r"gone\.log: cannot be read"):
        _ = Log("gone.log", tmp_path / "gone.log").layout
