"""Small tools for text: shorten it, list it, compare it, and take a node's lines apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from deltamem_tui.bank.node import Node
from deltamem_tui.memory.writers.failure_markers import FAILED, PARTIAL, TRIED, UNEXPLORED
from deltamem_tui.text import one_line

_ASIDE = re.compile(r"\([^()]*\)")
_LIST_MARK = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NOT_WORD = re.compile(r"[^\w#{}\[\]′″‴]+")  # a prime tells one box from another
_ARTICLE = re.compile(r"\b(?:the|an|a)\b")
_WIDEST_WORD = 80
ARROW = " → "
_RECORD_MARKS = (FAILED, UNEXPLORED, PARTIAL, TRIED)
_BULLET = re.compile(r"^\s*[-*•]\s+")


def condense(text: str, words: int) -> str:
    """`text` on one line, cut after so many words; a word of absurd length is cut too."""
    parts = one_line(text).split()
    kept = [part if len(part) <= _WIDEST_WORD else part[:_WIDEST_WORD] + "…" for part in parts]
    return " ".join(kept[:words]) + (" …" if len(kept) > words else "")


def listed(items: Sequence[str], most: int | None = None) -> str:
    """Items with commas between; those beyond `most` are only counted."""
    shown = list(items[:most])
    left = len(items) - len(shown)
    return ", ".join(shown) + (f" and {left} more" if left else "")


def distinct(items: Iterable[str]) -> list[str]:
    """Items in their first order, each once, the empty ones dropped."""
    return [item for item in dict.fromkeys(items) if item]


def key(phrase: str) -> str:
    """Return what a phrase says without how it is set: two phrases with one key say the same.

    Case, list marks, asides in parentheses, articles, punctuation and the values of
    numbers are dropped.
    """
    text = _LIST_MARK.sub("", phrase.casefold())
    # A bounded number of rounds: hostile nesting must not cost more than it is worth.
    for _ in range(3):
        text = _ASIDE.sub(" ", text)
    text = _NUMBER.sub("#", text)
    return " ".join(_ARTICLE.sub(" ", _NOT_WORD.sub(" ", text)).split())


def unlike(phrases: Iterable[str], same: Callable[[str], str] = key) -> list[str]:
    """Return the first of all phrases that say the same, in order."""
    firsts: dict[str, str] = {}
    for phrase in phrases:
        firsts.setdefault(same(phrase), phrase)
    return list(firsts.values())


def bulleted(lines: Sequence[str]) -> str:
    """Lines as a bulleted list."""
    return "\n".join(f"- {line}" for line in lines)


def shortened(lines: Sequence[str], most: int) -> list[str]:
    """At most so many lines: the middle of a longer list gives way to a count."""
    if len(lines) <= most:
        return list(lines)
    head = (most - 1) * 2 // 3
    tail = most - 1 - head
    return [*lines[:head], f"({len(lines) - head - tail} more steps)", *lines[len(lines) - tail :]]


def record_lines(nodes: Sequence[Node]) -> list[str]:
    """Return the lines of failure records anywhere in a chain."""
    return [_BULLET.sub("", line).strip() for line in _lines(nodes) if _is_record(line)]


def procedure_lines(nodes: Sequence[Node]) -> list[str]:
    """Return all other lines: what was done and worked, or the facts."""
    return [_LIST_MARK.sub("", line).strip() for line in _lines(nodes) if not _is_record(line)]


def _lines(nodes: Sequence[Node]) -> list[str]:
    texts = [node.payload["execution_procedure"] for node in nodes]
    return [line for text in texts for line in text.splitlines() if line.strip()]


def _is_record(line: str) -> bool:
    """Return a record's line may be a bullet, but a numbered line is a step in any case."""
    return _BULLET.sub("", line).strip().startswith(_RECORD_MARKS)
