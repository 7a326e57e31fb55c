"""AWM's write: credit what was used, keep a success, and induce the workflows of its kind anew.

Workflows are replaced as a set. One whose steps come again keeps its node, with id and counts, and
an answer without a single workflow changes nothing: the induction stays due.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import reduce

from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.awm.definition import (
    COLLECTIONS,
    INDUCE,
    KIND,
    MOST,
    SOLVED,
    TASKS,
    WORKFLOWS,
)
from deltamem_tui.memory.findings import blanked, effective_actions, shortcut
from deltamem_tui.memory.kinds import resolve_kinds
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
from deltamem_tui.memory.procedure import numbered
from deltamem_tui.memory.rules_extractor import skimmed
from deltamem_tui.memory.vectors.search import nodes_with_key
from deltamem_tui.memory.writers.extraction import (
    NO_INPUTS,
    Call,
    Extraction,
    FailedCallError,
    Inputs,
    extraction_of,
)
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean, counted
from deltamem_tui.trajectory.model import Trajectory


def plan(bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder) -> Plan[LearnResult]:
    """Credit what was used; keep a success and induce from it."""
    kinds = resolve_kinds(bank, episode, writer, lambda: [*_by_kind(bank, WORKFLOWS)])
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
    """The result of an induction: why, and the first workflow, if any was found."""

    reason: str
    calls: tuple[Call, ...] = ()
    changes: tuple[Change, ...] = ()
    first: Node | None = None
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class _Group:
    """A bank's holdings of one kind of task, in order of birth."""

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


LEAST_STEPS = 2
_LEAST_SUPPORT = 2
_LONGEST = 30
_STEP = re.compile(r"\s*\d{1,4}[.)]\s+(\S.*)")
_BLANK = re.compile(r"(?<!\w)\[[^\[\]]+\]")  # brackets after a word are a shop's: click[{item}]


def write_by_rules(
    purpose: str,
    episode: Trajectory | None,  # noqa: ARG001 - workflows come from several episodes
    notes: Sequence[Node],  # noqa: ARG001 - what recurs does so without them
    inputs: Inputs = NO_INPUTS,
) -> Extraction:
    """Write the workflows of a kind.

    They are the patterns of two actions or more that two of its tasks or more have in common, the
    weightiest first. Where there are none, as with a single task, it is the shortest way.
    """
    if purpose != INDUCE:
        raise ExtractionError(f"AWM does not write {purpose} by rules")
    title, texts = str(inputs[KIND]), inputs[TASKS]
    ways = [actions_in(text) for text in ([texts] if isinstance(texts, str) else texts)]
    whole = dict.fromkeys(completed(each, ways) for each in closed_patterns(ways))
    if patterns := chosen(whole):
        first, *others = (each.actions for each in patterns)
        further = [_workflow(f"{title}: {way[0]} … {way[-1]}", way) for way in others]
        reason = f"what {counted(len(ways), 'solved task')} have in common"
        return extraction_of([_workflow(title, first), *further], reason)
    ways = sorted((way for way in ways if len(way) >= LEAST_STEPS), key=len)
    return extraction_of([_workflow(title, way) for way in ways[:1]], "the shortest way known")


def _workflow(title: str, actions: Sequence[str]) -> dict[str, str]:
    return {"title": title, "steps": "\n".join(numbered(actions))}


@dataclass(frozen=True, slots=True)
class Pattern:
    """Actions that several sequences have, and in how many (`support`)."""

    actions: tuple[str, ...]
    support: int

    @property
    def weight(self) -> int:
        """The actions saved: each occurrence stands in for its actions one by one."""
        return self.support * (len(self.actions) - 1)


