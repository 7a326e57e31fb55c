from __future__ import annotations

import io
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.trajectory.logs.record import LogLimits
from deltamem_tui.trajectory.logs.sources import find_logs
from deltamem_tui.trajectory.readers.reading import read_logs


class Endless(io.RawIOBase):
    """A pipe such as `yes` makes."""

    given = 0

    def read(self, size: int = -1) -> bytes:
        assert size > 0, "an endless pipe cannot be read whole"
        self.given += size
        return b"y" * size


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.jsonl", "a.jsonl", "deep/c.txt", ".git/config", ".specstory/d.md"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("x")
    return tmp_path


def names(*paths: str | Path) -> list[tuple[str, bool]]:
    return [(found.log.name, found.named) for found in find_logs(paths)]


def test_a_folder_is_searched_whole_and_in_order(folder: Path) -> None:
    found = [("a.jsonl", False), ("b.jsonl", False), (".specstory/d.md", False)]
    assert names(folder) == [*found, ("deep/c.txt", False)]


def test_a_file_is_named_without_its_folders(folder: Path) -> None:
    assert names(folder / "deep" / "c.txt") == [("c.txt", True)]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of runs, each with a file of the same name, in the folder one is in."""
    for name in ("p/o.jsonl", "q/o.jsonl", "q/p/o.jsonl", "q/alone.jsonl", "o.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("paths", "shown"),
    [
        (["p/o.jsonl", "q/o.jsonl"], ["p/o.jsonl", "q/o.jsonl"]),
        (["p", "q"], ["p/o.jsonl", "q/alone.jsonl", "q/o.jsonl", "q/p/o.jsonl"]),
        (["p/o.jsonl", "q/alone.jsonl"], ["o.jsonl", "alone.jsonl"]),
        (["q/p/o.jsonl", "p/o.jsonl"], ["q/p/o.jsonl", "p/o.jsonl"]),
        (["o.jsonl", "p/o.jsonl"], ["o.jsonl", "p/o.jsonl"]),
        (["p/o.jsonl", "./p/o.jsonl", "p/../p/o.jsonl"], ["o.jsonl", "o.jsonl", "o.jsonl"]),
        (["p/*.jsonl", "q/o*.jsonl"], ["p/o.jsonl", "q/o.jsonl"]),
    ],
)
def test_logs_of_one_name_are_told_apart_by_their_folders(
    runs: Path, paths: list[str], shown: list[str]
) -> None:
    assert [name for name, _ in names(*paths)] == shown
    assert [found.log.path for found in find_logs(find_logs(paths))] == [
        found.log.path for found in find_logs(paths)
    ]


def test_patterns(folder: Path) -> None:
    assert names(folder / "*.jsonl") == [("a.jsonl", False), ("b.jsonl", False)]
    assert names(f"{folder}/**/*.txt") == [("deep/c.txt", False)]


def test_a_file_whose_name_is_a_pattern(folder: Path) -> None:
    (folder / "x[1].json").write_text("x")
    assert names(folder / "x[1].json") == [("x[1].json", True)]


@pytest.mark.parametrize("name", ["nowhere.jsonl", "none*.jsonl"])
def test_what_is_not_there(folder: Path, name: str) -> None:
    with pytest.raises(TrajectoryError, match="no such file"):
        names(folder / name)


def test_folders_without_files(tmp_path: Path) -> None:
    (tmp_path / "empty" / ".git").mkdir(parents=True)
    (tmp_path / "empty" / ".git" / "config").write_text("x")
    with pytest.raises(TrajectoryError, match="there is no file in this folder"):
        names(tmp_path / "empty")
    for pattern in ("em*", "**"):
        with pytest.raises(TrajectoryError, match="only folders without files match this"):
            names(tmp_path / pattern / "")
    (tmp_path / "empty" / "a.jsonl").write_text("x")
    assert names(tmp_path / "em*") == [("empty/a.jsonl", False)]


def test_standard_input_can_be_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b'{"a": 1}\n')))
    (found,) = find_logs(["-"])
    assert found.log.name == "stdin"
    assert len(list(found.log.records())) == len(list(found.log.records())) == 1


def test_what_does_not_end_is_copied_up_to_the_limit_only(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = Endless()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=endless))
    limits = LogLimits(piped_bytes=3_000_000)
    with pytest.raises(TrajectoryError, match=r"stdin: more than 2.86 MB came out of the pipe"):
        list(find_logs(["-"], limits))
    assert endless.given == 3_000_001


@pytest.mark.parametrize("more", [0, 1])
def test_the_limit_itself_may_be_copied(monkeypatch: pytest.MonkeyPatch, more: int) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b'{"a": 1}\n')))
    limits = LogLimits(piped_bytes=9 + more)
    (found,) = find_logs(["-"], limits)
    assert len(list(found.log.records())) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("pattern", ["", "*"])
@pytest.mark.parametrize("name", [None, "native", "react", "inspect-ai"])
def test_a_pipe_in_a_folder_is_told_and_not_waited_for(
    tmp_path: Path, pattern: str, name: str | None
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (told,) = read_logs([str(tmp_path / pattern)], format=name)
    assert isinstance(told, RecordError)
    assert (told.source, told.message) == ("pipe", "a pipe or a device, and no file")
    assert told.hint


@pytest.fixture
def looping(folder: Path) -> Path:
    """A folder with two links back up, and one to a folder elsewhere that a pattern may name."""
    (folder / "deep/up").symlink_to(folder, target_is_directory=True)
    (folder / "deep/here").symlink_to(folder / "deep", target_is_directory=True)
    return folder


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("**/*.jsonl", ["a.jsonl", "b.jsonl"]),
        ("**", ["a.jsonl", "b.jsonl", "deep/c.txt"]),
        ("**/deep/**/*.txt", ["deep/c.txt"]),
        ("d*/**/c.txt", ["deep/c.txt"]),
        ("*/here/*.txt", ["deep/here/c.txt"]),
    ],
)
def test_two_stars_do_not_follow_links(looping: Path, pattern: str, found: list[str]) -> None:
    assert [name for name, _ in names(f"{looping}/{pattern}")] == found


def test_two_stars_in_the_folder_one_is_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert names("**/*.jsonl") == [("a.jsonl", False), ("b.jsonl", False)]


def test_what_was_found_is_not_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"x")))
    found = [*find_logs(["-"])]
    assert [*find_logs(found)] == found


def test_the_files_of_a_folder_come_as_they_were_written(tmp_path: Path) -> None:
    for name, written in (("b.jsonl", 60), ("c.jsonl", 0), ("a.jsonl", 61), ("d.jsonl", 6000)):
        file = tmp_path / name
        file.write_text("{}\n")
        os.utime(file, (written, written))
    found = [each.log.name for each in find_logs([str(tmp_path)])]
    assert found == ["c.jsonl", "a.jsonl", "b.jsonl", "d.jsonl"]
