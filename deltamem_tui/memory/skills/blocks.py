"""Markdown in blocks, as far as sections need it: comments of nodes, headings, fences, text.

Each line is looked at once, and by hand: a stranger's line can make a pattern try very often.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

_OPENING, _CLOSING = "<!-- deltamem ", " -->"
_TICKS = "```"
_STARTS = (_OPENING, "#", _TICKS)
_LEVELS = 6


class Kind(Enum):
    """What a block is."""

    MARKER = "marker"
    HEADING = "heading"
    FENCE = "fence"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Block:
    """Some lines that belong together.

    Attributes:
        kind: What they are.
        start: The first line's place, from 0.
        end: The place behind the last line.
        text: What a marker or heading says, and what a fence holds; empty for text.
    """

    kind: Kind
    start: int
    end: int
    text: str = ""


def blocks(lines: Sequence[str]) -> Iterator[Block]:
    """All blocks of some lines, in order; each line is in one of them."""
    place = begun = 0
    while place < len(lines):
        found = _block(lines, place) if lines[place].startswith(_STARTS) else None
        if found is None:
            place += 1
            continue
        if begun < place:
            yield Block(Kind.TEXT, begun, place)
        yield found
        place = begun = found.end
    if begun < place:
        yield Block(Kind.TEXT, begun, place)


def _block(lines: Sequence[str], place: int) -> Block | None:
    line = lines[place]
    if fence := _fence(line):
        try:
            close = lines.index(fence, place + 1)
        except ValueError:
            close = len(lines)
        held = "\n".join(lines[place + 1 : close])
        return Block(Kind.FENCE, place, min(close + 1, len(lines)), held)
    if line.startswith(_OPENING + "{") and line.endswith("}" + _CLOSING):
        facts = line[len(_OPENING) : -len(_CLOSING)]
        return Block(Kind.MARKER, place, place + 1, facts)
    heading = _heading(line)
    return None if heading is None else Block(Kind.HEADING, place, place + 1, heading)


def _fence(line: str) -> str:
    """The fence that a line opens; empty if it opens none."""
    rest = line.lstrip("`")
    ticks = len(line) - len(rest)
    return "`" * ticks if ticks >= len(_TICKS) and "`" not in rest else ""


def _heading(line: str) -> str | None:
    rest = line.lstrip("#")
    if not 1 <= len(line) - len(rest) <= _LEVELS or not rest.startswith(" "):
        return None
    return rest.strip(" ").rstrip("#").rstrip(" ")
