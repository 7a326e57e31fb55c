"""A bank's embedder: what the bank remembers of it, and the loaded one that fits.

A bank's vectors mean nothing to another model, so every question and every new node goes
through here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, get_args

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.load import load_for
from deltamem_tui.embedding.protocol import Embedder, EmbedderCard, Weighting, no_rows
from deltamem_tui.errors import BankCorruptError, wrong_argument

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def embedder_of(bank: Bank, given: Embedder | None = None) -> Embedder:
    """Return the bank's embedder: the given one if it fits, else loaded.

    Raises:
        EmbedderUnavailableError: It cannot be loaded.
        EmbedderMismatchError: The given or loaded one is not the bank's.
        UsageError: The given one is not an embedder.
    """
    if given is not None and not isinstance(given, Embedder):
        raise wrong_argument("embedder", "an Embedder", given)
    return load_for(card_of(bank), given)


def weighting_of(bank: Bank) -> Weighting:
    """Return how the bank's embedder has its dimensions weighted."""
    return card_of(bank).weighting


def card_of(bank: Bank) -> EmbedderCard:
    """Return what the bank remembers of its embedder.

    Raises:
        BankCorruptError: The manifest does not describe it.
    """
    record = bank.manifest.embedder
    expected = {field.name: field for field in fields(EmbedderCard)}
    text = [name for name in expected if name != "dimensions"]
    known = set(record) <= set(expected) and {"model", "dimensions"} <= set(record)
    sound = known and all(isinstance(record.get(name, ""), str) for name in text)
    if not sound or record.get("weighting", "none") not in get_args(Weighting):
        raise BankCorruptError(
            "'embedder' does not describe an embedder", source=str(bank.path / "bank.json")
        )
    return EmbedderCard(**record)


class LateEmbedder:
    """A bank's embedder that is loaded when it is first asked, if it ever is."""

    def __init__(self, bank: Bank) -> None:
        self.card = card_of(bank)
        self._loaded = cache(lambda: embedder_of(bank))

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Load the embedder, and embed what nodes say."""
        return self._loaded().embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Load the embedder, and embed questions."""
        return self._loaded().embed_queries(texts)


class EmbeddingCache:
    """An embedder that embeds no text twice. For a few texts: it forgets nothing."""

    def __init__(self, embedder: Embedder) -> None:
        self.card = embedder.card
        # Each alone: a vector's last bits depend on the texts that are embedded beside it.
        self._query = cache(lambda text: embedder.embed_queries([text])[0])
        self._passage = cache(lambda text: embedder.embed_passages([text])[0])

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed each text once, each by itself."""
        return self._rows([self._passage(text) for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed each text once, each by itself."""
        return self._rows([self._query(text) for text in texts])

    def _rows(self, rows: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
        import numpy as np

        return np.stack(rows) if rows else no_rows(self.card.dimensions)
