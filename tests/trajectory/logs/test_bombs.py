"""Files made to exhaust whoever reads them, at their real size: told what is wrong, and soon."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest

from deltamem_tui.errors import LogFormatError, RecordError
from deltamem_tui.trajectory.logs.record import LogLimits
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers import read_logs
from deltamem_tui.trajectory.readers.reader import Reading

MB = 1_000_000
CHAT = (
    b'{"messages": [{"role": "user", "content": "Do it."},'
    b' {"role": "assistant", "content": "Done."}]}\n'
)
OTHER = CHAT.replace(b"Do it", b"Do that")


def told(reading: Reading) -> str:
    assert isinstance(reading, RecordError)
    return str(reading)


@pytest.mark.parametrize(
    "data",
    [
        b"[" * MB + b"]" * MB,
        b'{"a":' * MB + b"1" + b"}" * MB,
        b'[{"a":' * MB,
        b'{"messages": ' + b"[" * MB + b"]" * MB + b"}",
    ],
    ids=["arrays", "objects", "no-end", "messages"],
)
def test_nesting_a_million_deep(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "deep.json"
    path.write_bytes(data)
    with pytest.raises(LogFormatError, match=r"deep.json.*: JSON nested more than [\d,]+ deep"):
        list(read_logs([path]))
    (reading,) = read_logs([path], format="openai-chat")
    assert "nested more than" in told(reading)


def test_a_line_of_500_megabytes_is_passed_over(tmp_path: Path) -> None:
    """Its middle is a hole in the file, so that it takes no room on the disk."""
    path = tmp_path / "log.jsonl"
    head = CHAT * 800  # more than what the layout is told from
    with path.open("wb") as stream:
        stream.write(head + b'{"messages": "')
        stream.seek(500 * MB, 1)
        stream.write(b'"}\n' + OTHER)
    *same, long, last = read_logs([path])
    assert told(long).startswith("log.jsonl, line 801: a record of more than 64 MB (split it")
    assert isinstance(last, Trajectory)
    assert last.task == "Do that."
    assert same


def test_gzip_data_that_unpacks_to_hundreds_of_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "log.gz"
    with gzip.open(path, "wb", 1) as stream:
        stream.write(CHAT)
        for _ in range(300):
            stream.write(b" " * (MB - 1) + b"\n")
    assert path.stat().st_size < 2 * MB
    first, bomb = read_logs([path], limits=LogLimits(expansion=100))
    assert isinstance(first, Trajectory)
    assert "unpacks to more than" in told(bomb)
    assert "unpack it and import the result" in told(bomb)


def zipped(path: Path, members: dict[str, int]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for name, megabytes in members.items():
            with archive.open(name, "w") as member:
                for _ in range(megabytes):
                    member.write(b" " * MB)
    return path


def test_a_zip_archive_that_unpacks_to_hundreds_of_megabytes(tmp_path: Path) -> None:
    members = {f"samples/{number}_epoch_1.json": 100 for number in range(3)}
    path = zipped(tmp_path / "log.eval", members)
    with pytest.raises(LogFormatError, match=r"0_epoch_1.json: unpacks to more than 200 times its"):
        list(read_logs([path]))
    limits = LogLimits(expansion=500)
    *long, bomb = read_logs([path], limits=limits, format="inspect-ai")
    assert "samples/0_epoch_1.json: a record of more than 64 MB" in told(long[0])
    assert "unpacks to more than 500 times its size" in told(bomb)


def test_archives_in_archives_are_not_opened(tmp_path: Path) -> None:
    inner = zipped(tmp_path / "inner.zip", {"samples/a_epoch_1.json": 5}).read_bytes()
    outer = tmp_path / "outer.eval"
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("samples/b_epoch_1.json", inner)
        archive.writestr("samples/c_epoch_1.json", gzip.compress(CHAT))
    with pytest.raises(LogFormatError, match="an archive inside the archive, which is not opened"):
        list(read_logs([outer]))


@pytest.mark.parametrize("inner", ["gzip", "zip"])
def test_archives_in_gzip_data_are_not_opened(tmp_path: Path, inner: str) -> None:
    data = gzip.compress(CHAT)
    if inner == "zip":
        data = zipped(tmp_path / "inner.zip", {"samples/a_epoch_1.json": 1}).read_bytes()
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(data))
    with pytest.raises(LogFormatError, match=f"{inner}.* inside gzip data; unpack it first"):
        list(read_logs([path]))
