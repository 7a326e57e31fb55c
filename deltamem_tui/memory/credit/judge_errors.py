"""How often a judge is wrong, where others know better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from deltamem_tui.memory.credit.intervals import Share


@dataclass(frozen=True, slots=True)
class JudgeErrors:
    """How often the judge was wrong, where others knew better.

    Attributes:
        false_accepts: Of the episodes that failed, those that it took for a success.
        false_rejects: Of those that succeeded, those that it took for a failure.
    """

    false_accepts: Share
    false_rejects: Share


def errors_among(words: Iterable[tuple[bool | None, bool | None]]) -> JudgeErrors:
    """Count them in pairs of what is known and what the judge said; None where that is nothing.

    They are without bias over a random sample only: a review queue puts errors first.
    """
    counts = Counter(words)
    wrong, right = counts[False, True], counts[False, False]
    missed, seen = counts[True, False], counts[True, True]
    return JudgeErrors(Share(wrong + right, wrong), Share(missed + seen, missed))
