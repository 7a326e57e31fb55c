"""A bank in numbers: its nodes and episodes, what was paid for it, and what could not be learnt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from deltamem_tui.bank import usage_log
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.tree import Tree
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.episodes.stored_episodes import waiting
from deltamem_tui.memory.plan import REASON_WIDTH
from deltamem_tui.text import count_tokens, one_line


@dataclass(frozen=True, slots=True)
class TreeStatistics:
    """The numbers of one tree.

    Attributes:
        failures: Nodes written by failed episodes.
        consolidated: Residuals whose chain was fused into a new root.
        tokens: Separated by white space, in all texts.
        hits: Sum of c(v).
    """

    nodes: int
    roots: int
    residuals: int
    failures: int
    consolidated: int
    depths: Mapping[int, int]
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

    trees: Mapping[str, TreeStatistics]
    episodes: int
    learnt: int
    waiting: int
    without_outcome: int


def bank_statistics(bank: Bank) -> BankStatistics:
    """Count everything that the bank's handle shows. Reads every node once."""
    unlearnt = [trajectory.outcome.known for trajectory in waiting(bank)]
    return BankStatistics(
        trees={name: _of_tree(tree) for name, tree in bank.trees.items()},
        episodes=len(bank.episodes),
        learnt=bank.episodes.learnt(),
        waiting=len(unlearnt),
        without_outcome=unlearnt.count(False),
    )


def _of_tree(tree: Tree) -> TreeStatistics:
    depths: Counter[int] = Counter()
    roots = tokens = failures = consolidated = hits = 0
    for node in tree:
        roots += node.kind == "root"
        tokens += count_tokens(node.text)
        depths[node.depth] += 1
        failures += node.label == "failure"
        consolidated += node.consolidated
    if len(tree):
        hits = int(tree.snapshot.counters[tree.birth[tree.rows], 0].sum())
    return TreeStatistics(
        nodes=len(tree),
        roots=roots,
        residuals=len(tree) - roots,
        failures=failures,
        consolidated=consolidated,
        depths=dict(sorted(depths.items())),
        tokens=tokens,
        hits=hits,
    )


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
    """
    usage = Usage()
    for record in usage_log.records(bank.path):
        with suppress(msgspec.ValidationError):
            paid = msgspec.convert(record, Usage)
            if min(paid.calls, paid.prompt_tokens, paid.completion_tokens, paid.cost or 0) >= 0:
                usage += paid
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
