"""What the games of one context come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deltamem_tui.memory.replay.intervals import Ratio, interval


@dataclass(frozen=True, slots=True)
class Result:
    """A game that was played.

    Attributes:
        score: From 0 to 1.
        steps: Actions taken; the limit where the goal was not reached.
        tokens: Of the text that the agent was given.
    """

    score: float
    steps: int
    tokens: int


def summary(results: Sequence[Result]) -> dict[str, Any]:
    """The means over games, the score's with the middle 95 % of its bootstrap."""
    found = interval(Ratio.mean([each.score for each in results]))
    value, low, high = found.value or 0.0, found.low or 0.0, found.high or 0.0
    return {
        "games": len(results),
        "score": round(value, 3),
        "interval": [round(low, 3), round(high, 3)],
        "steps": round(float(np.mean([each.steps for each in results])), 1),
        "tokens": round(float(np.mean([each.tokens for each in results]))),
    }