def closed_patterns(
    sequences: Sequence[Sequence[str]], least_support: int = _LEAST_SUPPORT
) -> list[Pattern]:
    """Return all runs of two actions to thirty that enough sequences have, the weightiest first.

    One that a longer one with the same support holds is left out. Runs are grown by one action at
    a time, from where shorter ones were frequent.
    """
    support: dict[tuple[str, ...], int] = {}
    places = {(at, start) for at, one in enumerate(sequences) for start in range(len(one))}
    for length in range(1, _LONGEST + 1):
        grown: dict[tuple[str, ...], set[tuple[int, int]]] = defaultdict(set)
        for at, start in places:
            if start + length <= len(sequences[at]):
                grown[tuple(sequences[at][start : start + length])].add((at, start))
        having = {run: len({at for at, _ in where}) for run, where in grown.items()}
        frequent = {run: count for run, count in having.items() if count >= least_support}
        places = {place for run in frequent for place in grown[run]}
        if length >= LEAST_STEPS:
            support |= frequent
    held = {
        part
        for run, count in support.items()
        for part in (run[1:], run[:-1])
        if support.get(part) == count
    }
    return sorted((Pattern(run, support[run]) for run in support.keys() - held), key=_rank)


def _rank(pattern: Pattern) -> tuple[int, int, tuple[str, ...]]:
    return -pattern.weight, -pattern.support, pattern.actions


def completed(pattern: Pattern, sequences: Sequence[Sequence[str]]) -> Pattern:
    """Return a pattern with what all its sequences have before and after it, in order.

    So a last step stays, though one of them does something else before it.
    """
    size = len(pattern.actions)
    parts = [
        (tuple(one[:at]), tuple(one[at + size :]))
        for one in sequences
        for at in [at for at in range(len(one)) if tuple(one[at : at + size]) == pattern.actions][
            :1
        ]
    ]
    before, after = (reduce(_common, each) for each in zip(*parts, strict=True))
    actions = (*before, *pattern.actions, *after)
    return Pattern(actions, sum(occurs(actions, one) for one in sequences))


def _common(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Return what two sequences have in common, in order."""
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    return tuple(action for same in blocks for action in first[same.a : same.a + same.size])


def occurs(actions: Sequence[str], sequence: Iterable[str]) -> bool:
    """Return whether actions occur in a sequence in their order, with anything between them."""
    rest = iter(sequence)
    return all(action in rest for action in actions)


def chosen(patterns: Iterable[Pattern], most: int = MOST) -> list[Pattern]:
    """At most so many patterns, the weightiest first, each at least half new beside each other."""
    kept: list[Pattern] = []
    for pattern in sorted(patterns, key=_rank):
        if len(kept) < most and all(_overlap(pattern, other) <= 0.5 for other in kept):
            kept.append(pattern)
    return kept


def _overlap(first: Pattern, second: Pattern) -> float:
    """Return the longest run that two patterns share, as a share of the shorter one."""
    matcher = SequenceMatcher(None, first.actions, second.actions, autojunk=False)
    return matcher.find_longest_match().size / min(len(first.actions), len(second.actions))


def actions_in(text: str) -> list[str]:
    """Return the actions of numbered steps, with single spaces."""
    found = (_STEP.fullmatch(line) for line in text.splitlines())
    return [" ".join(step[1].split()) for step in found if step]


def same_steps(text: str) -> str:
    """Return what two workflows with the same steps have in common, remarks aside."""
    return "\n".join(actions_in(text)).casefold()


def way_of(episode: Trajectory) -> str:
    """Return the shortest way to the goal that an episode shows, as numbered steps with blanks."""
    return "\n".join(numbered(shortcut(skimmed(episode)).plan))


def was_done(steps: str, episode: Trajectory) -> bool:
    """Return whether the steps of a workflow occur in an episode in their order."""
    read = skimmed(episode)
    done = blanked(read, effective_actions(read)), actions_in(way_of(episode))
    return any(occur(actions_in(steps), each) for each in done)


def occur(steps: Sequence[str], actions: Iterable[str]) -> bool:
    """Return whether actions fill all steps in their order; of no steps it is not said."""
    rest = iter(actions)
    return bool(steps) and all(any(_fills(step, action) for action in rest) for step in steps)


def _fills(step: str, action: str) -> bool:
    """Return whether an action is a step, with any words at its blanks."""
    first, *rest = map(re.escape, _BLANK.split(_folded(step)))
    if not rest:
        return _folded(step) == _folded(action)
    # Atomic groups keep hostile texts from costing more than their length.
    middle = "".join(f"(?>.+?{piece})" for piece in rest[:-1])
    return bool(re.fullmatch(f"{first}{middle}.+{rest[-1]}", _folded(action)))


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
