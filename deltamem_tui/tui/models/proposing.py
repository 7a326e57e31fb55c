"""What the browser proposes for a new bank: an embedder that works here, if there is one."""

from __future__ import annotations

from importlib.util import find_spec

from deltamem_tui.config import DEFAULT_EMBEDDER
from deltamem_tui.embedding import load as loading
from deltamem_tui.embedding.load import is_at_hand, place_of
from deltamem_tui.errors import EmbedderUnavailableError
from deltamem_tui.text import one_line

_SHOWN = 60


def proposed_embedder(wanted: str) -> tuple[str, str]:
    """An embedder for a new bank, and what keeps the wanted one from being loaded at once.

    The usual one, which nobody chose, gives way to the packaged one where it cannot be loaded
    at once. One that somebody chose stays.

    Args:
        wanted: The one of the settings.

    Returns:
        The embedder, and why it is that one or cannot be loaded at once; empty if there is
        nothing to be known.
    """
    if is_at_hand(wanted):
        return wanted, ""
    if wanted == DEFAULT_EMBEDDER and is_at_hand(loading.MINILM):
        return loading.MINILM, f"{loading.MINILM} is proposed: the usual {_why_not(wanted)}"
    return wanted, _why_not(wanted)


def _why_not(wanted: str) -> str:
    name = one_line(wanted, _SHOWN)
    try:
        place = place_of(wanted)
    except EmbedderUnavailableError:
        return f"{name} is no folder on this machine, and no model id"
    if place == loading.MINILM:
        try:
            loading.minilm_folder()
        except EmbedderUnavailableError:
            return f"{name} is not installed"
    if find_spec("sentence_transformers") is None:
        return f"{name} needs sentence-transformers, which is not installed"
    return f"{name} is not on this machine and would be downloaded"
