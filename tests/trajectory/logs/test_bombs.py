"""Files made to exhaust whoever reads them, at their real size: told what is wrong, and soon."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from deltamem_tui.errors import LogFormatError, RecordError
from deltamem_tui.trajectory.logs.record import LogLimits
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.reader import Reading
from deltamem_tui.trajectory.readers.reading import read_logs

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
    (reading,) = read_logs([path], format="chat")
    assert "nested more than" in told(reading)


def test_a_line_of_500_megabytes_is_passed_over(tmp_path: Path) -> None:
    """Its middle is a hole in the file, so that it takes no room on the disk."""
    path = tmp_path / "log.jsonl"
    head = CHAT * 800  # more than what the layout is told from
    with path.open("wb") as stream:
        stream.write(head + b'{"messages": "')
        stream.seek(500 * MB, 1)
        stream.write(b'"}\n' + OTHER)
    long, *same, last = read_logs([path])
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
    bomb, first = read_logs([path], limits=LogLimits(expansion=100))
    assert isinstance(first, Trajectory)
    assert "unpacks to more than" in told(bomb)
    assert "unpack it and import the result" in told(bomb)


def test_archives_in_gzip_data_are_not_opened(tmp_path: Path) -> None:
    for kind, data in (("gzip data", gzip.compress(CHAT)), ("a zip archive", b"PK\x03\x04...")):
        path = tmp_path / "log.gz"
        path.write_bytes(gzip.compress(data))
        with pytest.raises(LogFormatError, match=f"{kind}.*; unpack it first"):
            list(read_logs([path]))
