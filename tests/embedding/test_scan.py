"""The scan against a plain float64 reference, weighted or not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deltamem_tui.embedding.protocol import Weighting
from deltamem_tui.embedding.scan import DECIMALS, Rows, Scan, SparseRows, cells_of
from deltamem_tui.errors import BankCorruptError, VectorError
from tests.effort import examples

WEIGHTINGS: list[Weighting] = ["none", "document-frequency"]


def rows_of(vectors: NDArray[np.float32], dead: Any = None, failure: Any = None) -> Rows:
    count = len(vectors)
    none = np.zeros(count, dtype=np.bool_)
    return Rows(
        vectors,
        none if dead is None else np.asarray(dead, dtype=np.bool_),
        none if failure is None else np.asarray(failure, dtype=np.bool_),
        np.arange(count, dtype=np.int64),
        "task.embeddings.npy",
    )


def reference(
    rows: Rows, query: NDArray[np.float32], penalty: float, weighting: Weighting
) -> list[tuple[int, float]]:
    """Every living row and its score, best first, by plain float64 and Python's sort."""
    width = len(query)
    weight = [1.0] * width
    living = [row for row in range(len(rows.vectors)) if not rows.dead[row]]
    if weighting == "document-frequency":
        weight = [float(sum(rows.vectors[row, d] != 0 for row in living)) for d in range(width)]
    scored = []
    for row in living:
        a, b = [float(x) for x in query], [float(x) for x in rows.vectors[row]]
        dot = sum(w * x * y for w, x, y in zip(weight, a, b, strict=True))
        lengths = sum(w * x * x for w, x in zip(weight, a, strict=True)) * sum(
            w * y * y for w, y in zip(weight, b, strict=True)
        )
        cosine = round(dot / lengths**0.5, DECIMALS) if lengths else 0.0
        score = round(cosine - (penalty if rows.failure[row] else 0.0), DECIMALS)
        scored.append((-score, int(rows.precedence[row]), row))
    return [(row, -negative) for negative, _, row in sorted(scored)]


@st.composite
def scans(draw: st.DrawFn) -> tuple[Rows, NDArray[np.float32]]:
    """Rows with many repeated and many nearly equal vectors, some dead, some failures."""
    width = draw(st.sampled_from([1, 2, 3, 8, 40]))
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    kinds = random.normal(size=(draw(st.integers(1, 6)), width))
    kinds[:, random.random(width) < draw(st.sampled_from([0.0, 0.5]))] = 0
    kinds[np.linalg.norm(kinds, axis=1) == 0] = 1
    count = draw(st.integers(1, 40))
    vectors = kinds[random.integers(len(kinds), size=count)]
    near = draw(st.sampled_from([0.0, 1e-7, 1e-6, 1e-4]))
    vectors = vectors + near * random.normal(size=vectors.shape) * (vectors != 0)
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    query = kinds[0] + draw(st.sampled_from([0.0, 0.3])) * random.normal(size=width)
    query = (query / np.linalg.norm(query)).astype(np.float32)
    rows = rows_of(vectors, random.random(count) < 0.2, random.random(count) < 0.3)
    return rows, query


@examples(100)
@given(
    scans(),
    st.sampled_from([0.0, 0.05, 0.3]),
    st.integers(1, 45),
    st.sampled_from(WEIGHTINGS),
)
def test_the_scan_finds_what_the_reference_finds(
    drawn: tuple[Rows, NDArray[np.float32]], penalty: float, count: int, weighting: Weighting
) -> None:
    rows, query = drawn
    found = Scan(rows, weighting).best(query, penalty, count)
    expected = reference(rows, query, penalty, weighting)
    assert len(found) == min(count, len(expected))
    for (row, similarity, score), (_, true_score) in zip(found, expected, strict=False):
        # The last decimal may be rounded either way; the order may not differ by more.
        assert score == pytest.approx(true_score, abs=2 * 10**-DECIMALS)
        assert score == pytest.approx(similarity - penalty * rows.failure[row], abs=1e-9)
        assert not rows.dead[row]
    assert len({row for row, _, _ in found}) == len(found)
    order = [(-score, rows.precedence[row]) for row, _, score in found]
    assert order == sorted(order)


@examples(100)
@given(scans(), st.sampled_from([0.0, 0.05, 4.0]), st.integers(1, 45))
def test_smaller_forms_of_the_rows_give_the_same_answer(
    drawn: tuple[Rows, NDArray[np.float32]], penalty: float, count: int
) -> None:
    rows, query = drawn
    cut = len(rows.vectors) // 2
    halves = [rows.vectors[:cut], rows.vectors[cut:]]
    width = rows.vectors.shape[1]
    sparse = replace(rows, sparse=SparseRows([cells_of(half) for half in halves], width))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("deltamem_tui.embedding.scan.PIECE_ROWS", 7)
        for weighting in WEIGHTINGS:
            plain = Scan(rows, weighting)
            assert Scan(sparse, weighting).best(query, penalty, count) == plain.best(
                query, penalty, count
            )
    likeness = rows.vectors.astype(np.float64) @ query
    same = np.flatnonzero((likeness >= 1 - 1e-3) & ~rows.dead).tolist()
    for form in (rows, sparse):
        assert Scan(form).alike(np.stack([query, query]), 1 - 1e-3).tolist() == same


