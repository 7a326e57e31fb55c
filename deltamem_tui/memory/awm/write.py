"""AWM's write: credit what was used, keep a success, and induce the workflows of its kind anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.awm.definition import SOLVED, WORKFLOWS, AwmNumbers
from deltamem_tui.memory.awm.induction import WorkflowGroup, induce, was_done, way_of
from deltamem_tui.memory.kinds import resolve_kinds, task_kind
from deltamem_tui.memory.learn_result import CollectionResult, LearnResult
from deltamem_tui.memory.method import no_rows
from deltamem_tui.memory.plan import Change, Count, Due, MaintenanceResult, Plan, Revise
from deltamem_tui.memory.record_sets import addition
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.writers.extraction import Call
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean, counted
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def plan(bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder) -> Plan[LearnResult]:
    """Credit what was used; keep a success and induce from it."""
    numbers = of_bank(bank, AwmNumbers)
    is_clear = task_kind(episode.domain or bank.manifest.domain, episode.task)
    kinds = resolve_kinds(bank, episode, writer, () if is_clear else known_kinds(bank))
    group = WorkflowGroup.of(bank, clean(kinds.kinds.task.name), embedder)
    solved, reason = _solved(group, episode)
    changes: list[Change] = []
    result = CollectionResult(WORKFLOWS, "skip", reason, calls=kinds.calls)
    if solved:
        solved, result, changes = _with_induction(bank, group, solved, numbers, writer, kinds.calls)
        changes.insert(0, addition(bank.tree(SOLVED), solved, group.vector))
    added = CollectionResult(SOLVED, "solved" if solved else "skip", reason, solved)
    results = {WORKFLOWS: result, SOLVED: added}
    changes = [*_credit(group, episode), *changes]
    return Plan(LearnResult(episode.id, True, results), tuple(changes), kinds.episode)


def _credit(group: WorkflowGroup, episode: Trajectory) -> list[Count]:
    """Return counts of the workflows whose steps the episode took, in their order.

    An agent is shown all of its group, so only what it did can tell them apart.
    """
    success = bool(episode.outcome.success)
    return [
        Count(WORKFLOWS, each.id, success, 1, success)
        for each in group.workflows
        if was_done(each.payload["steps"], episode)
    ]


def _solved(group: WorkflowGroup, episode: Trajectory) -> tuple[Node | None, str]:
    """Return the node of a success, one a task, or None, and why."""
    if not episode.outcome.success:
        return None, "the episode failed"
    payload = {"task": clean(episode.task).strip(), "group": group.kind, "actions": way_of(episode)}
    if not all(payload.values()):
        return None, "the episode has no task" if payload["actions"] else "nothing was done"
    if any(_template(each.payload["task"]) == _template(payload["task"]) for each in group.solved):
        return None, "the same task was solved before"
    origin = Origin(trajectory=episode.id, outcome_source=episode.outcome.source)
    return born(SOLVED, None, "success", payload, origin), "a success"


def _template(task: str) -> str:
    return " ".join(task.casefold().split())


def _with_induction(
    bank: Bank,
    group: WorkflowGroup,
    new: Node,
    numbers: AwmNumbers,
    writer: Writer,
    calls: tuple[Call, ...],
) -> tuple[Node, CollectionResult, list[Change]]:
    """Return the new node, the result and the changes, with an induction if it is due now."""
    before = waiting(group.solved)
    if len(before) + 1 < numbers.every:
        reason = f"after {counted(numbers.every - len(before) - 1, 'further solved task')}"
        return new, CollectionResult(WORKFLOWS, "wait", reason, calls=calls), []
    done = induce(bank.tree(WORKFLOWS), group, [*group.solved, new], writer)
    decision = "wait" if done.first is None else "induce" if done.is_new else "keep"
    node = done.first if done.is_new else None
    result = CollectionResult(WORKFLOWS, decision, done.reason, node, calls=(*calls, *done.calls))
    if done.first is None:
        return new, result, []
    return replace(new, consolidated=True), result, [*_marked(before), *done.changes]


def _marked(solved: Sequence[Node]) -> list[Revise]:
    return [Revise(SOLVED, replace(each, consolidated=True)) for each in solved]


def due(bank: Bank) -> list[Due]:
    """Return the kinds whose workflows are to be induced.

    An answer that could not be used left them, or a solved task that they came of was deleted, as
    by a verdict that overturned it.
    """
    tree = bank.tree(SOLVED)
    every = of_bank(bank, AwmNumbers).every
    pending, stale = rows_by_kind(tree, every), stale_workflows(bank)
    return [
        *(Due(SOLVED, tuple(tree.node_at(row) for row in rows)) for rows in pending.values()),
        *(Due(WORKFLOWS, tuple(stale[kind])) for kind in stale if kind not in pending),
    ]


def due_rows(tree: Tree, settings: Settings) -> NDArray[np.bool_]:
    """Return the solved tasks that wait for an induction which is due. bool [rows]."""
    marked = no_rows(tree, settings)
    if tree.name == SOLVED and isinstance(settings, AwmNumbers):
        for rows in rows_by_kind(tree, settings.every).values():
            marked[rows] = True
    return marked


def maintain(
    bank: Bank, task: Due, writer: Writer, embedder: Embedder
) -> Plan[MaintenanceResult] | None:
    """Induce the workflows of a kind; None if that was done meanwhile."""
    kind, numbers = task.nodes[-1].payload["group"], of_bank(bank, AwmNumbers)
    group = WorkflowGroup.of(bank, kind, embedder)
    pending = waiting(group.solved)
    if len(pending) < numbers.every and kind not in stale_workflows(bank):
        return None
    if not group.solved:
        return _without_workflows(group)
    done = induce(bank.tree(WORKFLOWS), group, group.solved, writer)
    result = MaintenanceResult(
        WORKFLOWS, tuple(pending), done.first, done.reason, done.calls, written=done.is_new
    )
    if done.first is None:
        return Plan(result)
    # A stale set has no task that waits: the last one's line says that it was induced anew.
    return Plan(result, (*_marked(pending or group.solved[-1:]), *done.changes))


def _without_workflows(group: WorkflowGroup) -> Plan[MaintenanceResult]:
    """Delete the workflows of a kind of which no solved task is left."""
    gone = tuple(Revise(WORKFLOWS, replace(each, deleted=True)) for each in group.workflows)
    reason = "no solved task of the kind is left"
    return Plan(MaintenanceResult(WORKFLOWS, group.workflows, None, reason), gone)


def known_kinds(bank: Bank) -> list[str]:
    """Return the kinds that have workflows, or wait for them."""
    pending = bank.tree(SOLVED)
    nodes = [*bank.tree(WORKFLOWS), *(pending.node_at(row) for row in waiting_rows(pending))]
    return list(dict.fromkeys(node.payload["group"] for node in nodes))


def waiting(solved: Sequence[Node]) -> list[Node]:
    """Return those that were not induced from yet."""
    return [each for each in solved if not each.consolidated]


def waiting_rows(solved: Tree) -> list[int]:
    """Return the rows of all such nodes, in order of birth."""
    rows = solved.rows
    found: list[int] = rows[~solved.snapshot.index["consolidated"][rows]].tolist()
    return found


def rows_by_kind(solved: Tree, every: int) -> dict[str, list[int]]:
    """Per kind that is due for an induction, the rows that wait for it."""
    of_kind: dict[str, list[int]] = {}
    for row in waiting_rows(solved):
        of_kind.setdefault(solved.node_at(row).payload["group"], []).append(row)
    return {kind: rows for kind, rows in of_kind.items() if len(rows) >= every}


def stale_workflows(bank: Bank) -> dict[str, list[Node]]:
    """Return the workflows of the kinds that a solved task was deleted from since their last
    induction.

    Each induction writes a line of a solved task: what was deleted since stands behind those of
    its kind. A compaction takes the texts of what was deleted, and so forgets that.
    """
    solved = bank.tree(SOLVED)
    index, snapshot = solved.snapshot.index, solved.snapshot
    rows = snapshot.current[snapshot.births]
    rows = rows[index["consolidated"][rows]]
    deleted = index["deleted"][rows]
    gone: dict[str, int] = {}
    for row in sorted(rows[deleted].tolist()):
        gone[solved.node_at(row).payload.get("group", "")] = row
    since = rows[~deleted & (rows > min(gone.values()))] if gone else rows[:0]
    for row in since.tolist():
        kind = solved.node_at(row).payload["group"]
        if row > gone.get(kind, row):
            del gone[kind]
    found: dict[str, list[Node]] = {}
    for node in bank.tree(WORKFLOWS) if gone else ():
        if (kind := node.payload["group"]) in gone:
            found.setdefault(kind, []).append(node)
    return found
