"""AWM's write: credit what was used, keep a success, and induce the workflows of its kind anew.

Workflows are replaced as a set. One whose steps come again keeps its node, with id and counts, and
an answer without a single workflow changes nothing: the induction stays due.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.awm.definition import COLLECTIONS, INDUCE, KIND, SOLVED, TASKS, WORKFLOWS
from deltamem_tui.memory.awm.rules import (
    LEAST_STEPS,
    actions_in,
    occur,
    same_steps,
    was_done,
    way_of,
)
from deltamem_tui.memory.kinds import resolve_kinds, task_kind
from deltamem_tui.memory.method import cleaned
from deltamem_tui.memory.plan import (
    Change,
    CollectionResult,
    Count,
    Due,
    LearnResult,
    MaintenanceResult,
    Plan,
    Revise,
    addition,
    deletion,
    set_change,
)
from deltamem_tui.memory.vectors.search import nodes_with_key
from deltamem_tui.memory.writers.extraction import Call, Extraction, FailedCallError
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory


def plan(bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder) -> Plan[LearnResult]:
    """Credit what was used; keep a success and induce from it."""
    is_clear = task_kind(episode.domain or bank.manifest.domain, episode.task)
    known = () if is_clear else _known_kinds(bank)
    kinds = resolve_kinds(bank, episode, writer, known)
    group = _Group.of(bank, clean(kinds.task.name), embedder)
    success = bool(episode.outcome.success)
    # An agent is shown all of its group, so only what it did can tell them apart.
    changes: list[Change] = [
        Count(WORKFLOWS, each.id, success, 1, success)
        for each in group.workflows
        if was_done(each.payload["steps"], episode)
    ]
    solved, reason = _solved(group, episode)
    result = CollectionResult(WORKFLOWS, "skip", reason, calls=kinds.calls)
    if solved:
        done = group.induced(bank, writer, embedder, solved)
        result = CollectionResult(
            WORKFLOWS,
            "wait" if done.first is None else "induce" if done.is_new else "keep",
            done.reason,
            done.first if done.is_new else None,
            calls=(*kinds.calls, *done.calls),
        )
        solved = replace(solved, consolidated=done.first is not None)
        changes += [addition(bank.tree(SOLVED), solved, embedder), *done.changes]
    added = CollectionResult(SOLVED, "solved" if solved else "skip", reason, solved)
    learnt = LearnResult(episode.id, True, {WORKFLOWS: result, SOLVED: added})
    return Plan(learnt, tuple(changes), kinds.episode)


def _known_kinds(bank: Bank) -> list[str]:
    return list(dict.fromkeys(node.payload["group"] for node in bank.tree(WORKFLOWS)))


def _solved(group: _Group, episode: Trajectory) -> tuple[Node | None, str]:
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


def due(bank: Bank) -> list[Due]:
    """Return the kinds whose workflows are to be induced.

    An answer that could not be used left solved tasks waiting, or one that workflows came of was
    deleted, as by a verdict that overturned it.
    """
    solved, workflows = _by_kind(bank, SOLVED), _by_kind(bank, WORKFLOWS)
    found = []
    for kind in {**solved, **workflows}:
        group = _Group(kind, tuple(workflows.get(kind, ())), tuple(solved.get(kind, ())))
        if group.is_due:
            waiting = tuple(each for each in group.solved if not each.consolidated)
            nodes = waiting or group.solved
            found.append(Due(SOLVED, nodes) if nodes else Due(WORKFLOWS, group.workflows))
    return found


def _by_kind(bank: Bank, collection: str) -> dict[str, list[Node]]:
    found: dict[str, list[Node]] = {}
    for node in bank.tree(collection):
        found.setdefault(node.payload["group"], []).append(node)
    return found


def maintain(
    bank: Bank, task: Due, writer: Writer, embedder: Embedder
) -> Plan[MaintenanceResult] | None:
    """Induce the workflows of a kind; None if that was done meanwhile."""
    group = _Group.of(bank, task.nodes[-1].payload["group"], embedder)
    if not group.is_due:
        return None
    if not group.solved:
        gone = tuple(deletion(WORKFLOWS, each) for each in group.workflows)
        reason = "no solved task of the kind is left"
        return Plan(MaintenanceResult(WORKFLOWS, group.workflows, None, reason), gone)
    done = group.induced(bank, writer, embedder)
    result = MaintenanceResult(
        WORKFLOWS, task.nodes, done.first, done.reason, done.calls, written=done.is_new
    )
    return Plan(result, done.changes)


@dataclass(frozen=True, slots=True)
class _Induction:
    """What became of an induction: why, and the first workflow, if any was found."""

    reason: str
    calls: tuple[Call, ...] = ()
    changes: tuple[Change, ...] = ()
    first: Node | None = None
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class _Group:
    """What a bank has of one kind of task, in order of birth."""

    kind: str
    workflows: tuple[Node, ...]
    solved: tuple[Node, ...]

    @classmethod
    def of(cls, bank: Bank, kind: str, embedder: Embedder) -> _Group:
        """Return the group of a kind, empty if it is new."""
        vector = embedder.embed_passages([kind])[0]
        workflows, solved = (
            tuple(nodes_with_key(bank.tree(name), kind, vector)) for name in (WORKFLOWS, SOLVED)
        )
        return cls(kind, workflows, solved)

    @property
    def stale(self) -> list[Node]:
        """The workflows that came of a solved task which was deleted since."""
        known = {episode for each in self.solved for episode in each.origin.episodes}
        return [each for each in self.workflows if not known.issuperset(each.origin.episodes)]

    @property
    def is_due(self) -> bool:
        """True if not all solved tasks were induced from, or some of those are gone."""
        all_read = all(each.consolidated for each in self.solved)
        return bool(self.stale) or not all_read or bool(self.solved and not self.workflows)

    def induced(
        self, bank: Bank, writer: Writer, embedder: Embedder, new: Node | None = None
    ) -> _Induction:
        """Return what a writer makes of the group's solved tasks, and of a new one."""
        solved = (*self.solved, new) if new else self.solved
        texts = tuple(
            f"Task: {each.payload['task']}\n{each.payload['actions']}"
            for each in _most_telling_first(solved)
        )
        calls: tuple[Call, ...] = ()
        try:
            written = writer.write(INDUCE, None, self.workflows, {KIND: self.kind, TASKS: texts})
            calls = written.calls("induce", WORKFLOWS)
            wanted = _usable(self.kind, written.payloads)
        except FailedCallError as error:
            return _Induction(str(error), (error.call,))
        except ExtractionError as error:
            return _Induction(str(error), calls)
        if not wanted:
            return _Induction(f"no workflow of two steps: {written.reason}", calls)
        stale = self.stale
        lasting = [each for each in self.workflows if each not in stale]
        change = set_change(lasting, wanted, lambda each: same_steps(each["steps"]))
        born_now = [_born(each, solved, written, writer.name) for each in change.added]
        changes = (
            *(deletion(WORKFLOWS, each) for each in (*stale, *change.removed)),
            *(addition(bank.tree(WORKFLOWS), each, embedder) for each in born_now),
            *(
                Revise(SOLVED, replace(each, consolidated=True))
                for each in self.solved
                if not each.consolidated
            ),
        )
        first = next(iter([*born_now, *change.kept]))
        return _Induction(written.reason, calls, changes, first, is_new=bool(born_now))


