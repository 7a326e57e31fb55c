"""History: what a bank's journal tells of all that was paid and of what could not be learnt.

The journal is read from its first line to its last, so only who asks for it pays for it. It may
come from a stranger: what is not of the form it should be is passed over.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.journal import Commit
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.learn_result import REASON_WIDTH
from deltamem_tui.text import one_line

_MOST_TOKENS = 2**53


@dataclass(frozen=True, slots=True)
class Refused:
    """An episode that waits because it could not be learnt.

    Attributes:
        trajectory: Its id.
        reason: Why, in one line.
        time: When it was last tried, in UTC.
    """

    trajectory: str
    reason: str
    time: str


@dataclass(frozen=True, slots=True)
class History:
    """What a bank's journal tells.

    Attributes:
        usage: What all questions took, those that came to nothing included.
        refused: The waiting episodes that were tried in vain, in the order of their last try.
    """

    usage: Usage
    refused: tuple[Refused, ...]


def history(bank: Bank) -> History:
    """Read the whole journal. A bank without one has no history.

    Raises:
        BankCorruptError: A line is not a commit.
    """
    usage = Usage()
    refused: dict[str, Refused] = {}
    for commit in bank.journal.commits() if bank.journal.exists else ():
        usage += told_by(commit)
        trajectory = commit.detail.get("trajectory")
        if not isinstance(trajectory, str):
            continue
        refused.pop(trajectory, None)
        if commit.event == "refuse":
            reason = one_line(str(commit.detail.get("reason", "")), REASON_WIDTH)
            refused[trajectory] = Refused(trajectory, reason, one_line(commit.time, 40))
    waiting = set(bank.episodes.waiting()) if refused else set()
    return History(usage, tuple(each for each in refused.values() if each.trajectory in waiting))


def told_by(commit: Commit) -> Usage:
    """What the questions to models took that one commit tells of."""
    return sum((usage_in(call) for call in _calls(commit.event, commit.detail)), Usage())


def _calls(event: str, detail: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The records of the questions to a model that a commit tells of.

    Where the journal was folded, the sum of all questions before stands in for them.
    """
    before = detail.get("folded")
    if event == "compact" and isinstance(before, dict) and isinstance(before.get("usage"), dict):
        yield before["usage"]
    places = [detail]
    trees = detail.get("trees")
    if event == "learn" and isinstance(trees, dict):
        places += [tree for tree in trees.values() if isinstance(tree, dict)]
    for place in places:
        calls = place.get("calls")
        if isinstance(calls, list):
            yield from (call for call in calls if isinstance(call, dict))


def usage_in(call: object) -> Usage:
    """What a record of a question says that it took; nothing if it is no such record."""
    if not isinstance(call, dict):
        return Usage()
    names = ("calls", "cached", "prompt_tokens", "completion_tokens")
    calls, cached, prompt, completion = (_natural(call.get(name)) for name in names)
    return Usage(calls, cached, prompt, completion, _dollars(call.get("cost")))


def _natural(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return value if 0 <= value <= _MOST_TOKENS else 0


def _dollars(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < math.inf else None
