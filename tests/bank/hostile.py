"""How a hostile archive is refused, and what a reader looks at in one that is not."""

from __future__ import annotations

import io
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from deltamem_tui.bank import transfer as installing
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.transfer import install, receive
from deltamem_tui.errors import BankError, DeltaMemError
from tests.bank.forging import everything


def refused(source: Path, words: str, *, also_in_place: bool = True) -> None:
    """Neither installed nor tried out, in a few words; and nothing is touched."""
    root = source.parent
    before = everything(root)
    for attempt in (
        lambda: install(receive(source), root / "banks" / "kitchen"),
        lambda: installing.inspect(receive(source)),
    ):
        with pytest.raises(BankError) as caught:
            attempt()
        said = str(caught.value)
        assert words in said, said
        assert str(source) in said
        assert len(said) < 2000
        assert all(character.isprintable() for character in said), said
        assert everything(root) == before
    if also_in_place:
        with pytest.raises(DeltaMemError):
            walked(Bank.open(source))
    assert everything(root) == before


def walked(bank: Bank) -> None:
    """Look at everything that a reading command looks at."""
    for tree in bank.trees.values():
        for node in tree:
            tree.chain(node.id)
            tree.counts(node.id)
        assert tree.embeddings.shape[1] == bank.manifest.dimensions
    for episode in bank.episodes.ids():
        bank.episodes.state(episode)
        bank.episodes.record(episode)


@contextmanager
def bounded_memory(more: int) -> Iterator[None]:
    """Let this process take only so many bytes more than it has."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    statm = Path("/proc/self/statm")
    if statm.exists():
        used = int(statm.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def npy(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()
