"""A notice tells what, where and what else, and is no error."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from deltamem_tui.errors import DeltaMemError, RecordError
from deltamem_tui.trajectory.logs.record import Notice, located

WORDS = Notice("a branch is left out", position="line 3", hint="it was gone back from")


def test_it_reads_as_an_error_does() -> None:
    placed = WORDS.located("log.jsonl", "line 1")
    assert str(placed) == "log.jsonl, line 3: a branch is left out (it was gone back from)"
    error = RecordError(WORDS.message, source="log.jsonl", position="line 3", hint=WORDS.hint)
    assert str(error) == str(placed)
    assert str(Notice("a branch is left out")) == "a branch is left out"


def test_it_is_placed_where_it_does_not_know_its_place() -> None:
    assert Notice("left out").located("a", "line 1") == Notice("left out", "a", "line 1")
    assert located(WORDS.located("a"), "b", "line 1") == WORDS.located("a")
    assert WORDS.source is None


def test_it_is_no_error_and_does_not_change() -> None:
    assert not isinstance(WORDS, DeltaMemError)
    with pytest.raises(FrozenInstanceError):
        WORDS.message = "another"  # type: ignore[misc]
