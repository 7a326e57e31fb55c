"""The review queue: which episodes a person should look at first, and why. Nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.memory.episodes.outcomes import verdicts_on
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.work.signs import is_weak
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Outcome

Reason = Literal["disagreement", "unconfirmed", "weak"]
REASON_TEXTS: Mapping[Reason, str] = {
    "disagreement": "log and judge disagree",
    "unconfirmed": "a success by a judge's verdict alone",
    "weak": "only signs in the log say how it ended",
}
"""Why an episode is to be reviewed, the most urgent first."""
_WHO = {"stated": "log", "judge": "judge", "user": "you"}
_ENDS = {True: "success", False: "failure", None: "cannot tell"}


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A doubtful episode, and how `log` and `judge` say that it ended."""

    episode: str
    log: bool | None
    judge: bool | None
    learnt: bool
    reason: Reason

    @property
    def why(self) -> str:
        """The reason for a person."""
        return REASON_TEXTS[self.reason]


def review_queue(bank: Bank) -> list[ReviewItem]:
    """Return the episodes to review that no person judged, the most urgent first.

    Those of which log and judge disagree; then waiting successes that only a judge saw; then all
    whose end was read off signs, learnt or not. Reads every episode once.
    """
    found: list[ReviewItem] = []
    for each in episodes(bank):
        verdicts = verdicts_on(each)
        said = {verdict.source: verdict.success for verdict in verdicts}
        judge, stated = said.get("judge"), said.get("stated")
        learnt = bank.episodes.state(each.id) == EpisodeState.LEARNT
        if "user" in said or judge is None:
            continue
        if stated is not None and stated != judge:
            found.append(ReviewItem(each.id, stated, judge, learnt, "disagreement"))
        elif stated is None and any(map(is_weak, verdicts)):
            found.append(ReviewItem(each.id, stated, judge, learnt, "weak"))
        elif judge and stated is None and not learnt:
            found.append(ReviewItem(each.id, stated, judge, learnt, "unconfirmed"))
    return sorted(found, key=lambda each: each.reason)


def verdict_text(verdict: Outcome) -> str:
    """`judge: failure, the mug is not on the desk`."""
    reason = one_line(verdict.reason, 200)
    who = "log" if is_weak(verdict) else _WHO.get(verdict.source, verdict.source)
    said = f"{who}: {_ENDS[verdict.success]}"
    return f"{said}, {reason}" if reason and reason != _ENDS[None] else said
