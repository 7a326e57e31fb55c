"""AWM: routines that recur in the solved tasks of a kind, induced anew and recalled together.

Agent Workflow Memory, online. After each success the workflows of its kind are replaced as a set:
one whose steps come again keeps its node, with id and counts, and an answer without a workflow
changes nothing. Recall takes all of a kind, in order of birth; a task whose kind the rules do not
understand is taken to be of the kind whose name is nearest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.lexical import Lexical
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.domain import goal_of
from deltamem_tui.memory.findings import way_of
from deltamem_tui.memory.flat.definitions import (
    AWM,
    INDUCE,
    KIND,
    NEAREST,
    SOLVED,
    TASKS,
    WORKFLOWS,
)
from deltamem_tui.memory.flat.nearest import of_success, recalled
from deltamem_tui.memory.kinds import resolve_kind, task_kind
from deltamem_tui.memory.method import skimmed
from deltamem_tui.memory.plan import (
    Change,
    CollectionResult,
    Count,
    LearnResult,
    Plan,
    addition,
    deletion,
    set_change,
)
from deltamem_tui.memory.procedure import filled, numbered
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult, fenced
from deltamem_tui.memory.vectors.search import Candidate, nodes_with_key, ranked, weighting_of
from deltamem_tui.memory.writers.extraction import (
    NO_INPUTS,
    Extraction,
    Inputs,
    Notes,
    extraction_of,
)
from deltamem_tui.memory.writers.writer import Writer, written_of
from deltamem_tui.text import clean, counted
from deltamem_tui.trajectory.model import Trajectory

_LEAST = 2
"""The fewest steps of a workflow."""
_STEP = re.compile(r"\s*\d{1,4}[.)]\s+(\S.*)")


def recall(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """Recall all workflows of the task's kind."""

    def nearest_first(answer: CollectionRecall) -> Iterator[str]:
        group = answer.chain[0].payload["group"] if answer.chain else ""
        solved = _of_kind(bank.tree(SOLVED), group, embedder)
        shared = Lexical([each.payload["task"] for each in solved]).scores(answer.query)
        for _, at in sorted(zip(shared, range(len(solved)), strict=True), reverse=True):
            yield from solved[at].origin.episodes

    return recalled(bank, query, embedder, WORKFLOWS, _ranked, _entries, nearest_first)


def _ranked(bank: Bank, query: Query, embedder: Embedder) -> CollectionRecall:
    tree, rule, score = bank.tree(WORKFLOWS), KIND, 1.0
    kind = task_kind(bank.manifest.domain, query.task)
    if not kind:
        vector = embedder.embed_queries([query.task])[0]
        rule, near = NEAREST, ranked(tree, vector, weighting_of(bank), 0.0, 1)
        kind = near[0].node.payload["group"] if near else ""
        score = near[0].score if near else 0.0
    nodes = _of_kind(tree, kind, embedder)
    candidates = tuple(Candidate(node, score, 0.0, score, rule) for node in nodes)
    chains, new = tuple((node,) for node in nodes), rule == KIND and not nodes
    return CollectionRecall(WORKFLOWS, query.task, -1.0, candidates, chains, rule, new_kind=new)


def _of_kind(tree: Tree, kind: str, embedder: Embedder) -> list[Node]:
    return nodes_with_key(tree, kind, embedder.embed_passages([kind])[0]) if kind else []


def _entries(domain: str, task: str, workflows: Sequence[Node]) -> list[str]:
    """Return the workflows as they stand in a prompt, what the task names in place of blanks."""
    names = dict(goal_of(domain, task).slots)
    return [
        f"### Workflow: {fenced(filled(node.payload['title'], names))}\n"
        f"{fenced(filled(node.payload['steps'], names))}"
        for node in workflows
    ]


def plan(bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder) -> Plan[LearnResult]:
    """Credit what was used; keep a success, one a task, and induce from all of its kind."""
    trees = [bank.tree(name) for name in (WORKFLOWS, SOLVED)]
    found = resolve_kind(
        bank, episode, writer, lambda: (each.payload["group"] for each in trees[0])
    )
    kind, task = clean(found.task), clean(episode.task).strip()
    workflows, solved = (_of_kind(tree, kind, embedder) for tree in trees)
    way = "\n".join(numbered(way_of(skimmed(episode))))
    success = bool(episode.outcome.success)
    # An agent is shown all of its kind, so only what it did can tell them apart.
    changes: list[Change] = [
        Count(WORKFLOWS, each.id, success, 1, success)
        for each in workflows
        if _was_done(each, episode)
    ]
    new, reason = of_success(SOLVED, episode, lambda: {"task": task, "group": kind, "actions": way})
    if new and any(_folded(each.payload["task"]) == _folded(task) for each in solved):
        new, reason = None, "the same task was solved before"
    result = CollectionResult(WORKFLOWS, "skip", reason)
    known = {name for each in solved for name in each.origin.episodes}
    # A verdict that was overturned took its solved task away, and perhaps workflows.
    stale = [each for each in workflows if not known.issuperset(each.origin.episodes)]
    if new:
        changes.append(addition(trees[1], new, embedder))
    if new or stale or (solved and not workflows):
        lasting = [each for each in workflows if each not in stale]
        of_kind = [*solved, *filter(None, [new])]
        more: list[Change] = []
        if of_kind:
            result, more = _induced(trees[0], kind, lasting, of_kind, writer, embedder)
        if result.decision != "wait":
            changes += [*(deletion(WORKFLOWS, each) for each in stale), *more]
    result = replace(result, calls=(*found.calls, *result.calls))
    added = CollectionResult(SOLVED, "solved" if new else "skip", reason, new)
    learnt = LearnResult(episode.id, True, {WORKFLOWS: result, SOLVED: added})
    return Plan(learnt, tuple(changes), found.episode)


