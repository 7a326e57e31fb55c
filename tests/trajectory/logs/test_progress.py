"""Whoever waits for logs to be read is told how far that has come, in bytes of the files."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from types import SimpleNamespace

import pytest

from deltamem_tui.trajectory.logs.record import ReadProgress
from deltamem_tui.trajectory.readers.reading import read_logs

CHAT = '{"messages": [{"role": "user", "content": "DO"}, {"role": "assistant", "content": "ok"}]}\n'
LONG = "".join(CHAT.replace("DO", f"Do {number}.") for number in range(2000)).encode()


def told(*paths: Path | str) -> tuple[int, list[int]]:
    progress, counts = ReadProgress(), list[int]()
    readings = read_logs(paths, progress=progress)
    progress.advance = counts.append
    for _ in readings:
        pass
    return progress.total, counts


@pytest.mark.parametrize("packed", [False, True])
def test_the_bytes_of_a_file_are_told_as_they_lie_there(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "log"
    path.write_bytes(gzip.compress(LONG) if packed else LONG)
    total, counts = told(path)
    assert total == sum(counts) == path.stat().st_size


def test_all_logs_are_counted_also_those_that_nobody_can_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(CHAT)
    (tmp_path / "b.txt").write_text("no log at all")
    (tmp_path / "c.json").write_text(CHAT + "{")
    (tmp_path / "d.zip").write_bytes(b"PK\x03\x04rest")
    total, counts = told(tmp_path)
    assert total == sum(counts) == sum(each.stat().st_size for each in tmp_path.iterdir())


def test_standard_input_has_a_size_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(CHAT.encode())))
    assert told("-") == (len(CHAT), [len(CHAT)])
