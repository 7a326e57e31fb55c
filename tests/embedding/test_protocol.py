"""What embedders have in common: fingerprints, prefixes, and unit vectors."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from deltamem_tui.embedding.protocol import (
    TOLERANCE,
    EmbedderCard,
    Prefixes,
    distance,
    fingerprint,
    prefixes_for,
    require_same,
    unit_rows,
)
from deltamem_tui.errors import EmbedderMismatchError, VectorError


def unit(seed: int, width: int) -> np.ndarray:
    vector = np.random.default_rng(seed).normal(size=width)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def moved(vector: np.ndarray, seed: int, by: float) -> np.ndarray:
    """A unit vector at the distance `by` from `vector`."""
    side = unit(seed, vector.shape[0]).astype(np.float64)
    side -= (side @ vector) * vector
    side /= np.linalg.norm(side)
    angle = 2 * math.asin(by / 2)
    return (math.cos(angle) * vector + math.sin(angle) * side).astype(np.float32)


seeds = st.integers(0, 2**32 - 1)
widths = st.integers(8, 1024)


@given(seeds, widths, st.floats(0.1, 1.9))
def test_the_distance_estimates_that_of_the_vectors(seed: int, width: int, by: float) -> None:
    vector = unit(seed, width)
    apart = distance(fingerprint(vector), fingerprint(moved(vector, seed + 1, by)))

    assert TOLERANCE < apart < 3 * by


def test_it_is_the_same_on_every_machine() -> None:
    vector = np.zeros(4, dtype=np.float32)
    vector[1] = 1.0

    digits = fingerprint(vector)

    # One component of length 1: every sum is +1 or -1, that is ±1024 in sixteen bits.
    assert {digits[start : start + 4] for start in range(0, 64, 4)} <= {"0400", "fc00"}
    assert digits == "fc000400fc00fc000400fc0004000400040004000400fc00fc00fc00fc00fc00"


@pytest.mark.parametrize("text", ["", "00", "zz" * 32, "0" * 66, "sha256:abc"])
def test_what_is_not_a_fingerprint_is_never_the_same(text: str) -> None:
    assert distance(text, "00" * 32) == math.inf
    assert distance(text, text) == math.inf


CARD = EmbedderCard("model", 8, "query: ", "passage: ", "none", "00" * 32)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (replace(CARD, dimensions=9), "dimensions 8 there, 9 here"),
        (replace(CARD, query_prefix=""), "query_prefix"),
        (replace(CARD, passage_prefix=""), "passage_prefix"),
        (replace(CARD, weighting="document-frequency"), "weighting 'none' there"),
        (replace(CARD, fingerprint="01" * 32), "fingerprints are 0.25 apart"),
        (replace(CARD, fingerprint=""), "fingerprints are inf apart"),
    ],
)
def test_all_but_another_name_is_refused_in_one_line(other: EmbedderCard, why: str) -> None:
    require_same(CARD, replace(CARD, model="elsewhere"))
    with pytest.raises(EmbedderMismatchError) as caught:
        require_same(CARD, other)

    assert why in str(caught.value)
    assert "deltamem bank reembed" in (caught.value.hint or "")
    assert "\n" not in str(caught.value)


SEARCHING = Prefixes("Represent this sentence for searching relevant passages: ")
E5 = Prefixes("query: ", "passage: ")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("intfloat/e5-base-v2", E5),
        ("/somewhere/models/my_E5_finetuned", E5),
        ("/cache/models--intfloat--e5-base-v2/snapshots/1c644c92", E5),
        ("BAAI/bge-small-en-v1.5", SEARCHING),
        ("BAAI/bge-large-zh", Prefixes("为这个句子生成表示以用于检索相关文章：")),
        ("BAAI/bge-m3", Prefixes()),
        ("Snowflake/snowflake-arctic-embed-m", SEARCHING),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", Prefixes("query: ")),
        ("nomic-ai/nomic-embed-text-v1.5", Prefixes("search_query: ", "search_document: ")),
        ("sentence-transformers/all-MiniLM-L6-v2", Prefixes()),
        ("/e5/plain-model", Prefixes()),
        ("owner/cafe5-base", Prefixes()),
        ("", Prefixes()),
    ],
)
def test_the_family_is_read_from_the_models_own_name(name: str, expected: Prefixes) -> None:
    assert prefixes_for(name, {"query": "", "document": ""}) == expected


def test_instructed_e5_models_are_told_the_task_in_the_query_only() -> None:
    prefixes = prefixes_for("intfloat/multilingual-e5-large-instruct", {})

    assert prefixes.query.startswith("Instruct: ")
    assert prefixes.query.endswith("\nQuery: ")
    assert prefixes.passage == ""


@pytest.mark.parametrize("key", ["document", "passage", "corpus"])
def test_a_models_own_prompts_come_before_its_familys(key: str) -> None:
    assert prefixes_for("intfloat/e5-base-v2", {"query": "q> ", key: "p> "}) == Prefixes(
        "q> ", "p> "
    )


@given(
    arrays.arrays(
        np.float32,
        st.tuples(st.integers(1, 6), st.integers(1, 40)),
        elements=st.floats(-1, 1, width=32),
    ).filter(lambda matrix: bool((np.abs(matrix).max(axis=1) > 1e-3).all())),
    st.floats(0.9995, 1.0005),
)
def test_float_error_is_divided_out(matrix: np.ndarray, slip: float) -> None:
    exact = matrix.astype(np.float64)
    unit = exact / np.linalg.norm(exact, axis=1, keepdims=True)
    rows, dimensions = matrix.shape

    checked = unit_rows(
        (unit * slip).astype(np.float32), rows=rows, dimensions=dimensions, source="test"
    )

    assert checked.dtype == np.float32
    assert checked.flags.c_contiguous
    assert np.abs(np.linalg.norm(checked.astype(np.float64), axis=1) - 1).max() < 1e-6
    assert np.abs(checked - unit).max() < 1e-6


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ([0, np.nan], "the vector is not finite"),
        ([0, np.inf], "the vector is not finite"),
        ([0, 0.99], "the vector is not of unit length"),
        ([0, 1e15], "the vector is not of unit length"),
        ([0, 0], "the text has no word that the model knows"),
    ],
)
def test_a_row_that_is_no_unit_vector_is_refused_with_its_place(
    row: list[float], reason: str
) -> None:
    vectors = np.array([[1, 0], row], dtype=np.float32)
    with pytest.raises(VectorError, match=rf"^model, text 2 of 2: {reason} \(.+\)$"):
        unit_rows(vectors, rows=2, dimensions=2, source="model")
