"""A lexical index of texts: which share of a question's words each text has, by BM25.

It is made of the texts at hand, in memory; a score of 1 is that of a text that is made of the
question's words alone, and 0 that of one without any of them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from math import log

_WORD = re.compile(r"[^\W\d_][^\W_]*|\d+(?:\.\d+)*")
_CAMEL = re.compile(r"([a-z0-9])([A-Z])")
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", ""))
_K1 = 1.2
_B = 0.75
_COMMON_WORDS = """
a an the and or of to in on at by for from with without is are was be been it its this
that these those i you we my your me our us as if when then than so do does did not no
can could should would will want need please have has had there which what who how all
each any into
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def terms(text: str) -> list[str]:
    """Return the words of a text that say something, names in snake and camel case taken apart."""
    words = (_stem(word) for word in _WORD.findall(_CAMEL.sub(r"\1 \2", text).lower()))
    return [word for word in words if word not in _COMMON and len(word) > 1]


def _stem(word: str) -> str:
    if len(word) > 4:
        for ending, kept in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
                return word[: -len(ending)] + kept
    return word


class Lexical:
    """Texts by their words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        counts = [Counter(terms(text)) for text in texts]
        lengths = [sum(each.values()) for each in counts]
        average = sum(lengths) / max(1, len(texts)) or 1.0
        for row, (words, length) in enumerate(zip(counts, lengths, strict=True)):
            saturation = _K1 * (1 - _B + _B * length / average)
            for word, times in words.items():
                self._postings[word].append((row, times / (times + saturation)))
        self._size = len(texts)

    def weight(self, word: str) -> float:
        """Return how much a word tells: the rarer it is, the more."""
        known = len(self._postings.get(word, ()))
        return log(1 + (self._size - known + 0.5) / (known + 0.5))

    def scores(self, question: str) -> list[float]:
        """Per text, the share of the question's words that it has, weighted by what they tell."""
        found = [0.0] * self._size
        words = {word: self.weight(word) for word in set(terms(question))}
        known = {word: weight for word, weight in words.items() if word in self._postings}
        whole = sum(words.values()) or 1.0
        for word, weight in sorted(known.items()):
            for row, share in self._postings[word]:
                found[row] += weight * share
        return [score / whole for score in found]
