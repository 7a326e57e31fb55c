"""Synapse's write: an episode that succeeded is appended as an exemplar.

An exemplar is a dialogue: what the agent saw, cut to what it needed by rules (Synapse's
abstraction), and what it did. Of what was seen, that which the action uses comes first, then what
the task names, then what was not seen before; the parts that are kept stay in their own order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.context import fenced
from deltamem_tui.memory.domain import domain_for
from deltamem_tui.memory.findings import is_thought
from deltamem_tui.memory.plan import (
    CollectionResult,
    LearnResult,
    Plan,
    addition,
    credited,
)
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.rules_extractor import skimmed
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.synapse.definition import EXEMPLARS, NEAREST, SynapseNumbers
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.search import Candidate, scan_by_use
from deltamem_tui.memory.wording import condense, key
from deltamem_tui.memory.work_context import with_context
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean, count_tokens, one_line
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORDS = 60
_READ = 8000  # characters of one answer
_MOST_PARTS = 200
_WORD = re.compile(r"[^\W_][\w'-]*")
_SMALL = frozenset(("to", "in", "on", "into", "from", "with", "and", "the", "a", "an", "go", "of"))


def plan(
    bank: Bank,
    episode: Trajectory,
    writer: Writer,  # noqa: ARG001 - the observations are abstracted by rules alone
    embedder: Embedder,
) -> Plan[LearnResult]:
    """Count what the episode would be shown; append it if it succeeded."""
    success, task = bool(episode.outcome.success), clean(episode.task).strip()
    found = rank(bank, EXEMPLARS, task, embedder.embed_queries([task])[0], 1) if task else None
    changes = credited(found, success=success)
    node, reason = _exemplar(episode, task)
    if node:
        changes.insert(0, addition(bank.tree(EXEMPLARS), node, embedder))
    result = CollectionResult(
        EXEMPLARS,
        "exemplar" if node else "skip",
        reason,
        node,
        match=found.match.node.id if found and found.match else None,
        score=found.candidates[0].score if found and found.candidates else None,
    )
    return Plan(LearnResult(episode.id, True, {EXEMPLARS: result}), tuple(changes))


def _exemplar(episode: Trajectory, task: str) -> tuple[Node | None, str]:
    """Return the exemplar that an episode becomes, or None, and why."""
    if not episode.outcome.success:
        return None, "the episode failed"
    payload = {"task": task, "dialogue": dialogue_of(episode)}
    if not all(payload.values()):
        return None, "the episode has no task" if payload["dialogue"] else "nothing was done"
    origin = Origin(trajectory=episode.id, outcome_source=episode.outcome.source)
    return born(EXEMPLARS, None, "success", payload, origin), "a success"


def dialogue_of(episode: Trajectory) -> str:
    """Return two lines a step: the observation before it in at most 60 words, and the action.

    Steps at which the agent only thought are left out; so is an observation that says nothing.
    Empty if nothing was done.
    """
    read = skimmed(episode)
    lines: list[str] = []
    for seen, step in zip(observations(read), read.steps, strict=True):
        action = one_line(step.action)
        if action and not is_thought(action):
            lines += [f"Observation: {seen}"] * bool(seen) + [f"Action: {action}"]
    return "\n".join(lines)


def observations(trajectory: Trajectory) -> tuple[str, ...]:
    """Return what was seen before each step, each in at most 60 words and on one line.

    Before the first step the environment was seen; what answers a thought is not seen. ` … `
    stands where parts were left out. Names stay as they are.
    """
    named = " ".join(name for _, name in domain_for(trajectory.domain).goal(trajectory).slots)
    wanted = _words(named or trajectory.task)
    parts = _parts(trajectory.environment, trajectory.domain)
    known: set[str] = set()
    texts = []
    for step in trajectory.steps:
        texts.append(_needed(parts, _words(step.action), wanted, known))
        if not is_thought(step.action):
            known |= {key(part) for part in parts}
            parts = _parts(step.observation, trajectory.domain)
    return tuple(texts)


def _needed(parts: Sequence[str], used: set[str], wanted: set[str], known: set[str]) -> str:
    """Return the parts that say most, as many as fit, in their own order."""

    def rank_of(number: int) -> tuple[int, int]:
        words = _words(parts[number])
        is_new = key(parts[number]) not in known
        # The first part says where the agent is.
        needs = 3 * (number == 0 or bool(words & used)) + 2 * bool(words & wanted) + is_new
        return -needs, number

    left, kept = _WORDS, set[int]()
    for number in sorted(range(len(parts)), key=rank_of):
        cost = count_tokens(parts[number]) + 1  # with a mark for what is left out before it
        if cost <= left:
            kept.add(number)
            left -= cost
    texts = []
    for number in sorted(kept):
        texts += ["…"] * (number > 0 and number - 1 not in kept) + [parts[number]]
    return " ".join(texts) + (" …" if kept and len(parts) - 1 not in kept else "")


def _parts(text: str, domain: str) -> list[str]:
    """Return the parts of an answer: sentences, lines, the things of a list."""
    text = "\n".join(filter(None, map(one_line, text[:_READ].splitlines())))
    parts = domain_for(domain).parts(text)[:_MOST_PARTS]
    return [condense(part, _WORDS // 3) for part in parts if part]


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)} - _SMALL


def recall(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """Recall the nearest exemplars, as dialogues, best first."""
    task = clean(query.task).strip()
    if not task:
        return RecallResult({EXEMPLARS: None}, "")
    vector = embedder.embed_queries([task])[0]
    found = rank(bank, EXEMPLARS, task, vector, query.count, query.settings)
    return with_context(bank, query, {EXEMPLARS: found}, embedder, _entries)


def rank(
    bank: Bank,
    collection: str,
    text: str,
    vector: NDArray[np.float32],
    count: int,
    settings: Settings | None = None,
) -> CollectionRecall:
    """Return the nearest exemplars, each a chain of its own; see `Method.rank`."""
    numbers = of_bank(bank, SynapseNumbers, settings)
    tree = bank.tree(collection)
    scan = scan_by_use(tree, weighting_of(bank), lambda tree: tree.failure)
    found = tuple(
        Candidate(tree.node_at(row), similarity, 0.0, score, NEAREST)
        for row, similarity, score in scan.best(vector, 0.0, max(numbers.k, count))
    )
    kept = _within([each.node for each in found[: numbers.k]], numbers.budget)
    return CollectionRecall(collection, text, -1.0, found, tuple((node,) for node in kept), NEAREST)


def _within(exemplars: list[Node], budget: int | None) -> list[Node]:
    """Return the exemplars that a budget of tokens holds, the first ones first, each whole."""
    if budget is None:
        return exemplars
    kept = []
    for each in exemplars:
        budget -= count_tokens(each.text)
        if budget < 0:
            break
        kept.append(each)
    return kept


def _entries(exemplars: Sequence[Node]) -> list[str]:
    """Return exemplars as they stand in a prompt: a task, and the turns of its dialogue."""
    return [
        f"### Exemplar\nTask: {fenced(each.payload['task'])}\n{fenced(each.payload['dialogue'])}"
        for each in exemplars
    ]
