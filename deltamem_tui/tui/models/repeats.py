"""What a text repeats of the texts above it: the rest is the difference that it makes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import groupby

_RUN = 3
"""So many words in a row, the ends of a line among them, are a repetition; fewer are chance."""

_LONGEST = 6
"""A repetition of more words than this can be left out without losing the thread."""

_NUMBER = re.compile(r"\d+[.)]|[-+*•]")
_WORD = re.compile(r"\S+")
_SIGNS = ".,:;!?()[]\"'`"
_EDGE = "\n"

WordSequence = tuple[str, ...]
"""Words in a row: three, or all of a line that has fewer."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a line.

    Attributes:
        text: What it says.
        repeats: Whether it is said above, or beside, as well.
        found: Whether it is what was sought.
    """

    text: str
    repeats: bool
    found: bool = False


def sequences(texts: Iterable[str]) -> frozenset[WordSequence]:
    """All sequences of three words in the lines of some texts."""
    lines = (line.split() for text in texts for line in text.split("\n"))
    return frozenset(each for words in lines if words for each in _sequences(_told(words)))


def repeated_words(words: Sequence[str], above: AbstractSet[WordSequence]) -> list[bool]:
    """Per word of a line, whether it is part of a sequence that stands above.

    The number of a list's entry is as new as the entry.
    """
    told = _told(words)
    marks = [False] * len(told)
    for start, each in enumerate(_sequences(told)):
        if each in above:
            marks[start : start + len(each)] = [True] * len(each)
    found = marks[1:-1]
    return [*found[:1] * (len(words) - len(found)), *found]


def pieces_of(line: str, above: AbstractSet[WordSequence], *, brief: bool = False) -> list[Piece]:
    """A line in pieces that repeat what stands above, and pieces that do not.

    Args:
        line: One line of a text.
        above: The sequences of what stands above.
        brief: Whether an ellipsis takes the place of a long repetition, but for its label.
    """
    starts = [match.start() for match in _WORD.finditer(line)]
    if not starts:
        return [Piece(line, repeats=False)]
    marks = repeated_words(line.split(), above)
    ends = [*starts[1:], len(line)]
    starts[0] = 0
    pieces = []
    for repeats, group in groupby(range(len(marks)), key=marks.__getitem__):
        places = list(group)
        text = line[starts[places[0]] : ends[places[-1]]]
        if brief and repeats and len(places) > _LONGEST:
            label = text.split()[0] if places[0] == 0 else ""
            text = f"{label} … " if label.endswith(":") else "… "
        pieces.append(Piece(text, repeats))
    return pieces


def _told(words: Sequence[str]) -> list[str]:
    """The words of a line between its edges, as they are compared: without a list's number."""
    numbered = len(words) > 1 and _NUMBER.fullmatch(words[0]) is not None
    bare = (word.strip(_SIGNS).casefold() for word in words[numbered:])
    return [_EDGE, *bare, _EDGE]


def _sequences(told: Sequence[str]) -> list[WordSequence]:
    return [tuple(told[start : start + _RUN]) for start in range(max(len(told) - _RUN + 1, 1))]
