"""Markdown: text escaped and fenced, and a page split into blocks.

A page's lines are each looked at once, and by hand: hostile ones could make a pattern backtrack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

_OPENING, _CLOSING = "<!-- deltamem ", " -->"
_TICKS = "```"
_STARTS = (_OPENING, "#", _TICKS)
_LEVELS = 6
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|!&~]")
_BACKTICKS = re.compile(r"`+")


def escaped(text: str) -> str:
    """The text of one line with its markdown escaped."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def fenced(text: str) -> str:
    """The text inside a fence that it cannot close."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


class Block(NamedTuple):
    """Some lines that belong together.

    Attributes:
        start: The first line's place, from 0.
        end: The place behind the last line.
        text: The text of a marker, a heading or inside a fence; empty for other text.
    """

    kind: Literal["marker", "heading", "fence", "text"]
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
            yield Block("text", begun, place)
        yield found
        place = begun = found.end
    if begun < place:
        yield Block("text", begun, place)


def _block(lines: Sequence[str], place: int) -> Block | None:
    line = lines[place]
    if fence := _fence(line):
        try:
            close = lines.index(fence, place + 1)
        except ValueError:
            close = len(lines)
        held = "\n".join(lines[place + 1 : close])
        return Block("fence", place, min(close + 1, len(lines)), held)
    if line.startswith(_OPENING + "{") and line.endswith("}" + _CLOSING):
        facts = line[len(_OPENING) : -len(_CLOSING)]
        return Block("marker", place, place + 1, facts)
    heading = _heading(line)
    return None if heading is None else Block("heading", place, place + 1, heading)


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
