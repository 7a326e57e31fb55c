from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deltamem_tui.embedding.hashing import DIMENSIONS, WORDLESS, hashing_embedder
from deltamem_tui.embedding.protocol import unit_rows
from deltamem_tui.text import clean

EMBEDDER = hashing_embedder()
texts = st.text(max_size=60)
wordy = st.lists(texts | st.sampled_from(["heat", "Maß", "ΣΊΣΥΦΟΣ", "İ", "火", "👩\u200d🚀"])).map(
    " ".join
)


def held(text: str) -> dict[int, float]:
    """The dimensions that a text's row holds, with their values."""
    row = EMBEDDER.embed_passages([text])[0]
    return {int(index): float(row[index]) for index in np.flatnonzero(row)}


def test_its_card() -> None:
    card = EMBEDDER.card

    assert (card.model, card.dimensions, card.weighting) == ("hashing", 2048, "document-frequency")
    assert (card.query_prefix, card.passage_prefix) == ("", "")
    # The same on every machine and in every version that reads today's banks.
    assert card.fingerprint == "ff53020704bc0207f73600adff53ff53ff53fc9f00ad04bc00ad0361fdf900ad"


def test_words_and_pairs_of_neighbours_each_hold_a_dimension() -> None:
    words = {name: set(held(name)) for name in ("heat", "the", "mug")}
    pairs = set(held("heat the mug")) - words["heat"] - words["the"] - words["mug"]

    assert all(len(dimensions) == 1 for dimensions in words.values())
    assert len(pairs) == 2
    assert held("heat the mug") == pytest.approx(
        dict.fromkeys(pairs.union(*words.values()), math.sqrt(1 / 5))
    )


@pytest.mark.parametrize("text", ["", " ", "…", "\n\t", "!?", "\x1b[31m", "\ud800"])
def test_a_text_without_words_has_a_direction_of_its_own(text: str) -> None:
    assert held(text) == {WORDLESS: 1.0}


@given(st.lists(texts, min_size=1, max_size=5))
def test_a_row_depends_on_its_own_text_alone(batch: list[str]) -> None:
    together = EMBEDDER.embed_passages(batch)

    assert together.tobytes() == EMBEDDER.embed_queries(batch).tobytes()
    for text, row in zip(batch, together, strict=True):
        assert EMBEDDER.embed_passages([text])[0].tobytes() == row.tobytes()


def hashed_by_scikit_learn(batch: list[str]) -> NDArray[np.float32]:
    """The rows that the embedder gives, made by the library that first defined them."""
    from sklearn.feature_extraction.text import HashingVectorizer

    vectorizer = HashingVectorizer(
        n_features=WORDLESS,
        ngram_range=(1, 2),
        token_pattern=r"\w+",
        alternate_sign=False,
        norm="l1",
    )
    shares = vectorizer.transform(clean(text) for text in batch).toarray()
    roots = np.sqrt(np.column_stack([shares, shares.sum(axis=1) == 0])).astype(np.float32)
    return unit_rows(roots, rows=len(batch), dimensions=DIMENSIONS, source="scikit-learn")


@given(st.lists(wordy, min_size=1, max_size=5))
@example(["", "\ud800", "heat the mug " * 50_000, " ".join(map(str, range(50_000)))])
def test_banks_of_the_first_versions_hold_the_same_bytes(batch: list[str]) -> None:
    assert EMBEDDER.embed_passages(batch).tobytes() == hashed_by_scikit_learn(batch).tobytes()