def _most_telling_first(solved: Sequence[Node]) -> list[Node]:
    """Return the newest first, but those last whose actions another one has: some may not fit."""
    first = {same_steps(each.payload["actions"]): each for each in solved}
    newest = reversed(solved)
    return sorted(newest, key=lambda each: first[same_steps(each.payload["actions"])] is not each)


def _usable(kind: str, payloads: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return the workflows of an answer that have two steps or more, with their kind."""
    fields = COLLECTIONS[WORKFLOWS].fields
    found = [cleaned({"group": kind, **each}, fields) for each in payloads]
    return [each for each in found if len(actions_in(each["steps"])) >= LEAST_STEPS]


def _born(payload: Mapping[str, str], solved: Sequence[Node], written: Extraction, by: str) -> Node:
    """Return a workflow: it comes from the solved tasks in which it occurs, or from all."""
    steps = actions_in(payload["steps"])
    found = [each for each in solved if occur(steps, actions_in(each.payload["actions"]))] or solved
    first, *others = [episode for each in found for episode in each.origin.episodes] or [""]
    origin = Origin(
        trajectory=first,
        outcome_source=found[-1].origin.outcome_source,
        extractor=by,
        model=written.model,
        prompt=written.prompt,
        sources=tuple(others),
    )
    return born(WORKFLOWS, None, "success", payload, origin)
