"""The collector of cycles rests while a library comes in, and only then."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from deltamem_tui.embedding.importing import importing


@pytest.fixture(autouse=True)
def collecting() -> Iterator[None]:
    """The collector works after each test, as it did before."""
    yield
    gc.unfreeze()
    gc.enable()


def test_a_new_library_is_left_alone_by_the_collector() -> None:
    with importing("a_library_that_is_new"):
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_came_in_is_never_looked_through() -> None:
    before = gc.get_freeze_count()
    with importing("a_library_that_is_new"):
        library: list[list[object]] = [[] for _ in range(1000)]
    assert gc.get_freeze_count() >= before + len(library)


def test_one_that_is_there_changes_nothing() -> None:
    with importing("pytest"):
        assert gc.isenabled()


def test_a_library_that_is_missing_leaves_the_collector_at_work() -> None:
    with pytest.raises(ImportError), importing("a_library_that_is_missing"):
        raise ImportError
    assert gc.isenabled()


def test_who_had_turned_the_collector_off_finds_it_off() -> None:
    gc.disable()
    with importing("a_library_that_is_new"):
        pass
    assert not gc.isenabled()
