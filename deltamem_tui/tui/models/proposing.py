"""What the browser proposes for a new bank: an embedder that works here, if there is one."""

from __future__ import annotations

from deltamem_tui.config import DEFAULT_EMBEDDER
from deltamem_tui.embedding import minilm
from deltamem_tui.embedding.at_hand import is_at_hand
from deltamem_tui.text import one_line

_LABEL = "Embedder, for good"


def proposed_embedder(wanted: str) -> tuple[str, str]:
    """An embedder for a new bank, and how it is asked for.

    The usual one, which nobody chose, gives way to the packaged one where it would have to be
    fetched first. One that somebody chose stays. In both cases the label says how it stands.

    Args:
        wanted: The one of the settings.
    """
    if is_at_hand(wanted):
        return wanted, _LABEL
    label = f"{_LABEL} ({one_line(wanted, 60)} is not on this machine and would be downloaded)"
    if wanted == DEFAULT_EMBEDDER and is_at_hand(minilm.NAME):
        return minilm.NAME, label
    return wanted, label