def _induced(
    tree: Tree,
    kind: str,
    workflows: Sequence[Node],
    solved: Sequence[Node],
    writer: Writer,
    embedder: Embedder,
) -> tuple[CollectionResult, list[Change]]:
    """Return what a writer makes of a kind's solved tasks; none changes nothing."""
    texts = [f"Task: {each.payload['task']}\n{each.payload['actions']}" for each in solved]
    inputs: Inputs = {KIND: kind, TASKS: tuple(reversed(texts))}  # the newest first
    written, found, calls = written_of(
        writer,
        INDUCE,
        workflows,
        lambda each: AWM.cleaned(WORKFLOWS, {"group": kind, **each}),
        ("induce", WORKFLOWS),
        inputs,
    )
    wanted = [each for each in found if len(actions_in(each["steps"])) >= _LEAST]
    if not wanted:
        reason = f"no workflow of two steps: {written.reason}"
        return CollectionResult(WORKFLOWS, "wait", reason, calls=calls), []
    gone, new = set_change(workflows, wanted, lambda each: _folded(*actions_in(each["steps"])))
    first, *others = [episode for each in solved for episode in each.origin.episodes]
    source = solved[-1].origin.outcome_source
    of_all = Origin(trajectory=first, outcome_source=source, sources=tuple(others))
    origin = written.origin(writer.name, before=of_all)
    added = [born(WORKFLOWS, None, "success", each, origin) for each in new]
    changes: list[Change] = [deletion(WORKFLOWS, each) for each in gone]
    changes += [addition(tree, each, embedder) for each in added]
    decision, node = ("induce", added[0]) if added else ("keep", None)
    return CollectionResult(WORKFLOWS, decision, written.reason, node, calls=calls), changes


# Workflows without a model


def write_by_rules(
    purpose: str, _episode: Trajectory | None, _notes: Notes, inputs: Inputs = NO_INPUTS
) -> Extraction:
    """Write what most tasks of a kind have in common; else the shortest way."""
    if purpose != INDUCE:
        raise ExtractionError(f"AWM does not write {purpose} by rules")
    texts = inputs[TASKS]
    ways = [actions_in(text) for text in ([texts] if isinstance(texts, str) else texts)]
    ways = sorted((way for way in ways if len(way) >= _LEAST), key=len)
    common, reason = common_steps(ways), f"what {counted(len(ways), 'solved task')} have in common"
    if len(ways) < 2 or len(common) < _LEAST:
        common, reason = [step for way in ways[:1] for step in way], "the shortest way known"
    workflow = {"title": str(inputs[KIND]), "steps": "\n".join(numbered(common))}
    return extraction_of([workflow] if common else [], reason)


def common_steps(ways: Sequence[Sequence[str]]) -> list[str]:
    """Return the steps of the first way that at least half of the others take in that order."""
    if not ways:
        return []
    first, *others = ways
    shared: Counter[int] = Counter()
    for other in others:
        blocks = SequenceMatcher(None, first, other, autojunk=False).get_matching_blocks()
        shared.update(at for same in blocks for at in range(same.a, same.a + same.size))
    return [step for at, step in enumerate(first) if 2 * shared[at] >= len(others)]


# Steps


def actions_in(text: str) -> list[str]:
    """Return the actions of numbered steps, with single spaces."""
    found = (_STEP.fullmatch(line) for line in text.splitlines())
    return [" ".join(step[1].split()) for step in found if step]


def _was_done(workflow: Node, episode: Trajectory) -> bool:
    """Return whether the steps of a workflow occur in an episode in their order."""
    did = map(_folded, way_of(skimmed(episode)))
    # Each is sought after the one before it.
    return all(_folded(each) in did for each in actions_in(workflow.payload["steps"]))


def _folded(*texts: str) -> str:
    return "\n".join(" ".join(text.casefold().split()) for text in texts)
