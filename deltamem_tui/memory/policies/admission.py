"""Admission: whose report of an episode's outcome is good enough for it to be learnt.

Agents follow what they recall, so one wrong record breeds others. A judge model is often
wrong, and a bank that takes in whatever it approves ends up worse than one that never
grows; what the environment or a person says is the strict standard (papers, memory management).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from deltamem_tui.errors import UsageError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import OUTCOME_SOURCES, Outcome, OutcomeSource

Policy = Literal["all", "stated", "strict"]
POLICIES: tuple[Policy, ...] = get_args(Policy)
DEFAULT_POLICY: Policy = "strict"

_ADMITTED: Mapping[Policy, frozenset[OutcomeSource]] = {
    "all": frozenset(OUTCOME_SOURCES),
    "stated": frozenset({"stated"}),
    "strict": frozenset({"stated", "user"}),
}


def admitted_by(policy: Policy, outcome: Outcome) -> bool:
    """Whether an episode that ended so may be learnt. One whose end is unknown never may.

    Args:
        policy: `strict` takes the log's own word and a person's, `stated` the log's alone,
            `all` also a judge model's.
        outcome: How the episode ended, and who says so.
    """
    return outcome.known and outcome.source in _ADMITTED[policy]


def policy_named(name: str | None) -> Policy:
    """The policy that was chosen; the strict one if none was.

    Raises:
        UsageError: There is no such policy.
    """
    if name is None:
        return DEFAULT_POLICY
    for policy in POLICIES:
        if policy == name:
            return policy
    raise UsageError(
        f"there is no way to admit {one_line(name, 40)!r}", hint=f"one of {', '.join(POLICIES)}"
    )
