"""A draft that nobody will finish is cleared away; one that somebody writes never is."""

from __future__ import annotations

import os
import time
from pathlib import Path

from deltamem_tui.bank.disk import files


def left_behind(path: Path) -> Path:
    """A draft beside `path`, of a process that was killed while it wrote it."""
    before = set(path.parent.iterdir())
    child = os.fork()
    if child == 0:
        with files.new_folder(path) as draft:
            (draft / "big").write_bytes(b"x" * 1000)
            os._exit(9)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 9
    (found,) = set(path.parent.iterdir()) - before
    assert (found / "big").exists()
    return found


def aged(draft: Path, hours: int) -> None:
    then = time.time() - hours * 3600
    os.utime(draft, (then, then))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_draft_clears_away_what_a_kill_left_a_day_ago(tmp_path: Path) -> None:
    for name in ("kitchen", "hall"):
        aged(left_behind(tmp_path / name), 25)
    with files.new_file(tmp_path / "kitchen.deltamem") as draft:
        draft.write_bytes(b"whole")
    assert names(tmp_path) == ["kitchen.deltamem"]


def test_what_somebody_writes_stays(tmp_path: Path) -> None:
    with (
        files.new_folder(tmp_path / "one") as one,
        files.new_file(tmp_path / "two") as two,
        files.new_folder(tmp_path / "one-more"),
    ):
        assert one.is_dir()
        assert two.is_file()
    assert names(tmp_path) == ["one", "one-more", "two"]
