"""Checks of what a model says: quotes that cover an episode, and texts of substance.

A model that finds nothing new may be right, or lazy. So it copies what covers the episode, word
for word, and enough of it that it cannot have been hit by chance. A weak model hands back the
prompt's own words, or nothing, in the form that was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from deltamem_tui.llm.answers import UnusableAnswer
from deltamem_tui.trajectory.model import Trajectory

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


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _within(words: Sequence[str], text: Sequence[str]) -> bool:
    size = len(words)
    return any(text[first : first + size] == words for first in range(len(text) - size + 1))


def _is_line(words: Sequence[str], procedure: str) -> bool:
    lines = map(_words, procedure.splitlines())
    return len(words) >= _LEAST_OF_A_LINE and any(line == words for line in lines)


_STOP_LENGTH = 3
_RECORD = re.compile(r'<record of="\w+" sign="(\w+)">.*?</record sign="\1">', re.DOTALL)
_PLACEHOLDER_WORDS = 3
_LEAST_BODY_WORDS = 3


def require_substance(payload: Mapping[str, str], body: str, prompt: str) -> None:
    """Make sure that the texts of a node say something of their own.

    Args:
        payload: The texts of one node.
        body: The field that holds what the node has to say; empty if none does.
        prompt: The whole prompt, whose instructions an answer must not hand back.

    Raises:
        UnusableAnswer: A text is copied from the instructions, or says nothing or the same as
            another.
    """
    texts = {name: _words(text) for name, text in payload.items() if text}
    instructions = _words(_RECORD.sub(" ", prompt))
    said: dict[tuple[str, ...], str] = {}
    for name, words in texts.items():
        if not any(len(word) > 1 for word in words):
            raise UnusableAnswer(f'"{name}" says nothing', useless=True)
        if len(words) >= _PLACEHOLDER_WORDS and _within(words, instructions):
            raise UnusableAnswer(
                f'"{name}" is copied from these instructions: write what this log shows',
                useless=True,
            )
        if same := said.get(tuple(words)):
            raise UnusableAnswer(f'"{name}" says the same as "{same}"')
        said[tuple(words)] = name
    if body in texts and len(texts[body]) < _LEAST_BODY_WORDS:
        raise UnusableAnswer(f'"{body}" has fewer than {_LEAST_BODY_WORDS} words')


def is_grounded(procedure: str, episode: Trajectory) -> bool:
    """Return whether a skill's procedure names anything that was done in its episode."""
    done = {word for step in episode.steps for word in _words(step.action)}
    done = {word for word in done if len(word) > _STOP_LENGTH}
    return not done or not done.isdisjoint(_words(procedure))
