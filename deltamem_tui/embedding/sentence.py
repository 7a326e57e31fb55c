"""Open sentence-transformers models, from a folder or by their id, and run them.

A folder never leads to the network. An id is looked for in the local cache first; only
then the hub is asked, once and with a short timeout, whether the model is there, because
the loading code itself would try each file again and again where there is no network.
Code that comes with a model is never run.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from deltamem_tui.embedding.protocol import (
    PROBE,
    EmbedderCard,
    Prefixes,
    Role,
    fingerprint,
    no_rows,
    unavailable,
    unit_rows,
)
from deltamem_tui.text import clean, one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from deltamem_tui.embedding.minilm import MiniLM

HUB_TIMEOUT = 5.0
"""Seconds to wait for the hub to answer whether it has a model."""

_BATCH = 32
# No tokenizer makes fewer than one token of 32 characters of prose. What lies beyond the
# model's window is cut before it is tokenized: 10 MB would take ten seconds to throw away.
_CHARACTERS_PER_TOKEN = 32
_USUAL_WINDOW = 8192


@dataclass(frozen=True, slots=True)
class SentenceModel:
    """A loaded sentence-transformers model, under the name that errors give it."""

    name: str
    transformer: Any
    # A tokenizer that two threads use at once fails.
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def encode(self, texts: Sequence[str], *, role: Role, prefix: str) -> NDArray[np.float32]:
        """Run the model on texts, each cut to its window: float32 [texts, dimensions], unchecked.

        The same list gives the same bytes. A text's vector may differ in its last bits
        (1e-7) with the other texts of its batch, as sums are then taken in another order.

        Raises:
            EmbedderUnavailableError: The model fails on the texts.
        """
        longest = _CHARACTERS_PER_TOKEN * (self.transformer.max_seq_length or _USUAL_WINDOW)
        inputs = [clean(text[:longest]) for text in texts]
        run = self.transformer.encode_query if role == "query" else self.transformer.encode_document
        with self._lock:
            try:
                vectors: NDArray[np.float32] = run(
                    inputs,
                    prompt=prefix,
                    batch_size=_BATCH,
                    show_progress_bar=False,
                    normalize_embeddings=True,
                )
            except Exception as error:
                raise unavailable(self.name, f"the model failed: {_reason(error)}") from error
        return vectors


def open_model(place: str, *, local: bool) -> SentenceModel:
    """Load a model from a folder, or by its id: from the cache if it is there, else the hub.

    Raises:
        EmbedderUnavailableError: It cannot be fetched, or is not a model that can be loaded.
    """
    with quiet():
        if not local:
            if is_cached(place):
                with suppress(OSError):  # an earlier download was cut short
                    return SentenceModel(place, _construct(place, local=True))
            _ask_hub(place)
        try:
            return SentenceModel(place, _construct(place, local=local))
        except Exception as error:
            raise unavailable(place, f"the model cannot be loaded: {_reason(error)}") from error


def _construct(place: str, *, local: bool) -> Any:
    from sentence_transformers import SentenceTransformer

    folder = _cache_folder()
    transformer = SentenceTransformer(
        place, cache_folder=folder, local_files_only=local, trust_remote_code=False
    )
    # Weights saved in half precision are slow on a processor and differ between machines.
    return transformer.float().eval()


def is_cached(model_id: str) -> bool:
    """Return whether the hub's cache holds a model, without importing the hub's client."""
    folder = _cache_folder()
    if folder is None:
        from huggingface_hub.constants import HF_HUB_CACHE

        folder = HF_HUB_CACHE
    cached = Path(folder) / f"models--{model_id.replace('/', '--')}"
    return next(cached.glob("snapshots/*/config.json"), None) is not None


def _ask_hub(name: str) -> None:
    """Make sure that the hub can be reached and has the model, or raise at once."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError, HFValidationError, RepositoryNotFoundError

    try:
        HfApi().model_info(name, timeout=HUB_TIMEOUT)
    except Exception as error:
        unreachable = (
            f"the model is not cached here and the hub cannot be reached: {_reason(error)}"
        )
        known = {
            HFValidationError: "this is neither a folder nor a model id",
            GatedRepoError: "the model is not cached here, and its owner has to grant access to it",
            RepositoryNotFoundError: "no model has this name",
        }
        raise unavailable(name, known.get(type(error), unreachable)) from error


def _cache_folder() -> str | None:
    """Return the folder that sentence-transformers is set to use; None for the hub's cache."""
    return os.environ.get("SENTENCE_TRANSFORMERS_HOME")


def _reason(error: Exception) -> str:
    return one_line(str(error), 160) or type(error).__name__


@dataclass(frozen=True, slots=True)
class SentenceEmbedder:
    """A loaded model under one pair of prefixes."""

    card: EmbedderCard
    model: SentenceModel | MiniLM

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed activation conditions; see `Embedder`."""
        return self._embed(texts, "passage", self.card.passage_prefix)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions: task goals or scenes; see `Embedder`."""
        return self._embed(texts, "query", self.card.query_prefix)

    def under(self, prefixes: Prefixes) -> SentenceEmbedder:
        """Return the model under other prefixes, which makes it another embedder."""
        if prefixes == Prefixes(self.card.query_prefix, self.card.passage_prefix):
            return self
        return sentence_embedder(self.model, self.card.model, prefixes)

    def _embed(self, texts: Sequence[str], role: Role, prefix: str) -> NDArray[np.float32]:
        if not texts:
            return no_rows(self.card.dimensions)
        vectors = self.model.encode(texts, role=role, prefix=prefix)
        return unit_rows(
            vectors, rows=len(texts), dimensions=self.card.dimensions, source=self.model.name
        )


def sentence_embedder(
    model: SentenceModel | MiniLM, name: str, prefixes: Prefixes
) -> SentenceEmbedder:
    """Return an embedder of `model`, with its card; `name` is what loads it again.

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


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the embedding libraries, for the rest of the process: errors come as exceptions."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # else it warns at every fork
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from huggingface_hub.utils.tqdm import disable_progress_bars
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bars()
        disable_progress_bar()
        for library in ("huggingface_hub", "sentence_transformers", "transformers"):
            logging.getLogger(library).setLevel(logging.ERROR)
        yield
