"""AWM's recall: all workflows of a task's kind, in order of birth, without any ranking.

A task whose kind the rules do not understand is taken to be of the kind whose name is nearest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.lexical import Lexical
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.awm.definition import KIND, NEAREST, SOLVED, WORKFLOWS
from deltamem_tui.memory.context import fenced
from deltamem_tui.memory.domain import goal_of
from deltamem_tui.memory.kinds import task_kind
from deltamem_tui.memory.procedure import filled
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.search import Candidate, nodes_with_key, ranked
from deltamem_tui.memory.work_context import with_context
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory


def recall(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """Recall all workflows of the task's kind."""
    task = clean(query.task).strip()
    if not task:
        return RecallResult({WORKFLOWS: None, SOLVED: None}, "")
    found = {WORKFLOWS: _workflows(bank, task, embedder, query.count), SOLVED: None}
    answer = found[WORKFLOWS]
    group = answer.chain[0].payload["group"] if answer and answer.chain else ""
    solved = _of_group(bank.tree(SOLVED), group, embedder)
    shared = Lexical([each.payload["task"] for each in solved]).scores(task)
    near = sorted(zip(shared, range(len(solved)), strict=True), reverse=True)
    entries = partial(context_entries, bank.manifest.domain, task)
    sources = (episode for _, at in near for episode in solved[at].origin.episodes)
    return with_context(bank, query, found, embedder, entries, sources)


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
    nodes = _of_group(tree, kind, embedder)
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


def _of_group(tree: Tree, kind: str, embedder: Embedder) -> list[Node]:
    return nodes_with_key(tree, kind, embedder.embed_passages([kind])[0]) if kind else []


def context_entries(domain: str, task: str, workflows: Sequence[Node]) -> list[str]:
    """Return the workflows as they stand in a prompt, what the task names in place of blanks."""
    goal = goal_of(domain, task)
    names = dict(goal.slots) if goal.understood else {}
    return [
        f"### Workflow: {fenced(filled(node.payload['title'], names))}\n"
        f"{fenced(filled(node.payload['steps'], names))}"
        for node in workflows
    ]
