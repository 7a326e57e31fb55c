"""Synapse: a success is kept as a dialogue, and the nearest are handed over as demonstrations.

Of more than 60 words that the agent saw only what it needed is kept (Synapse's abstraction): where
it was, and what shares a word with its action or the task.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.domain import domain_for, is_thought
from deltamem_tui.memory.flat.definitions import EXEMPLARS, NEAREST, SynapseNumbers
from deltamem_tui.memory.flat.nearest import asked, learnt, nearest, of_success, recalled
from deltamem_tui.memory.method import skimmed
from deltamem_tui.memory.plan import LearnResult, Plan, addition, credited
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult, fenced
from deltamem_tui.memory.settings import of_bank
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import condense, count_tokens, one_line
from deltamem_tui.trajectory.model import Trajectory

_MOST_WORDS = 60
_LINE_END = re.compile(r"(?<=[^.,:;])\n")
_PARTS = re.compile(r"\n|(?<=you see) |(?<=[.,:;]) (?:and )?")
_WORD = re.compile(r"[^\W_][\w'-]*")
_SMALL = frozenset(("to", "in", "on", "into", "from", "with", "and", "the", "a", "an", "go", "of"))


def recall(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """Recall the nearest exemplars, as dialogues, best first."""
    return recalled(bank, query, embedder, EXEMPLARS, _ranked, _entries)


def _entries(_domain: str, _task: str, exemplars: Sequence[Node]) -> list[str]:
    return [
        f"### Exemplar\nTask: {fenced(each.payload['task'])}\n{fenced(each.payload['dialogue'])}"
        for each in exemplars
    ]


def _ranked(bank: Bank, query: Query, embedder: Embedder) -> CollectionRecall:
    """Return the nearest exemplars, as many as the budget holds."""
    numbers = of_bank(bank, SynapseNumbers, query.settings)
    budget = numbers.budget
    found = nearest(bank, EXEMPLARS, query, embedder, numbers.k, lambda tree: tree.failure)
    sizes = accumulate(count_tokens(each.node.text) for each in found[: numbers.k])
    kept = sum(budget is None or size <= budget for size in sizes)
    chains = tuple((each.node,) for each in found[:kept])
    return CollectionRecall(EXEMPLARS, query.task, -1.0, tuple(found), chains, NEAREST)


def plan(
    bank: Bank,
    episode: Trajectory,
    writer: Writer,  # noqa: ARG001 - nothing is put into words
    embedder: Embedder,
) -> Plan[LearnResult]:
    """Credit what the episode would be shown; append it if it succeeded."""
    query = asked(episode.task)
    found = _ranked(bank, query, embedder)
    changes = credited(found, success=bool(episode.outcome.success))
    node, reason = of_success(
        EXEMPLARS, episode, lambda: {"task": query.task, "dialogue": dialogue_of(episode)}
    )
    if node:
        changes.insert(0, addition(bank.tree(EXEMPLARS), node, embedder))
    return learnt(episode, "exemplar" if node else "skip", reason, node, changes, found)


def dialogue_of(episode: Trajectory) -> str:
    """Return two lines a step: what was seen before it in at most 60 words, and the action.

    Steps at which the agent only thought are left out. Empty if nothing was done.
    """
    read = skimmed(episode)
    named = " ".join(name for _, name in domain_for(read.domain).goal(read).slots)
    wanted, seen = _words(named or read.task), read.environment
    lines: list[str] = []
    for step in read.steps:
        action = one_line(step.action)
        if not action or is_thought(action):
            continue
        text = "\n".join(filter(None, map(one_line, seen.splitlines())))
        if count_tokens(text) > _MOST_WORDS:
            first, *others = _PARTS.split(_LINE_END.sub("; ", text))
            needed = wanted | _words(action)
            text = " ".join([first, *(each for each in others if _words(each) & needed)])
        if text:
            lines.append(f"Observation: {condense(text, _MOST_WORDS - 1)}")
        lines.append(f"Action: {action}")
        seen = step.observation
    return "\n".join(lines)


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)} - _SMALL
