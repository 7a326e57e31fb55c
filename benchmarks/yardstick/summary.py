"""What the games of one context come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SAMPLES = 2000


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
    scores = np.array([each.score for each in results])
    low, high = interval(scores)
    return {
        "games": len(results),
        "score": round(float(scores.mean()), 3),
        "interval": [round(low, 3), round(high, 3)],
        "steps": round(float(np.mean([each.steps for each in results])), 1),
        "tokens": round(float(np.mean([each.tokens for each in results]))),
    }


def interval(scores: NDArray[np.float64]) -> tuple[float, float]:
    """The middle 95 % of the means of samples drawn from the scores, the same in each run."""
    drawn = np.random.default_rng(7).choice(scores, (_SAMPLES, len(scores)))
    low, high = np.percentile(drawn.mean(axis=1), [2.5, 97.5])
    return float(low), float(high)
