"""A vector that is not of its line is found, and none in a sound bank."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.memory.editing import delete
from deltamem_tui.memory.vectors.vector_check import strange_vectors
from tests.memory.support import ChosenEmbedder, episode, new_bank, parameters, teach


@pytest.fixture
def grown(tmp_path: Path) -> Bank:
    bank = new_bank(tmp_path / "bank", parameters(tau_base=0.99))
    for number in range(5):
        teach(bank, episode((1, number, 0), (number, 1, 0)))
    return bank


def test_the_vectors_of_a_sound_bank_are_of_their_lines(
    grown: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deltamem_tui.memory.vectors.vector_check._BATCH", 2)
    root = next(iter(grown.tree("task").roots()))
    delete(grown, "task", root)  # its tombstone may have no text to hold a vector against
    steps: list[int] = []
    assert list(strange_vectors(grown, ChosenEmbedder(), advance=steps.append)) == []
    assert sum(steps) >= 10


def test_swapped_vectors_are_found(grown: Bank) -> None:
    path = grown.path / "env.embeddings.npy"
    vectors = np.load(path)
    vectors[[1, 3]] = vectors[[3, 1]]
    np.save(path, vectors)
    opened = Bank.open(grown.path)
    assert verify(opened) == []  # each is a vector, if of another line
    found = list(strange_vectors(opened, ChosenEmbedder()))
    assert [(flaw.source, flaw.position) for flaw in found] == [
        ("env.embeddings.npy", "row 1"),
        ("env.embeddings.npy", "row 3"),
    ]
    assert "away from that of the line's text" in found[0].message
