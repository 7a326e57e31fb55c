"""Payments for a bank, and its episodes that could not be learnt.

All of `usage.jsonl` and the journal is read, whoever wrote them: what is not of the form that it
should be is passed over.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from deltamem_tui.bank import usage_log
from deltamem_tui.bank.bank import Bank
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.plan import REASON_WIDTH
from deltamem_tui.text import one_line

_MOST_TOKENS = 2**53


@dataclass(frozen=True, slots=True)
class Refused:
    """An episode that waits because it could not be learnt: why, and when it was last tried."""

    trajectory: str
    reason: str
    time: str


@dataclass(frozen=True, slots=True)
class History:
    """The cost of all questions, used or not, and the episodes that wait, the last tried last."""

    usage: Usage
    refused: tuple[Refused, ...]


def history(bank: Bank) -> History:
    """Read the whole journal and `usage.jsonl`, as far as they are there.

    Raises:
        BankCorruptError: A line of the journal is not a commit.
    """
    usage = sum(map(_usage_in, usage_log.records(bank.path)), Usage())
    refused: dict[str, Refused] = {}
    for commit in bank.journal.commits() if bank.journal.exists else ():
        trajectory = commit.detail.get("trajectory")
        if not isinstance(trajectory, str):
            continue
        refused.pop(trajectory, None)
        if commit.event == "refuse":
            reason = one_line(str(commit.detail.get("reason", "")), REASON_WIDTH)
            refused[trajectory] = Refused(trajectory, reason, one_line(commit.time, 40))
    waiting = set(bank.episodes.waiting()) if refused else set()
    return History(usage, tuple(each for each in refused.values() if each.trajectory in waiting))


def _usage_in(record: object) -> Usage:
    """Return what a record says that a question took; nothing if it does not say."""
    if not isinstance(record, dict) or "prompt_tokens" not in record:
        return Usage()
    names = ("calls", "cached", "prompt_tokens", "completion_tokens")
    calls, cached, prompt, completion = (_natural(record.get(name)) for name in names)
    return Usage(calls, cached, prompt, completion, _dollars(record.get("cost")))


def _natural(value: object) -> int:
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else 0


def _dollars(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < math.inf else None
