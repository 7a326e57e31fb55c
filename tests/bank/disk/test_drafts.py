"""A draft that nobody will finish is cleared away; one that somebody writes never is."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

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


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_next_draft_clears_away_what_a_kill_left(tmp_path: Path) -> None:
    left_behind(tmp_path / "kitchen")
    left_behind(tmp_path / "hall")
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


def test_only_drafts_are_cleared_away(tmp_path: Path) -> None:
    """Neither what is called otherwise, nor what a link leads to, nor what is a device."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "letter").write_text("dear")
    folder = tmp_path / "banks"
    folder.mkdir()
    for name in ("kitchen", ".kitchen", ".kitchen.draft", ".kitchen.0123abcd", "k.0123abcd.draft"):
        (folder / name).mkdir()
    (folder / ".link.0123abcd.draft").symlink_to(mine)
    os.mkfifo(folder / ".pipe.0123abcd.draft")
    before = names(folder)
    (folder / ".kitchen.0123abcd.draft").mkdir()
    with files.new_folder(folder / "new"):
        pass
    assert names(folder) == sorted([*before, "new"])
    assert (mine / "letter").read_text() == "dear"


def test_where_nothing_can_be_locked_drafts_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = left_behind(tmp_path / "kitchen")

    def refuse(*_: object) -> None:
        raise OSError(95, "not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with files.new_folder(tmp_path / "hall") as draft:
        assert draft.is_dir()
    assert names(tmp_path) == [left.name, "hall"]
