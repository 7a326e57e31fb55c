"""AWM's recall: all workflows of a task's kind, in order of birth, without any ranking.

Where a log or a model named the kind otherwise than the rules, it is the kind whose workflows come
from a task that the rules take for the same. A task whose kind the rules do not understand is taken
to be of the kind whose name is nearest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.awm.definition import KIND, NEAREST, SOLVED, WORKFLOWS
from deltamem_tui.memory.context import compose, fenced
from deltamem_tui.memory.domain import goal_of
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.memory.kinds import task_kind
from deltamem_tui.memory.procedure import filled
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.settings import Settings
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.exact import nodes_with_key
from deltamem_tui.memory.vectors.search import Candidate, ranked
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory

_NO_THRESHOLD = -1.0
_LOOKED_AT = 200


def recall(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """Recall all workflows of the task's kind."""
    found = recall_workflows(bank, query.task, embedder, query.count)
    shown = [chain[0] for chain in found.chains] if found else []
    entries = context_entries(bank.manifest.domain, query.task, shown)
    context = compose(bank.manifest.domain, entries, query.folders)
    return RecallResult({WORKFLOWS: found, SOLVED: None}, context)


def questions(episode: Trajectory) -> Mapping[str, str]:
    """Return the task for the workflows; solved tasks are not asked for."""
    return {WORKFLOWS: clean(episode.task).strip(), SOLVED: ""}


def placement(collection: str, found: CollectionRecall | None, settings: Settings) -> str:  # noqa: ARG001
    """Say that workflows come from all successes of a kind."""
    if found is None:
        return "not asked"
    new = "no workflow of its kind is known; a" if found.new_kind else "a"
    return f"{new} success would have the workflows of its kind induced anew"


def recall_workflows(
    bank: Bank, task: str, embedder: Embedder, count: int = 1
) -> CollectionRecall | None:
    """Return the workflows for a task, and the next kinds' as candidates; None if there is no
    task.
    """
    task = clean(task).strip()
    if not task:
        return None
    tree = bank.tree(WORKFLOWS)
    vector = embedder.embed_queries([task])[0]
    weighting = weighting_of(bank)
    near = [each for _, each in ranked(tree, vector, weighting, 0.0, count)]
    kind = task_kind(bank.manifest.domain, task)
    rule, score = (KIND, 1.0) if kind else (NEAREST, near[0].score if near else 0.0)
    kind = kind or (near[0].node.payload["group"] if near else "")
    nodes = _workflows(tree, kind, embedder)
    if rule == KIND and not nodes:
        others = (each.node for _, each in ranked(tree, vector, weighting, 0.0, _LOOKED_AT))
        nodes = _workflows(tree, _named_otherwise(bank, kind, others), embedder)
    shown = {node.id for node in nodes}
    candidates = [Candidate(node, score, 0.0, score, rule) for node in nodes]
    candidates += [each for each in near if each.node.id not in shown]
    return CollectionRecall(
        WORKFLOWS,
        task,
        _NO_THRESHOLD,
        tuple(candidates[: max(count, len(nodes))]),
        tuple((node,) for node in nodes),
        rule,
        new_kind=rule == KIND and not nodes,
    )


def _workflows(tree: Tree, kind: str, embedder: Embedder) -> list[Node]:
    return nodes_with_key(tree, kind, embedder.embed_passages([kind])[0]) if kind else []


def _named_otherwise(bank: Bank, kind: str, workflows: Iterable[Node]) -> str:
    """By what name the workflows go that come from a task of a kind; empty if none does."""
    first = {node.payload["group"]: node.origin.trajectory for node in workflows}
    for name, source in first.items():
        known = episode(bank, source) if source else None
        if known and task_kind(bank.manifest.domain, known.task) == kind:
            return name
    return ""


def context_entries(domain: str, task: str, workflows: list[Node]) -> list[str]:
    """Return the workflows as they stand in a prompt, what the task names in place of their
    blanks.
    """
    goal = goal_of(domain, task)
    names = dict(goal.slots) if goal.understood else {}
    return [
        f"### Workflow: {fenced(filled(node.payload['title'], names))}\n"
        f"{fenced(filled(node.payload['steps'], names))}"
        for node in workflows
    ]
