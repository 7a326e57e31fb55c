"""Checks of what a model says: quotes, and texts of substance.

A model that finds nothing new may be right, or lazy. So it copies what covers the episode, word
for word, and enough of it that it cannot have been hit by chance. A weak model hands back the
prompt's own words, or nothing, in the form that was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from deltamem_tui.llm.answers import UnusableAnswer
from deltamem_tui.trajectory.model import Trajectory

LEAST_WORDS = 4
"""The least words of a quote, unless it is a whole line."""
_LEAST_BODY_WORDS = 3
_STOP_LENGTH = 3
_WORD = re.compile(r"\w+")
_RECORD = re.compile(r'<record of="\w+" sign="(\w+)">.*?</record sign="\1">', re.DOTALL)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _within(words: Sequence[str], text: Sequence[str]) -> bool:
    return f" {' '.join(words)} " in f" {' '.join(text)} "


def require_quote(quote: str, procedures: Sequence[str]) -> None:
    """Make sure that a quote stands in one of some procedures. Only its words count.

    Raises:
        UnusableAnswer: It says nothing, is too short or stands in none of them.
    """
    words = _words(quote)
    if not words or not any(_within(words, _words(procedure)) for procedure in procedures):
        raise UnusableAnswer(
            "what you quote is not in the notes that could cover this episode: quote one "
            "procedure in them word for word, or do not skip"
        )
    lines = [_words(line) for procedure in procedures for line in procedure.splitlines()]
    if len(words) < LEAST_WORDS and (len(words) < 2 or words not in lines):
        raise UnusableAnswer(
            f"what you quote is too short: quote at least {LEAST_WORDS} words or a whole line, "
            "or do not skip"
        )


def require_substance(payload: Mapping[str, str], body: str, asked: str) -> None:
    """Make sure that the texts of a node say something of their own.

    Args:
        payload: The texts of one node.
        body: The field that holds what the node has to say; empty if none does.
        asked: All that was asked, whose instructions an answer must not hand back.

    Raises:
        UnusableAnswer: A text is copied from the instructions, or says nothing or the same as
            another.
    """
    instructions = _words(_RECORD.sub(" ", asked))
    said: dict[str, str] = {}
    for name, text in payload.items():
        words = _words(text)
        if text and not any(len(word) > 1 for word in words):
            raise UnusableAnswer(f'"{name}" says nothing')
        if len(words) >= _LEAST_BODY_WORDS and _within(words, instructions):
            reason = f'"{name}" is copied from these instructions: write what this log shows'
            raise UnusableAnswer(reason)
        if len(words) >= _LEAST_BODY_WORDS and (same := said.get(" ".join(words))):
            raise UnusableAnswer(f'"{name}" says the same as "{same}"')
        if name == body and 0 < len(words) < _LEAST_BODY_WORDS:
            raise UnusableAnswer(f'"{body}" has fewer than {_LEAST_BODY_WORDS} words')
        said[" ".join(words)] = name


def is_grounded(procedure: str, episode: Trajectory) -> bool:
    """Return whether a skill's procedure names anything that was done in its episode."""
    done = {word for step in episode.steps for word in _words(step.action)}
    done = {word for word in done if len(word) > _STOP_LENGTH}
    return not done or not done.isdisjoint(_words(procedure))
