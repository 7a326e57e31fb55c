"""Load an embedder by its name, or by a bank's card.

Importing this module loads no library; a model is loaded once in a process.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from deltamem_tui.embedding.protocol import (
    Embedder,
    EmbedderCard,
    Prefixes,
    prefixes_for,
    require_same,
    unavailable,
)
from deltamem_tui.errors import EmbedderUnavailableError
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from deltamem_tui.embedding.hashing import HashingEmbedder
    from deltamem_tui.embedding.sentence import SentenceEmbedder

HASHING = "hashing"
MINILM = "minilm"

# `owner/model` or `model`, each beginning with a letter or digit: no dot, slash or tilde in front.
_MODEL_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)

_loaded: dict[str, HashingEmbedder | SentenceEmbedder] = {}
_lock = Lock()


def load(name: str) -> HashingEmbedder | SentenceEmbedder:
    """Load `hashing`, `minilm`, or a model by its folder or id, once in a process.

    An id without an owner is one of the owner `sentence-transformers`.

    Raises:
        EmbedderUnavailableError: The model cannot be loaded here.
        VectorError: The model loads, but what it returns cannot be used.
    """
    place = place_of(name)
    with _lock:
        if place not in _loaded:
            _loaded[place] = _open(place)
        return _loaded[place]


def load_for(card: EmbedderCard) -> Embedder:
    """Load the embedder of a bank's card.

    Raises:
        EmbedderMismatchError: Its width, prefixes, weighting or fingerprint differ.
        EmbedderUnavailableError: The model cannot be loaded here.
        VectorError: The model loads, but what it returns cannot be used.
    """
    # The bank's prefixes hold, whatever this version of the program knows of the family.
    prefixes = Prefixes(card.query_prefix, card.passage_prefix)
    embedder = load(card.model).under(prefixes)
    require_same(card, embedder.card)
    return replace(embedder, card=card)


def place_of(name: str) -> str:
    """Return what loads the same embedder from everywhere: a known name, a full path or id."""
    if name in (HASHING, MINILM):
        return name
    with suppress(RuntimeError):  # the home of a user who does not exist
        if name and (folder := Path(name).expanduser()).is_dir():
            return str(folder.resolve())
    if not _MODEL_ID.fullmatch(name):
        raise unavailable(name, "there is no such folder, and this is not a model id")
    return name if "/" in name else f"sentence-transformers/{name}"


def _open(place: str) -> HashingEmbedder | SentenceEmbedder:
    if place == HASHING:
        from deltamem_tui.embedding.hashing import hashing_embedder

        return hashing_embedder()
    from deltamem_tui.embedding.sentence import open_model, sentence_embedder

    if place == MINILM:
        from deltamem_tui.embedding.minilm import open_minilm, packaged_folder

        return sentence_embedder(open_minilm(packaged_folder(), name=place), place, Prefixes())
    if find_spec("sentence_transformers") is None:
        raise EmbedderUnavailableError(
            "sentence-transformers is not installed",
            source=one_line(place, 120),
            hint="pip install 'deltamem-tui[transformers]', or choose `minilm`, "
            "which comes with the program",
        )
    model = open_model(place, local=Path(place).is_absolute())
    return sentence_embedder(model, place, prefixes_for(place, model.transformer.prompts))
