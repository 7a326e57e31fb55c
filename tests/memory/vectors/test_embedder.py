"""The embedder of a bank: the one at hand if it fits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from deltamem_tui.embedding.hashing import hashing_embedder
from deltamem_tui.errors import EmbedderMismatchError
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.vectors.search import embedder_of


def test_an_embedder_at_hand_is_checked_and_not_loaded(tmp_path: Path) -> None:
    at_hand = hashing_embedder()
    elsewhere = replace(at_hand, card=replace(at_hand.card, model="owner/never-asked-for"))
    bank = create_bank(tmp_path / "bank", embedder=elsewhere)

    assert embedder_of(bank, at_hand) is at_hand
    with pytest.raises(EmbedderMismatchError):
        embedder_of(bank, replace(at_hand, card=replace(at_hand.card, fingerprint="0" * 64)))
