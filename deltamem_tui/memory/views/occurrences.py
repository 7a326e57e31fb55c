"""Where the words of a filter stand in a text: upper and lower case alike."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

Span = tuple[int, int]
"""Where a stretch of a text begins, and where it ends."""


def fold(text: str) -> str:
    """Return a text in which upper and lower case are alike: words are sought in nothing else."""
    return text.casefold()


def occurrences(text: str, words: Sequence[str]) -> list[Span]:
    """Return the stretches of a text in which words stand.

    Args:
        text: The text as it is shown.
        words: What is sought, folded; what is empty stands nowhere.

    Returns:
        The stretches in order; those that touch or overlap are one.
    """
    folded = fold(text)
    found = sorted(each for word in words if word for each in _spans(folded, word))
    if found and len(folded) != len(text):  # such as ß, which is folded to ss
        ends = list(accumulate(len(fold(sign)) for sign in text))
        found = [(bisect_right(ends, begin), bisect_left(ends, end) + 1) for begin, end in found]
    joined: list[Span] = []
    for begin, end in found:
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((begin, end))
    return joined


def _spans(folded: str, word: str) -> Iterator[Span]:
    at = folded.find(word)
    while at >= 0:
        yield at, at + len(word)
        at = folded.find(word, at + 1)
