"""An embedder that embeds each text once, so that a benchmark does not time the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.embedding.protocol import Embedder, EmbedderCard

Vectors = NDArray[np.float32]


class RememberingEmbedder:
    """Another embedder, whose vectors are kept by text and by role."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._passages: dict[str, Vectors] = {}
        self._queries: dict[str, Vectors] = {}

    @property
    def card(self) -> EmbedderCard:
        """The other embedder's card."""
        return self._embedder.card

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed activation conditions; see `Embedder`."""
        return self._all(texts, self._passages, self._embedder.embed_passages)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions; see `Embedder`."""
        return self._all(texts, self._queries, self._embedder.embed_queries)

    def _all(
        self,
        texts: Sequence[str],
        known: dict[str, Vectors],
        embed: Callable[[Sequence[str]], Vectors],
    ) -> Vectors:
        unknown = list(dict.fromkeys(text for text in texts if text not in known))
        if unknown:
            known.update(zip(unknown, embed(unknown), strict=True))
        rows = [known[text] for text in texts]
        return np.stack(rows) if rows else embed(())
