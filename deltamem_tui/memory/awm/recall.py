"""AWM's recall: all workflows of a task's kind, in order of birth, without any ranking.

A task whose kind the rules do not understand is taken to be of the kind whose name is nearest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.awm.definition import KIND, NEAREST, SOLVED, WORKFLOWS
from deltamem_tui.memory.context import fenced
from deltamem_tui.memory.domain import goal_of
from deltamem_tui.memory.kinds import task_kind
from deltamem_tui.memory.procedure import filled
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.search import Candidate, nodes_with_key, ranked
from deltamem_tui.memory.work_context import context_of
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory


def recall(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """Recall all workflows of the task's kind."""
    task = clean(query.task).strip()
    if not task:
        return RecallResult({WORKFLOWS: None, SOLVED: None}, "")
    found = _workflows(bank, task, embedder, query.count)
    shown = [(each.node, each.similarity) for each in found.candidates if found.matches(each)]
    domain = bank.manifest.domain
    context = context_of(bank, query, shown, lambda nodes: context_entries(domain, task, nodes))
    return RecallResult({WORKFLOWS: found, SOLVED: None}, context)


def questions(episode: Trajectory) -> Mapping[str, str]:
    """Return the task for the workflows; solved tasks are not asked for."""
    return {WORKFLOWS: clean(episode.task).strip(), SOLVED: ""}


def _workflows(bank: Bank, task: str, embedder: Embedder, count: int) -> CollectionRecall:
    """Return the workflows for a task, and the next kinds' as candidates."""
    tree, vector = bank.tree(WORKFLOWS), embedder.embed_queries([task])[0]
    near = [each for _, each in ranked(tree, vector, weighting_of(bank), 0.0, count)]
    kind = task_kind(bank.manifest.domain, task)
    rule, score = (KIND, 1.0) if kind else (NEAREST, near[0].score if near else 0.0)
    kind = kind or (near[0].node.payload["group"] if near else "")
    nodes = nodes_with_key(tree, kind, embedder.embed_passages([kind])[0]) if kind else []
    shown = {node.id for node in nodes}
    candidates = [Candidate(node, score, 0.0, score, rule) for node in nodes]
    candidates += [each for each in near if each.node.id not in shown]
    return CollectionRecall(
        WORKFLOWS,
        task,
        -1.0,
        tuple(candidates[: max(count, len(nodes))]),
        tuple((node,) for node in nodes),
        rule,
        new_kind=rule == KIND and not nodes,
    )


def context_entries(domain: str, task: str, workflows: Sequence[Node]) -> list[str]:
    """Return the workflows as they stand in a prompt, what the task names in place of blanks."""
    goal = goal_of(domain, task)
    names = dict(goal.slots) if goal.understood else {}
    return [
        f"### Workflow: {fenced(filled(node.payload['title'], names))}\n"
        f"{fenced(filled(node.payload['steps'], names))}"
        for node in workflows
    ]
