from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.embedding.protocol import (
    TOLERANCE,
    EmbedderCard,
    distance,
    fingerprint,
    require_same,
)
from deltamem_tui.errors import EmbedderMismatchError


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


@given(seeds, widths)
def test_float_error_is_the_same_model(seed: int, width: int) -> None:
    vector = unit(seed, width)
    slipped = vector + np.float32(1e-6) * unit(seed + 1, width)

    assert distance(fingerprint(vector), fingerprint(slipped)) < TOLERANCE / 5


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