@examples(50)
@given(scans(), st.randoms(use_true_random=False), st.sampled_from(WEIGHTINGS))
def test_the_result_does_not_depend_on_where_the_rows_lie(
    drawn: tuple[Rows, NDArray[np.float32]], random: Any, weighting: Weighting
) -> None:
    rows, query = drawn
    order = list(range(len(rows.vectors)))
    random.shuffle(order)
    moved = Rows(
        rows.vectors[order],
        rows.dead[order],
        rows.failure[order],
        rows.precedence[order],
        rows.source,
    )
    first = Scan(rows, weighting).best(query, 0.05, 10)
    second = Scan(moved, weighting).best(query, 0.05, 10)
    births = [(int(rows.precedence[row]), similarity, score) for row, similarity, score in first]
    assert births == [
        (int(moved.precedence[row]), similarity, score) for row, similarity, score in second
    ]


def test_a_failure_is_pushed_down_by_the_penalty_and_not_hidden() -> None:
    vectors = np.array([[1, 0], [0.98, 0.2]], dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scan = Scan(rows_of(vectors, failure=[True, False]))
    query = np.array([1, 0], dtype=np.float32)
    assert [row for row, _, _ in scan.best(query, 0.0, 2)] == [0, 1]
    assert [row for row, _, _ in scan.best(query, 0.05, 2)] == [1, 0]
    assert scan.best(query, 0.05, 2)[1] == (0, 1.0, 0.95)


def test_the_frequent_dimensions_weigh_more() -> None:
    """Two rows hold the first word, one the second: the first decides."""
    half = np.sqrt(0.5)
    vectors = np.array([[1, 0, 0], [half, 0, half], [0, 1, 0]], dtype=np.float32)
    query = np.array([half, half, 0], dtype=np.float32)
    assert Scan(rows_of(vectors), "none").best(query, 0.0, 3)[0][1] == pytest.approx(half, abs=1e-6)
    weighted = Scan(rows_of(vectors), "document-frequency").best(query, 0.0, 3)
    assert weighted[0][0] == 0
    assert weighted[0][1] == pytest.approx(np.sqrt(2 / 3), abs=1e-6)
    # A dead row is not counted.
    dead = Scan(rows_of(vectors, dead=[False, True, False]), "document-frequency")
    row, similarity, _ = dead.best(query, 0.0)[0]
    assert row == 0
    assert similarity == pytest.approx(half, abs=1e-6)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_no_living_row_is_no_answer(weighting: Weighting) -> None:
    query = np.array([1, 0], dtype=np.float32)
    assert Scan(rows_of(np.zeros((0, 2), dtype=np.float32)), weighting).best(query, 0.05) == []
    two = np.eye(2, dtype=np.float32)
    assert Scan(rows_of(two, dead=[True, True]), weighting).best(query, 0.05) == []


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("count", [1, 4])
def test_a_row_that_is_not_finite_is_told_with_its_number(
    weighting: Weighting, value: float, count: int
) -> None:
    vectors = np.eye(4, dtype=np.float32)
    vectors[2, 3] = value
    query = np.full(4, 0.5, dtype=np.float32)
    scan = Scan(rows_of(vectors), weighting)
    if value < 0 and count == 1 and weighting == "none":
        assert scan.best(query, 0.05) == [(0, 0.5, 0.5)]  # below all others: not in the way
        return
    with pytest.raises(BankCorruptError, match=r"task\.embeddings\.npy, row 2: .* not finite"):
        scan.best(query, 0.05, count)


@pytest.mark.parametrize("query", [np.ones(3), np.ones((1, 2)), np.array([1.0, np.nan])])
def test_a_question_that_does_not_fit_is_refused(query: NDArray[np.float64]) -> None:
    with pytest.raises(VectorError, match="use the embedder"):
        Scan(rows_of(np.eye(2, dtype=np.float32))).best(query.astype(np.float32), 0.05)


DIMENSIONS = 6


@given(st.integers(0, 2**32 - 1), st.integers(0, 9))
def test_the_frequency_is_that_of_the_living_rows(seed: int, rows: int) -> None:
    random = np.random.default_rng(seed)
    held = random.random((rows, DIMENSIONS)) < 0.4
    vectors = (random.random((rows, DIMENSIONS)) * held).astype(np.float32)
    dead = random.random(rows) < 0.3
    parts = [cells_of(vectors[: rows // 2]), cells_of(vectors[rows // 2 :])]
    found = SparseRows(parts, DIMENSIONS).frequency(dead)
    assert found.tolist() == np.count_nonzero(vectors[~dead], axis=0).tolist()
