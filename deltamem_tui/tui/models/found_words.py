"""Where the words of a filter stand in lines that are shown in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from deltamem_tui.memory.views.occurrences import Span, occurrences
from deltamem_tui.tui.models.repeats import Piece


def with_found(pieces: Sequence[Piece], words: Sequence[str]) -> list[Piece]:
    """The pieces of a line, cut where words stand in it.

    Args:
        pieces: The line.
        words: What is sought, as a filter has it.
    """
    spans = occurrences("".join(piece.text for piece in pieces), words) if words else []
    if not spans:
        return list(pieces)
    cut, begin = list[Piece](), 0
    for piece in pieces:
        end = begin + len(piece.text)
        cut += (replace(piece, text=text, found=found) for text, found in _cut(piece, begin, spans))
        begin = end
    return cut


def _cut(piece: Piece, begin: int, spans: Sequence[Span]) -> Iterator[tuple[str, bool]]:
    """A piece that begins at a place of its line, in stretches that were sought or were not."""
    at = 0
    for first, last in spans:
        start, stop = max(first - begin, at), min(last - begin, len(piece.text))
        if start >= stop:
            continue
        if at < start:
            yield piece.text[at:start], False
        yield piece.text[start:stop], True
        at = stop
    if at < len(piece.text):
        yield piece.text[at:], False


def holding(words: Sequence[str], sought: Sequence[str]) -> list[bool]:
    """Per word of a line, whether something of it is sought."""
    marks, begin = list[bool](), 0
    spans = occurrences(" ".join(words), sought) if sought else []
    for word in words:
        end = begin + len(word)
        marks.append(any(first < end and begin < last for first, last in spans))
        begin = end + 1
    return marks
