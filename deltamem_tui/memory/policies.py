"""Policies for every method: which episodes are admitted, and which nodes are forgotten.

Agents follow what they recall, so one wrong record breeds others. A judge model is often wrong, and
a bank that takes in whatever it approves ends up worse than one that never grows; what the
environment or a person says is the strict standard (papers, memory management).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from deltamem_tui.trajectory.model import OUTCOME_SOURCES, Outcome, OutcomeSource, Trajectory

Forgetting = Literal["none", "periodical", "history", "combined"]

Policy = Literal["none", "all", "coarse", "stated", "strict", "coarse-then-strict"]

_EVERY = frozenset(OUTCOME_SOURCES)
_ADMITTED: Mapping[Policy, frozenset[OutcomeSource]] = {
    "none": frozenset(),
    "all": _EVERY,
    "coarse": frozenset({"judge"}),
    "stated": frozenset({"stated"}),
    "strict": frozenset({"stated", "user"}),
    "coarse-then-strict": _EVERY,
}


def admitted_by(policy: Policy, outcome: Outcome) -> bool:
    """Return whether an episode with an outcome may be learnt; an unknown one never may."""
    return outcome.known and outcome.source in _ADMITTED[policy]


def as_admitted(policy: Policy, episode: Trajectory) -> Trajectory | None:
    """Return the episode as a policy lets it be learnt; None if it does not.

    By `coarse` it is learnt as the judge says that it ended, even where log or person said
    otherwise; by all others, by the outcome that counts at that time.
    """
    if policy == "coarse":
        for word in episode.verdicts:
            if admitted_by(policy, word):
                others = (each for each in episode.verdicts if each is not word)
                return episode.with_facts(outcome=word, verdicts=(episode.outcome, *others))
    return episode if admitted_by(policy, episode.outcome) else None
