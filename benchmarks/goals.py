"""A benchmark's result: what was measured against what was wanted, as one JSON line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson


@dataclass(frozen=True, slots=True)
class Goal:
    """One number and its limit.

    Attributes:
        name: What the number is.
        value: What was measured.
        side: Whether the number shall stay `at most`, `below` or `at least` the limit.
        limit: The limit.
    """

    name: str
    value: float
    side: Literal["at most", "below", "at least"]
    limit: float

    @property
    def met(self) -> bool:
        """Whether the number keeps to its limit."""
        if self.side == "at least":
            return self.value >= self.limit
        return self.value < self.limit if self.side == "below" else self.value <= self.limit


def line(benchmark: str, goals: Iterable[Goal], measured: Mapping[str, Any]) -> str:
    """Return a benchmark's result as one line of JSON.

    Args:
        benchmark: Its name.
        goals: What it is held against.
        measured: Everything else worth knowing.
    """
    stated = list(goals)
    record = {
        "benchmark": benchmark,
        "met": all(goal.met for goal in stated),
        "goals": {
            goal.name: {
                "value": goal.value,
                "goal": f"{goal.side} {goal.limit:g}",
                "met": goal.met,
            }
            for goal in stated
        },
        **measured,
    }
    return orjson.dumps(_rounded(record)).decode()


def skipped(benchmark: str, reason: str) -> str:
    """Return the line of a benchmark that cannot run here."""
    return orjson.dumps({"benchmark": benchmark, "met": None, "skipped": reason}).decode()


def _rounded(value: Any) -> Any:
    """Numbers with four digits that count: the rest is noise."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, Mapping):
        return {str(key): _rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return value
