"""Bootstrap intervals over episodes, of one contestant and of the difference between two.

A measure is a ratio of sums over episodes: so many of the recalled records were right, so many of
the episodes found any. Episodes are drawn with their parts of both sums; for a difference, the
same episodes are drawn for both contestants, which is what makes it paired.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

SAMPLES = 2000
_MIDDLE = (2.5, 97.5)
_SEED = 7

Numbers = NDArray[np.float64]


class Estimate(Struct, frozen=True):
    """A measured value, and the middle 95 % of its bootstrap; None where there is nothing."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Ratio:
    """A measure by episodes.

    Attributes:
        parts: What each episode adds to the upper sum. float64 [episodes].
        wholes: What it adds to the lower sum. float64 [episodes].
    """

    parts: Numbers
    wholes: Numbers

    @classmethod
    def mean(cls, values: ArrayLike) -> Ratio:
        """The mean of a number that every episode has."""
        parts = np.asarray(values, dtype=np.float64)
        return cls(parts, np.ones_like(parts))

    @property
    def value(self) -> float | None:
        """The measure over all episodes; None if none of them counts."""
        whole = float(self.wholes.sum())
        return float(self.parts.sum()) / whole if whole else None

    def so_far(self) -> Numbers:
        """The measure over the episodes up to each; NaN until one counts. float64 [episodes]."""
        return _divided(self.parts.cumsum(), self.wholes.cumsum())


def interval(ratio: Ratio) -> Estimate:
    """A measure with its interval, the same in each run."""
    return _estimate(ratio.value, _drawn(ratio))


def difference(one: Ratio, other: Ratio) -> Estimate:
    """How much greater a measure is for one contestant than for another, over the same episodes."""
    values = one.value, other.value
    if values[0] is None or values[1] is None:
        return Estimate()
    return _estimate(values[0] - values[1], _drawn(one) - _drawn(other))


def _drawn(ratio: Ratio) -> Numbers:
    """The measure in each sample; NaN where no drawn episode counts. float64 [samples]."""
    weights = _weights(len(ratio.parts))
    return _divided(weights @ ratio.parts, weights @ ratio.wholes)


@lru_cache(maxsize=2)
def _weights(episodes: int) -> Numbers:
    """How often each sample draws each episode. float64 [samples, episodes]."""
    drawn = np.random.default_rng(_SEED).integers(0, max(episodes, 1), (SAMPLES, episodes))
    return np.array([np.bincount(each, minlength=episodes) for each in drawn], dtype=np.float64)


def _divided(parts: Numbers, wholes: Numbers) -> Numbers:
    found: Numbers = np.divide(parts, wholes, out=np.full(len(parts), np.nan), where=wholes > 0)
    return found


def _estimate(value: float | None, drawn: Numbers) -> Estimate:
    known = drawn[~np.isnan(drawn)]
    if value is None or not len(known):
        return Estimate(value)
    low, high = np.percentile(known, _MIDDLE)
    return Estimate(value, float(low), float(high))
