"""`deltamem model cache`: what is kept is told by model, and removed only when that is meant."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deltamem_tui.llm import cache
from deltamem_tui.llm.cache import ResponseCache
from deltamem_tui.llm.call import Reply
from tests.cli.support import Program


@pytest.fixture
def answers(empty: Program, monkeypatch: pytest.MonkeyPatch) -> ResponseCache:
    """Two answers of `a/one`, the first of them old, and one of `b/two`."""
    folder = empty.folder / "answers"
    monkeypatch.setattr(cache, "default_folder", lambda: folder)
    kept = ResponseCache(folder)
    for number, model in enumerate(("a/one", "a/one", "b/two")):
        key = ResponseCache.key({"question": number})
        kept.put(key, model, Reply("yes", "stop", 1, 1, None))
        if number == 0:
            os.utime(folder / key[:2] / f"{key}.json", (0, 0))
    return kept


def test_info_tells_place_size_and_models(empty: Program, answers: ResponseCache) -> None:
    data = empty.json("cache").data
    assert data["folder"] == str(answers.folder)
    assert data["answers"] == 3
    size = sum(path.stat().st_size for path in answers.folder.rglob("*.json"))
    assert data["bytes"] == size
    assert data["models"] == {"a/one": 2, "b/two": 1}
    assert "a/one\t2\n" in empty("cache", "info").out
    assert empty.json("cache", "info", "--older", "1").data["answers"] == 1


def test_nothing_is_removed_without_a_yes(empty: Program, answers: ResponseCache) -> None:
    for form in (empty, empty.json):
        answer = form("cache", "clear")
        assert answer.code == 2
        assert "`--yes` confirms it" in (answer.err + answer.out)
    assert answers.info().answers == 3


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ((), 0),
        (("--older", "30"), 2),
    ],
)
def test_only_what_was_named_is_removed(
    empty: Program, answers: ResponseCache, options: tuple[str, ...], left: int
) -> None:
    data = empty.json("cache", "clear", "--yes", *options).data
    assert data["answers"] == 3 - left
    assert answers.info().answers == left


def test_a_person_at_the_terminal_is_asked(
    empty: Program, answers: ResponseCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    import typer

    from deltamem_tui.cli import page as command

    asked: list[str] = []

    def confirm(question: str, *, err: bool) -> bool:
        assert err
        asked.append(question)
        return len(asked) > 1

    monkeypatch.setattr(command, "is_terminal", lambda _stream: True)
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr(typer, "confirm", confirm)
    assert "nothing was done" in empty("cache", "clear").error
    assert answers.info().answers == 3
    assert empty("cache", "clear").code == 0
    assert answers.info().answers == 0
    assert asked[0].startswith("remove 3 answers")


class Terminal:
    """A stdin with a person at it."""

    def isatty(self) -> bool:
        return True


def test_an_empty_cache_is_no_error(empty: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "default_folder", lambda: Path("nowhere"))
    assert empty.json("cache").data["answers"] == 0
    answer = empty("cache", "clear")
    assert (answer.code, answer.err) == (0, "nothing to remove\n")
