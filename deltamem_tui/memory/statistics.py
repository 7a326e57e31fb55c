"""A bank in numbers: its nodes and episodes, what was paid for it, and what could not be learnt."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from deltamem_tui.bank import usage_log
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.tree import Tree
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.episodes.stored_episodes import waiting
from deltamem_tui.memory.plan import REASON_WIDTH
from deltamem_tui.text import count_tokens, one_line

_MOST_TOKENS = 2**53


@dataclass(frozen=True, slots=True)
class TreeStatistics:
    """The numbers of one tree.

    Attributes:
        failures: Nodes written by failed episodes.
        consolidated: Residuals whose chain was fused into a new root.
        max_depth: The deepest level; 0 for an empty tree.
        mean_tokens_root: Whitespace-separated tokens of a root on average; None without roots.
        mean_tokens_residual: The same of a residual.
        hits: Sum of c(v).
    """

    nodes: int
    roots: int
    residuals: int
    failures: int
    consolidated: int
    max_depth: int
    depths: Mapping[int, int]
    mean_tokens_root: float | None
    mean_tokens_residual: float | None
    tokens: int
    hits: int


@dataclass(frozen=True, slots=True)
class BankStatistics:
    """The numbers of a bank.

    Attributes:
        episodes: Episodes the bank was given.
        learnt: How many of them were learnt.
        without_outcome: How many of those wait for an outcome.
    """

    trees: Mapping[str, TreeStatistics] = field(default_factory=dict)
    episodes: int = 0
    learnt: int = 0
    waiting: int = 0
    without_outcome: int = 0


def bank_statistics(bank: Bank) -> BankStatistics:
    """Count everything that the bank's handle shows. Reads every node once."""
    unlearnt = [trajectory.outcome.known for trajectory in waiting(bank)]
    return BankStatistics(
        trees={name: tree_statistics(tree) for name, tree in bank.trees.items()},
        episodes=len(bank.episodes),
        learnt=bank.episodes.learnt(),
        waiting=len(unlearnt),
        without_outcome=unlearnt.count(False),
    )


def tree_statistics(tree: Tree) -> TreeStatistics:
    """Count one tree."""
    tokens: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    depths: Counter[int] = Counter()
    failures = consolidated = hits = 0
    for node in tree:
        kinds[node.kind] += 1
        tokens[node.kind] += count_tokens(node.text)
        depths[node.depth] += 1
        failures += node.label == "failure"
        consolidated += node.consolidated
    if len(tree):
        hits = int(tree.snapshot.counters[tree.birth[tree.rows], 0].sum())
    return TreeStatistics(
        nodes=len(tree),
        roots=kinds["root"],
        residuals=kinds["residual"],
        failures=failures,
        consolidated=consolidated,
        max_depth=max(depths, default=0),
        depths=dict(sorted(depths.items())),
        mean_tokens_root=_mean(tokens["root"], kinds["root"]),
        mean_tokens_residual=_mean(tokens["residual"], kinds["residual"]),
        tokens=tokens.total(),
        hits=hits,
    )


def _mean(total: int, count: int) -> float | None:
    return round(total / count, 1) if count else None


# Payments and refusals


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
    """Read the whole journal and `usage.jsonl`, as far as they are there, whoever wrote them.

    What is not of the form that it should be is passed over.

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
