"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """`1 node`, `2,000 nodes`, `3 children`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def dollars(cost: float | None) -> str:
    """`$0.0123`; a cost that nobody knows is said to be unknown, not zero."""
    return "unknown" if cost is None else f"${cost:.4f}"
