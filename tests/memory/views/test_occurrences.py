"""Words are found where a filter finds them, letter by letter."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deltamem_tui.memory.views.filters import NODES, fold, occurrences

TEXTS = st.text("aAßsSİi \N{COMBINING DOT ABOVE}", max_size=12)


@dataclass
class OneText:
    said: str
    ids = np.array([b"0"])

    def column(self, name: str) -> NDArray[np.int64]:
        return np.array([{"depth": 1}[name]])

    def texts(self, rows: NDArray[np.int64]) -> list[str]:
        return [self.said] * len(rows)


def slowly(text: str, words: list[str]) -> set[int]:
    """The places of the signs that give a letter to one of the words."""
    letters = [(place, each) for place, sign in enumerate(text) for each in fold(sign)]
    found = set()
    for word in filter(None, words):
        for begin in range(len(letters)):
            stretch = letters[begin : begin + len(word)]
            if "".join(each for _, each in stretch) == word:
                found |= {place for place, _ in stretch}
    return found


@given(TEXTS, st.lists(TEXTS.map(fold), max_size=3))
def test_words_are_found_wherever_they_stand(text: str, words: list[str]) -> None:
    found = occurrences(text, words)
    assert {place for span in found for place in range(*span)} == slowly(text, words)
    assert all(before[1] < after[0] for before, after in pairwise(found))


@given(TEXTS, st.lists(TEXTS.filter(str.strip), min_size=1, max_size=3))
def test_a_text_that_fits_a_filter_has_each_of_its_words(text: str, typed: list[str]) -> None:
    wanted = NODES.parse(" ".join(f'"{word}"' for word in typed) + " depth:>0")
    kept = wanted.matching(OneText(text), np.ones(1, bool), lambda: False)
    assert bool(kept[0]) == all(occurrences(text, [word]) for word in wanted.words)
    assert len(wanted.words) == len(typed)
