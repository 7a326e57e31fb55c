"""How sure a share of few episodes is: intervals at 95 %.

A share has Wilson's score interval (1927), which stays within 0 and 1 and says little of three.
A difference of two shares has Newcombe's hybrid of two of them (1998, method 10), and a weighted
mean of such differences the same with the weights squared (Zou and Donner 2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

LEVEL = 0.95
_Z = 1.959963984540054
"""The 0.975 quantile of the normal distribution."""


@dataclass(frozen=True, slots=True)
class Share:
    """So many successes among judged episodes."""

    judged: int = 0
    successes: int = 0

    @property
    def mean(self) -> float | None:
        """The share; None of nothing."""
        return self.successes / self.judged if self.judged else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's score interval: (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n)."""
        if not self.judged:
            return 0.0, 1.0
        n, mean = self.judged, self.successes / self.judged
        middle = mean + _Z**2 / (2 * n)
        around = _Z * sqrt(mean * (1 - mean) / n + _Z**2 / (4 * n**2))
        low, high = (middle - around) / (1 + _Z**2 / n), (middle + around) / (1 + _Z**2 / n)
        # What rounding leaves of a bound that is 0 or 1.
        return (0.0 if not self.successes else low), (1.0 if self.successes == n else high)

    def record(self) -> dict[str, Any]:
        """As commands print it."""
        low, high = self.interval
        return {
            "judged": self.judged,
            "successes": self.successes,
            "mean": self.mean,
            "low": low,
            "high": high,
        }


@dataclass(frozen=True, slots=True)
class Difference:
    """One share less another, and where it may lie."""

    value: float
    low: float
    high: float

    @property
    def is_clear(self) -> bool:
        """Whether its interval leaves out zero."""
        return self.low > 0 or self.high < 0


def difference(first: Share, second: Share) -> Difference | None:
    """What the first share is above the second; None if one is of nothing."""
    if first.mean is None or second.mean is None:
        return None
    (low, high), (least, most) = first.interval, second.interval
    value = first.mean - second.mean
    return Difference(
        value,
        value - sqrt((first.mean - low) ** 2 + (most - second.mean) ** 2),
        value + sqrt((high - first.mean) ** 2 + (second.mean - least) ** 2),
    )


def pooled(pairs: Sequence[tuple[Share, Share]]) -> Difference | None:
    """The mean of differences within kinds, weighted by n₁n₂/(n₁+n₂) as Mantel and Haenszel do.

    So a kind that is easy and shown often does not pass for help. Kinds without both are left out;
    None if none is left.
    """
    found = [(each, a, b) for a, b in pairs if (each := difference(a, b)) is not None]
    weights = [a.judged * b.judged / (a.judged + b.judged) for _, a, b in found]
    total = sum(weights)
    if not total:
        return None
    parts = [(weight / total, each) for weight, (each, _, _) in zip(weights, found, strict=True)]
    value = sum(weight * each.value for weight, each in parts)
    below = sum((weight * (each.value - each.low)) ** 2 for weight, each in parts)
    above = sum((weight * (each.high - each.value)) ** 2 for weight, each in parts)
    return Difference(value, value - sqrt(below), value + sqrt(above))
