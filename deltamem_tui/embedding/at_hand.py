"""Whether an embedder is on this machine already. Loads no model and asks no hub."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from deltamem_tui.embedding import minilm
from deltamem_tui.embedding.load import HASHING, place_of
from deltamem_tui.errors import EmbedderUnavailableError


def is_at_hand(name: str) -> bool:
    """Whether an embedder can be loaded without fetching anything, as far as a look can tell.

    Args:
        name: `hashing`, `minilm`, or the folder or id of a sentence-transformers model.
    """
    if name == HASHING:
        return True
    if find_spec("sentence_transformers") is None:
        return False
    try:
        place = place_of(name)
        if place == minilm.NAME:
            return minilm.folder().is_dir()
    except EmbedderUnavailableError:
        return False
    return Path(place).is_absolute() or _is_cached(place)


def _is_cached(model_id: str) -> bool:
    """Whether the hub's cache holds a model. Its own look-up would import all of the client."""
    folder = os.environ.get("SENTENCE_TRANSFORMERS_HOME")
    if folder is None:
        from huggingface_hub.constants import HF_HUB_CACHE

        folder = HF_HUB_CACHE
    cached = Path(folder) / f"models--{model_id.replace('/', '--')}"
    return next(cached.glob("snapshots/*/config.json"), None) is not None
