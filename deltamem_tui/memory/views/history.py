"""What was paid for a bank, and what of its episodes could not be learnt.

The sum is that of `usage.jsonl` and of what the journal's older lines carry: before there was
`usage.jsonl`, the journal stated what each question took. No payment stands in both. All of it
is read, so this takes its time. It may come from a stranger: what is not of the form that it
should be is passed over.
"""

from __future__ import annotations

import fcntl
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deltamem_tui.bank import usage_log
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
        reason: Why, in one line.
        time: When it was last tried, in UTC.
    """

    trajectory: str
    reason: str
    time: str


@dataclass(frozen=True, slots=True)
class History:
    """What a bank has to tell of its past.

    Attributes:
        usage: What all questions took, also those whose answers were not used.
        refused: The waiting episodes that could not be learnt, in the order of their last try.
    """

    usage: Usage
    refused: tuple[Refused, ...]


def history(bank: Bank) -> History:
    """Read the whole journal and `usage.jsonl`, as far as they are there.

    Raises:
        BankCorruptError: A line of the journal is not a commit.
    """
    usage = sum(map(_usage_in, usage_log.records(bank.path)), Usage())
    usage += sum(left_payments(bank).values(), Usage())
    refused: dict[str, Refused] = {}
    for commit in bank.journal.commits() if bank.journal.exists else ():
        usage += _stated_by(commit)
        trajectory = commit.detail.get("trajectory")
        if not isinstance(trajectory, str):
            continue
        refused.pop(trajectory, None)
        if commit.event == "refuse":
            reason = one_line(str(commit.detail.get("reason", "")), REASON_WIDTH)
            refused[trajectory] = Refused(trajectory, reason, one_line(commit.time, 40))
    waiting = set(bank.episodes.waiting()) if refused else set()
    return History(usage, tuple(each for each in refused.values() if each.trajectory in waiting))


def left_payments(bank: Bank) -> dict[Path, Usage]:
    """What runs of earlier versions had paid that were killed before the journal stated it.

    Such a run noted its payments in a file of its own, `.paid-….draft`, and removed it once the
    journal had them all: what was `paid`, what the journal was `told` of that, and which
    episode or chain it was `telling`, `after` which commit.

    Returns:
        Per file that was left, what of it the bank states nowhere else.
    """
    paths = [] if bank.path.is_file() else sorted(bank.path.glob(".paid-*.draft"))
    recorded = (
        {str(record.get("left")) for record in usage_log.records(bank.path)} if paths else set()
    )
    found = {}
    for path in paths:
        with suppress(OSError), path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # its run may be alive
            if path.is_symlink():
                continue
            lines = [] if path.name in recorded else list(usage_log.parsed(file))
            found[path] = _left(bank, path.name, lines)
    return found


def _left(bank: Bank, name: str, lines: Sequence[Mapping[str, Any]]) -> Usage:
    left, about, after = Usage(), "", -1
    for line in lines:
        left = left + _usage_in(line.get("paid")) - _usage_in(line.get("told"))
        if "told" in line:
            about = ""
        if isinstance(line.get("after"), int):
            about, after = str(line.get("telling")), line["after"]
    for number, commit in enumerate(bank.journal.commits() if bank.journal.exists else ()):
        if commit.event == "paid" and commit.detail.get("ledger") == name:
            return Usage()
        if about and not number and commit.sequence > after + 1:
            return Usage()  # the journal was compacted: what it stated is not known any more
        # The commit may be there although the run was killed before it could note that.
        if about and commit.sequence > after and about in _subjects(commit):
            left -= _stated_by(commit)
    return replace(left, cached=0)


def _subjects(commit: Commit) -> Iterator[str]:
    """What a commit may be said to be about."""
    nodes = commit.detail.get("nodes")
    yield from (commit.event, str(commit.detail.get("trajectory")))
    if isinstance(nodes, list) and nodes:
        yield str(nodes[-1])


def _stated_by(commit: Commit) -> Usage:
    """What the questions to models took that one commit states."""
    return sum(map(_usage_in, _calls(commit.event, commit.detail)), Usage())


def _calls(event: str, detail: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The questions to a model that a commit records, or the sum of all that were compacted."""
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


def _usage_in(record: object) -> Usage:
    """What a record says that a question took; nothing if it does not say."""
    if not isinstance(record, dict) or "prompt_tokens" not in record:
        return Usage()
    names = ("calls", "cached", "prompt_tokens", "completion_tokens")
    calls, cached, prompt, completion = (_natural(record.get(name)) for name in names)
    return Usage(calls, cached, prompt, completion, _dollars(record.get("cost")))


def _natural(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return value if 0 <= value <= _MOST_TOKENS else 0


def _dollars(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < math.inf else None
