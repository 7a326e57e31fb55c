"""Quotes: what a model has to copy out of the notes before it may skip an episode.

A model that finds nothing new may be right, or lazy. So it copies what covers the episode, word
for word, and enough of it that it cannot have been hit by chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from deltamem_tui.llm.answers import UnusableAnswer

LEAST_WORDS = 4
"""The least words of a quote, unless it is a whole line."""
_LEAST_OF_A_LINE = 2
_WORD = re.compile(r"\w+")


def require_quote(quote: str, procedures: Iterable[str]) -> None:
    """Make sure that a quote stands in one of some procedures. Only its words count.

    Raises:
        UnusableAnswer: It says nothing, is too short or stands in none of them.
    """
    words = _words(quote)
    if not words:
        raise UnusableAnswer(
            "nothing is quoted: quote what covers the episode word for word, or do not skip"
        )
    found = [procedure for procedure in procedures if _within(words, _words(procedure))]
    if not found:
        raise UnusableAnswer(
            "what you quote is not in the notes that could cover this episode: quote one "
            "procedure in them word for word, or do not skip"
        )
    if len(words) < LEAST_WORDS and not any(_is_line(words, procedure) for procedure in found):
        raise UnusableAnswer(
            f"what you quote is too short: quote at least {LEAST_WORDS} words or a whole line, "
            "or do not skip"
        )


def _within(words: Sequence[str], text: Sequence[str]) -> bool:
    size = len(words)
    return any(text[first : first + size] == words for first in range(len(text) - size + 1))


def _is_line(words: Sequence[str], procedure: str) -> bool:
    lines = map(_words, procedure.splitlines())
    return len(words) >= _LEAST_OF_A_LINE and any(line == words for line in lines)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
