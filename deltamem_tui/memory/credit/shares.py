"""Shares of judged episodes and how sure they are: Wilson's score interval at 95 %.

It stays within 0 and 1 and says little of three episodes (Wilson 1927).
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
        """True if its interval leaves out zero."""
        return self.low > 0 or self.high < 0


def difference(pairs: Sequence[tuple[Share, Share]]) -> Difference | None:
    """Return the mean of first shares less second ones, pair by pair, with its interval.

    Pairs are weighted by n1 n2 / (n1 + n2) as Mantel and Haenszel do, so that a kind of task that
    is easy and shown often does not pass for help. The interval takes, of each share, the distance
    from its mean to Wilson's bound (Newcombe 1998, method 10; Zou and Donner 2008). Pairs of which
    one side has no episode are left out; None if no pair is left.
    """
    both = [(a, b) for a, b in pairs if a.judged and b.judged]
    weights = [a.judged * b.judged / (a.judged + b.judged) for a, b in both]
    value = below = above = 0.0
    for (a, b), each in zip(both, weights, strict=True):
        weight, mine, other = each / sum(weights), a.mean or 0.0, b.mean or 0.0
        (low, high), (least, most) = a.interval, b.interval
        value += weight * (mine - other)
        below += weight**2 * ((mine - low) ** 2 + (most - other) ** 2)
        above += weight**2 * ((high - mine) ** 2 + (other - least) ** 2)
    return Difference(value, value - sqrt(below), value + sqrt(above)) if both else None
