"""Numbers with their nouns."""

from __future__ import annotations

from deltamem_tui.text import counted

__all__ = ["counted", "dollars"]


def dollars(cost: float | None) -> str:
    """`$0.0123`; a cost that nobody knows is said to be unknown, not zero."""
    return "unknown" if cost is None else f"${cost:.4f}"
