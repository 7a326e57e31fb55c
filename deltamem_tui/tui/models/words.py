"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """`1 node`, `2,000 nodes`, `3 children`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
