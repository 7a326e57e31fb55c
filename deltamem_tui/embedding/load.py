"""From a name, or from what a bank remembers, to an embedder.

Importing this module loads no library; a model is loaded once in a process.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from deltamem_tui.embedding import minilm
from deltamem_tui.embedding.fingerprint import require_same
from deltamem_tui.embedding.prefixes import Prefixes, prefixes_for
from deltamem_tui.embedding.protocol import Embedder, EmbedderCard
from deltamem_tui.embedding.unavailable import unavailable

if TYPE_CHECKING:
    from deltamem_tui.embedding.hashing import HashingEmbedder
    from deltamem_tui.embedding.model import SentenceModel
    from deltamem_tui.embedding.sentence import SentenceEmbedder

HASHING = "hashing"

# `owner/model` or `model`, each beginning with a letter or digit: no dot, slash or tilde in front.
_MODEL_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)

_loaded: dict[tuple[str, str | None], HashingEmbedder | SentenceEmbedder] = {}
_lock = Lock()


def load(name: str, *, device: str | None = None) -> Embedder:
    """Load an embedder.

    Args:
        name: `hashing`, `minilm`, or the folder or id of a sentence-transformers model. A
            model id without an owner is one of the owner `sentence-transformers`.
        device: Where the model runs (`cpu`, `cuda`, …); the best one there is if None.

    Returns:
        The embedder; the same object for the same name and device.

    Raises:
        EmbedderUnavailableError: The model cannot be loaded here.
        VectorError: The model loads, but what it returns cannot be used.
    """
    return _load(name, device)


def load_for(
    card: EmbedderCard,
    given: Embedder | None = None,
    *,
    source: str | None = None,
    device: str | None = None,
) -> Embedder:
    """The embedder that a bank was built with, and no other.

    Args:
        card: What the bank remembers.
        given: An embedder at hand: it is checked and returned instead of loading one.
        source: Where to load the model from, if not by the name on the card: a folder
            holding the same model, for instance.
        device: Where the model runs; the best one there is if None.

    Raises:
        EmbedderMismatchError: Its width, prefixes, weighting or fingerprint differ.
        EmbedderUnavailableError: The model cannot be loaded here.
        VectorError: The model loads, but what it returns cannot be used.
    """
    if given is not None:
        require_same(card, given.card)
        return given
    # The bank's prefixes hold, whatever this version of the program knows of the family.
    prefixes = Prefixes(card.query_prefix, card.passage_prefix)
    embedder = _load(source or card.model, device).under(prefixes)
    require_same(card, embedder.card)
    return replace(embedder, card=card)


def _load(name: str, device: str | None) -> HashingEmbedder | SentenceEmbedder:
    place = place_of(name)
    with _lock:
        if (place, device) not in _loaded:
            _loaded[place, device] = _open(place, device)
        return _loaded[place, device]


def place_of(name: str) -> str:
    """What loads the same embedder from everywhere: a known name, a full path or a full id.

    A name that can only be a path is never taken for an id, so it never reaches the network.
    """
    if name in (HASHING, minilm.NAME):
        return name
    folder = _folder(name)
    if folder is not None:
        return str(folder)
    if not _MODEL_ID.fullmatch(name):
        raise unavailable(name, "there is no such folder, and this is not a model id")
    return name if "/" in name else f"sentence-transformers/{name}"


def _folder(name: str) -> Path | None:
    try:
        folder = Path(name).expanduser()
    except RuntimeError:  # The home of a user who does not exist.
        return None
    return folder.resolve() if name and folder.is_dir() else None


def _open(place: str, device: str | None) -> HashingEmbedder | SentenceEmbedder:
    if place == HASHING:
        from deltamem_tui.embedding.hashing import hashing_embedder

        return hashing_embedder()
    from deltamem_tui.embedding.sentence import sentence_embedder

    model = _open_model(place, device)
    return sentence_embedder(model, place, prefixes_for(place, model.prompts))


def _open_model(place: str, device: str | None) -> SentenceModel:
    from deltamem_tui.embedding.model import open_folder, open_id

    if place == minilm.NAME:
        folder = minilm.folder()
        minilm.check(folder)
        return open_folder(folder, name=place, device=device)
    if Path(place).is_absolute():
        return open_folder(Path(place), name=place, device=device)
    return open_id(place, device=device)
