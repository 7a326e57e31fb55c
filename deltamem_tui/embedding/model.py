"""Open sentence-transformers models, from a folder or by their id, and run them.

A folder never leads to the network. An id is looked for in the local cache first; only
then the hub is asked, once and with a short timeout, whether the model is there, because
the loading code itself would try each file again and again where there is no network.
Code that comes with a model is never run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from deltamem_tui.embedding.importing import importing
from deltamem_tui.embedding.quiet import quiet, set_defaults
from deltamem_tui.embedding.unavailable import unavailable
from deltamem_tui.text import clean, one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Role = Literal["query", "passage"]

HUB_TIMEOUT = 5.0
"""Seconds to wait for the hub's word on whether it has a model."""

_BATCH = 32
# No tokenizer makes fewer than one token of 32 characters of prose. What lies beyond the
# model's window is cut before it is tokenized: 10 MB would take ten seconds to throw away.
_CHARACTERS_PER_TOKEN = 32
_USUAL_WINDOW = 8192


@dataclass(frozen=True, slots=True)
class SentenceModel:
    """A loaded sentence-transformers model.

    Attributes:
        name: What errors call it.
        transformer: The library's own object.
    """

    name: str
    transformer: Any
    # A tokenizer that two threads use at once fails.
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    @property
    def prompts(self) -> Mapping[str, str]:
        """The prompts that the model declares, by name."""
        return dict(self.transformer.prompts)

    def encode(self, texts: Sequence[str], *, role: Role, prefix: str) -> NDArray[np.float32]:
        """Run the model.

        The same list gives the same bytes. A text's vector may differ in its last bits
        (1e-7) with the other texts of its batch, as sums are then taken in another order.

        Args:
            texts: Any texts, at least one; what the model's window does not hold is cut off.
            role: Which of its two ways a model with two ways takes.
            prefix: Put before each text.

        Returns:
            float32 [texts, dimensions]; normalised, but not checked.

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


def open_folder(folder: Path, *, name: str, device: str | None = None) -> SentenceModel:
    """Load a model from a folder.

    Args:
        folder: A folder that sentence-transformers or transformers saved.
        name: What errors call the model.
        device: `cpu`, `cuda`, …; the best one there is if None.

    Raises:
        EmbedderUnavailableError: The folder does not hold a model that can be loaded.
    """
    try:
        return SentenceModel(name, _construct(str(folder), device=device, local=True))
    except Exception as error:
        raise unavailable(name, f"the model cannot be loaded: {_reason(error)}") from error


def open_id(name: str, *, device: str | None = None) -> SentenceModel:
    """Load a model by its id: from the local cache if it is there, else from the hub.

    Args:
        name: A model id of the form `owner/model`.
        device: `cpu`, `cuda`, …; the best one there is if None.

    Raises:
        EmbedderUnavailableError: It is neither cached nor can it be fetched, or not be loaded.
    """
    set_defaults()
    if _is_cached(name):
        try:
            return SentenceModel(name, _construct(name, device=device, local=True))
        except OSError:
            pass  # An earlier download was cut short: fetch what is missing.
    _ask_hub(name)
    try:
        return SentenceModel(name, _construct(name, device=device, local=False))
    except Exception as error:
        raise unavailable(name, f"the model cannot be loaded: {_reason(error)}") from error


def _construct(name: str, *, device: str | None, local: bool) -> Any:
    with importing("sentence_transformers"), quiet():
        from sentence_transformers import SentenceTransformer

        transformer = SentenceTransformer(
            name,
            device=device,
            cache_folder=_cache_folder(),
            local_files_only=local,
            trust_remote_code=False,
        )
    # Weights saved in half precision are slow on a processor and differ between machines.
    return transformer.float().eval()


def _is_cached(name: str) -> bool:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(name, "config.json", cache_dir=_cache_folder())
    except HFValidationError:
        raise unavailable(name, "this is neither a folder nor a model id") from None
    return isinstance(found, str)


def _ask_hub(name: str) -> None:
    """Make sure that the hub can be reached and has the model, or raise at once."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    try:
        HfApi().model_info(name, timeout=HUB_TIMEOUT)
    except GatedRepoError as error:
        message = "the model is not cached here and its owner has to grant access to it"
        raise unavailable(name, message) from error
    except RepositoryNotFoundError as error:
        raise unavailable(name, "there is no model of this name") from error
    except Exception as error:
        message = f"the model is not cached here and the hub cannot be reached: {_reason(error)}"
        raise unavailable(name, message) from error


def _cache_folder() -> str | None:
    """Where sentence-transformers was told to keep its models; the hub's own cache if None."""
    return os.environ.get("SENTENCE_TRANSFORMERS_HOME")


def _reason(error: Exception) -> str:
    return one_line(str(error), 160) or type(error).__name__
