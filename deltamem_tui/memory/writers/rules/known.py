"""What a chain covers already, written by rules, a model or a person.

A phrase is known when the chain holds the same phrase, or says it within a longer
sentence; asides, numbers and punctuation do not count (see `wording.key`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from deltamem_tui.bank.node import Label, Node
from deltamem_tui.memory.writers.failure_markers import FAILED, PARTIAL, TRIED, UNEXPLORED
from deltamem_tui.memory.writers.rules.wording import key, unlike, unmarked

ARROW = " → "
_RECORD_MARKS = (FAILED, UNEXPLORED, PARTIAL, TRIED)
_PHRASE = re.compile(r"; |\n")
_BULLET = re.compile(r"^\s*[-*•]\s+")


class Known:
    """The phrases of some texts, ready for look-ups."""

    def __init__(self, texts: Iterable[str]) -> None:
        phrases = [phrase for text in texts for phrase in _PHRASE.split(text)]
        self._keys = frozenset(map(key, phrases))
        self._text = f" {' | '.join(map(key, phrases))} "

    def covers(self, phrase: str) -> bool:
        """Whether the texts contain this phrase."""
        wanted = key(phrase)
        return not wanted or wanted in self._keys or f" {wanted} " in self._text

    def lacks(self, phrases: Iterable[str]) -> list[str]:
        """The phrases that the texts lack, each once, in order."""
        return unlike(phrase for phrase in phrases if not self.covers(phrase))


def record_lines(nodes: Sequence[Node]) -> list[str]:
    """The lines of failure records anywhere in a chain."""
    return [_BULLET.sub("", line).strip() for line in _lines(nodes) if _is_record(line)]


def procedure_lines(nodes: Sequence[Node]) -> list[str]:
    """All other lines: what was done and worked, or the facts."""
    return [unmarked(line) for line in _lines(nodes) if not _is_record(line)]


def has_label(nodes: Sequence[Node], label: Label) -> bool:
    """Whether an episode with this outcome wrote any of the nodes."""
    return any(node.label == label for node in nodes)


def _lines(nodes: Sequence[Node]) -> list[str]:
    texts = [node.payload["execution_procedure"] for node in nodes]
    return [line for text in texts for line in text.splitlines() if line.strip()]


def _is_record(line: str) -> bool:
    """A record's line may be a bullet, but a numbered line is a step in any case."""
    return _BULLET.sub("", line).strip().startswith(_RECORD_MARKS)
