"""What every embedder offers: text in, unit vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Weighting = Literal["none", "document-frequency"]


@dataclass(frozen=True, slots=True)
class EmbedderCard:
    """What a bank remembers of its embedder, so that it never meets another.

    Attributes:
        model: What loads it again: a model id, a model's folder, `minilm` or `hashing`.
        dimensions: The width of its vectors.
        query_prefix: Put before a question (`query: ` in the E5 family).
        passage_prefix: Put before an activation condition (`passage: ` in the E5 family).
        weighting: How recall weights dimensions. `document-frequency`: each by the square
            root of the number of the tree's rows that hold it.
        fingerprint: Sketch of a probe sentence's vector, compared with a tolerance that
            other machines stay within and other models do not (`embedding.fingerprint`).
    """

    model: str
    dimensions: int
    query_prefix: str = ""
    passage_prefix: str = ""
    weighting: Weighting = "none"
    fingerprint: str = ""


@runtime_checkable
class Embedder(Protocol):
    """Turns text into unit vectors."""

    @property
    def card(self) -> EmbedderCard:
        """What a bank remembers of this embedder."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed activation conditions.

        Returns:
            float32 [texts, dimensions], rows of unit length.

        Raises:
            VectorError: A vector is not finite or has the wrong width.
        """
        ...

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions: task goals or scenes.

        Returns:
            float32 [texts, dimensions], rows of unit length.

        Raises:
            VectorError: A vector is not finite or has the wrong width.
        """
        ...
