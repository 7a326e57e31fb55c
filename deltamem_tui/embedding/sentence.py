"""A sentence-transformers model as an embedder: prefixes before, checks behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deltamem_tui.embedding.fingerprint import PROBE, fingerprint
from deltamem_tui.embedding.model import Role, SentenceModel
from deltamem_tui.embedding.prefixes import Prefixes
from deltamem_tui.embedding.protocol import EmbedderCard
from deltamem_tui.embedding.vectors import no_rows, unit_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_REMEMBERED_TEXTS = 2048
_REMEMBERED_LENGTH = 20_000


@dataclass(frozen=True, slots=True)
class SentenceEmbedder:
    """A loaded model under one pair of prefixes.

    Attributes:
        card: What a bank remembers of this embedder.
        model: The model that runs.
        remembered: Vectors of texts that were asked for alone. Episodes share their tasks and
            scenes, so half of them come again. Texts of a batch are left out: a vector's last
            bits depend on its batch, and banks of the same episodes must have the same bytes.
    """

    card: EmbedderCard
    model: SentenceModel
    remembered: dict[tuple[Role, str, str], NDArray[np.float32]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed activation conditions; see `Embedder`."""
        return self._embed(texts, "passage", self.card.passage_prefix)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions: task goals or scenes; see `Embedder`."""
        return self._embed(texts, "query", self.card.query_prefix)

    def under(self, prefixes: Prefixes) -> SentenceEmbedder:
        """The same model under other prefixes, which makes it another embedder."""
        if prefixes == Prefixes(self.card.query_prefix, self.card.passage_prefix):
            return self
        return sentence_embedder(self.model, self.card.model, prefixes)

    def _embed(self, texts: Sequence[str], role: Role, prefix: str) -> NDArray[np.float32]:
        if len(texts) == 1 and len(texts[0]) <= _REMEMBERED_LENGTH:
            return self._embed_alone(texts[0], role, prefix).copy()
        return self._encode(texts, role, prefix)

    def _embed_alone(self, text: str, role: Role, prefix: str) -> NDArray[np.float32]:
        key = (role, prefix, text)
        if key not in self.remembered:
            if len(self.remembered) >= _REMEMBERED_TEXTS:
                self.remembered.clear()
            self.remembered[key] = self._encode([text], role, prefix)
        return self.remembered[key]

    def _encode(self, texts: Sequence[str], role: Role, prefix: str) -> NDArray[np.float32]:
        if not texts:
            return no_rows(self.card.dimensions)
        vectors = self.model.encode(texts, role=role, prefix=prefix)
        return unit_rows(
            vectors, rows=len(texts), dimensions=self.card.dimensions, source=self.model.name
        )


def sentence_embedder(model: SentenceModel, name: str, prefixes: Prefixes) -> SentenceEmbedder:
    """An embedder of `model`, with the card that a bank will remember it by.

    Args:
        model: A loaded model.
        name: What loads it again: an id, a folder or `minilm`.
        prefixes: What is put before each text.

    Raises:
        VectorError: The model's vector of the probe sentence is not finite or has no length.
        EmbedderUnavailableError: The model fails.
    """
    vectors = model.encode([PROBE], role="passage", prefix=prefixes.passage)
    width = vectors.shape[-1]
    probe = unit_rows(vectors, rows=1, dimensions=width, source=model.name)[0]
    card = EmbedderCard(
        model=name,
        dimensions=width,
        query_prefix=prefixes.query,
        passage_prefix=prefixes.passage,
        fingerprint=fingerprint(probe),
    )
    return SentenceEmbedder(card, model)
