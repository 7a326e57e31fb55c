"""The collector of cycles rests while a library comes in, and only then."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from deltamem_tui.embedding.sentence import importing


@pytest.fixture(autouse=True)
def collecting() -> Iterator[None]:
    """The collector works after each test, as it did before."""
    yield
    gc.unfreeze()
    gc.enable()


def test_the_collector_rests_and_never_looks_through_what_came_in() -> None:
    before = gc.get_freeze_count()
    with importing("a_library_that_is_new"):
        assert not gc.isenabled()
        library: list[list[object]] = [[] for _ in range(1000)]
    assert gc.isenabled()
    assert gc.get_freeze_count() >= before + len(library)


def test_one_that_is_there_changes_nothing() -> None:
    with importing("pytest"):
        assert gc.isenabled()


@pytest.mark.parametrize("enabled", [True, False])
def test_a_library_that_is_missing_leaves_the_collector_as_it_was(enabled: bool) -> None:
    if not enabled:
        gc.disable()
    with pytest.raises(ImportError), importing("a_library_that_is_missing"):
        raise ImportError
    assert gc.isenabled() == enabled
