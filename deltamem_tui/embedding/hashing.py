"""An embedder that needs no model: hashed words and word pairs.

Each word and each pair of neighbouring words falls into one of 2047 buckets (the
hashing trick of scikit-learn's `HashingVectorizer`). A row holds the square roots of the
buckets' shares of the text, which makes it a unit vector and the dot product of two
rows the overlap of their word distributions (the Bhattacharyya coefficient).

Square roots, so that a long task's repeated "the" does not drown its verbs; no alternating
signs, so that a dimension counts the texts that hold it, whose number recall weights it by.
Measured on the generated episodes, a task's nearest other task is of its type in 86 % of
ScienceWorld and 94 % of ALFWorld; other widths from 1024 to 4096 gain nothing.

A text without any word gets the last dimension to itself, since a zero vector has no
direction; it resembles only other such texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deltamem_tui.embedding.fingerprint import PROBE, fingerprint
from deltamem_tui.embedding.importing import importing
from deltamem_tui.embedding.protocol import EmbedderCard, Prefixes
from deltamem_tui.embedding.vectors import no_rows, unit_rows
from deltamem_tui.text import clean

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME = "hashing"
DIMENSIONS = 2048
WORDLESS = DIMENSIONS - 1
"""The dimension of texts without any word."""

_WORD = r"\w+"


@dataclass(frozen=True, slots=True)
class HashingEmbedder:
    """Hashed words and word pairs as unit vectors; the same on every machine.

    Attributes:
        card: What a bank remembers of this embedder.
    """

    card: EmbedderCard

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed activation conditions: float32 [texts, 2048], rows of unit length."""
        return _embed(texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions: float32 [texts, 2048], rows of unit length."""
        return _embed(texts)

    def under(self, _: Prefixes) -> HashingEmbedder:
        """This embedder: words are counted wherever they stand, so it has no prefixes."""
        return self


def hashing_embedder() -> HashingEmbedder:
    """The hashing embedder with its card."""
    probe = _embed([PROBE])[0]
    return HashingEmbedder(
        EmbedderCard(
            model=NAME,
            dimensions=DIMENSIONS,
            weighting="document-frequency",
            fingerprint=fingerprint(probe),
        )
    )


def _embed(texts: Sequence[str]) -> NDArray[np.float32]:
    if not texts:
        return no_rows(DIMENSIONS)
    with importing("sklearn"):
        from sklearn.feature_extraction.text import HashingVectorizer

    shares = HashingVectorizer(
        n_features=WORDLESS,
        ngram_range=(1, 2),
        token_pattern=_WORD,
        alternate_sign=False,
        norm="l1",
    ).transform(clean(text) for text in texts)
    words_per_row = np.diff(shares.indptr)
    vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    vectors[np.repeat(np.arange(len(texts)), words_per_row), shares.indices] = np.sqrt(shares.data)
    vectors[words_per_row == 0, WORDLESS] = 1.0
    return unit_rows(vectors, rows=len(texts), dimensions=DIMENSIONS, source=NAME)
