"""Induction: the workflows of a kind become what a writer makes of all its solved tasks.

They are replaced as a set. A workflow whose steps come again keeps its node, with id and counts;
an answer without a single workflow changes nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import reduce
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.bank.tree import Tree
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
from deltamem_tui.memory.method import cleaned
from deltamem_tui.memory.plan import Change
from deltamem_tui.memory.procedure import numbered
from deltamem_tui.memory.record_sets import addition, set_change
from deltamem_tui.memory.rules_extractor import skimmed
from deltamem_tui.memory.vectors.exact import nodes_with_key
from deltamem_tui.memory.writers.extraction import (
    NO_INPUTS,
    Call,
    Extraction,
    FailedCallError,
    Inputs,
)
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import counted
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LEAST_STEPS = 2


@dataclass(frozen=True, slots=True)
class WorkflowGroup:
    """What a bank has of one kind of task.

    Attributes:
        vector: The kind's, as a passage. float32 [dimensions], of unit length.
        workflows: In order of birth.
        solved: In order of birth.
    """

    kind: str
    vector: NDArray[np.float32]
    workflows: tuple[Node, ...]
    solved: tuple[Node, ...]

    @classmethod
    def of(cls, bank: Bank, kind: str, embedder: Embedder) -> WorkflowGroup:
        """Return the group of a kind, empty if it is new."""
        vector = embedder.embed_passages([kind])[0]
        workflows, solved = (
            tuple(nodes_with_key(bank.tree(name), kind, vector)) for name in (WORKFLOWS, SOLVED)
        )
        return cls(kind, vector, workflows, solved)


@dataclass(frozen=True, slots=True)
class WorkflowInduction:
    """What became of an induction.

    Attributes:
        reason: Why, in one line.
        first: The first workflow that is new, or the first that stays; None if none was found.
        is_new: Whether it is new.
    """

    reason: str
    calls: tuple[Call, ...]
    changes: tuple[Change, ...] = ()
    first: Node | None = None
    is_new: bool = False


def induce(
    tree: Tree, group: WorkflowGroup, solved: Sequence[Node], writer: Writer
) -> WorkflowInduction:
    """Return what a writer makes of the solved tasks of a group, in order of birth."""
    texts = tuple(solved_text(each) for each in most_telling_first(solved))
    calls: tuple[Call, ...] = ()
    try:
        written = writer.write(INDUCE, None, group.workflows, {KIND: group.kind, TASKS: texts})
        calls = written.calls("induce", WORKFLOWS)
        wanted = usable(group.kind, written.payloads)
    except FailedCallError as error:
        return WorkflowInduction(str(error), (error.call,))
    except ExtractionError as error:
        return WorkflowInduction(str(error), calls)
    if not wanted:
        return WorkflowInduction(f"no workflow of two steps: {written.reason}", calls)
    change = set_change(group.workflows, wanted, lambda each: same_steps(each["steps"]))
    new = [_born(each, solved, written, writer.name) for each in change.added]
    changes: list[Change] = list(change.deletions(WORKFLOWS))
    changes += [addition(tree, node, group.vector) for node in new]
    first = next(iter([*new, *change.kept]))
    return WorkflowInduction(written.reason, calls, tuple(changes), first, is_new=bool(new))


def most_telling_first(solved: Sequence[Node]) -> list[Node]:
    """Return the newest first, but those last whose actions another one has: some may not fit."""
    newest = list(reversed(solved))
    first = {same_steps(each.payload["actions"]): each for each in solved}
    return sorted(newest, key=lambda each: first[same_steps(each.payload["actions"])] is not each)


def usable(kind: str, payloads: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return the workflows of an answer that have two steps or more, with their kind.

    Raises:
        ExtractionError: A text is missing, or far too long.
    """
    fields = COLLECTIONS[WORKFLOWS].fields
    found = [cleaned({"group": kind, **each}, fields) for each in payloads]
    return [each for each in found if len(actions_in(each["steps"])) >= _LEAST_STEPS]


def _born(
    payload: Mapping[str, str], solved: Sequence[Node], written: Extraction, writer: str
) -> Node:
    """Return a workflow. It comes from the solved tasks in which it occurs, or from all if from
    none.
    """
    steps = actions_in(payload["steps"])
    found = [each for each in solved if occur(steps, actions_in(each.payload["actions"]))] or solved
    first, *others = [episode for each in found for episode in each.origin.episodes] or [""]
    origin = Origin(
        trajectory=first,
        outcome_source=found[-1].origin.outcome_source,
        extractor=writer,
        model=written.model,
        prompt=written.prompt,
        sources=tuple(others),
    )
    return born(WORKFLOWS, None, "success", payload, origin)


def write_by_rules(
    purpose: str,
    episode: Trajectory | None,  # noqa: ARG001 - workflows come from several episodes
    notes: Sequence[Node],  # noqa: ARG001 - what recurs does so without them
    inputs: Inputs = NO_INPUTS,
) -> Extraction:
    """Write the workflows of a kind.

    They are the patterns of two actions or more that two of its tasks or more have in common, the
    weightiest first. Where there are none, as with a single task, it is the shortest way.

    Raises:
        ExtractionError: Something else is wanted.
    """
    if purpose != INDUCE:
        raise ExtractionError(f"AWM does not write {purpose} by rules")
    texts = inputs[TASKS]
    title = str(inputs[KIND])
    ways = [actions_in(text) for text in ([texts] if isinstance(texts, str) else texts)]
    whole = dict.fromkeys(completed(each, ways) for each in closed_patterns(ways))
    if patterns := chosen(whole, MOST):
        reason = f"what {counted(len(ways), 'solved task')} have in common"
        first, *others = (each.actions for each in patterns)
        further = [_workflow(f"{title}: {way[0]} … {way[-1]}", way) for way in others]
        return Extraction(_workflow(title, first), reason, further=tuple(further))
    ways = [way for way in ways if len(way) >= _LEAST_STEPS]
    if not ways:
        return Extraction(None, "no task took two steps")
    shortest = min(ways, key=len)
    return Extraction(_workflow(title, shortest), "the shortest way that is known")


def _workflow(title: str, actions: Sequence[str]) -> dict[str, str]:
    return {"title": title, "steps": "\n".join(numbered(actions))}


_LEAST_LENGTH = 2
_LEAST_SUPPORT = 2
_MOST = 8
_LONGEST = 30


@dataclass(frozen=True, slots=True)
class Pattern:
    """Actions that occur side by side in several sequences.

    Attributes:
        actions: The actions, in order.
        support: In how many sequences they occur.
    """

    actions: tuple[str, ...]
    support: int

    @property
    def weight(self) -> int:
        """What it saves: each occurrence in place of its actions one by one."""
        return self.support * (len(self.actions) - 1)


def closed_patterns(
    sequences: Sequence[Sequence[str]], least_support: int = _LEAST_SUPPORT
) -> list[Pattern]:
    """Return all closed patterns of two actions to thirty, the weightiest first.

    Args:
        sequences: One an episode. A pattern counts once in each.
        least_support: In how many of them a pattern occurs at least.
    """
    support = _frequent(sequences, least_support)
    closed = set(support)
    for pattern, count in support.items():
        for part in (pattern[1:], pattern[:-1]):
            if support.get(part) == count:
                closed.discard(part)
    patterns = [Pattern(pattern, support[pattern]) for pattern in closed]
    return sorted(patterns, key=_rank)


def _frequent(sequences: Sequence[Sequence[str]], least_support: int) -> dict[tuple[str, ...], int]:
    """Return the patterns that occur often enough, with their support, grown one action at a
    time.
    """
    found: dict[tuple[str, ...], int] = {}
    places = {(at, start) for at, one in enumerate(sequences) for start in range(len(one))}
    for length in range(1, _LONGEST + 1):
        grown: dict[tuple[str, ...], set[tuple[int, int]]] = defaultdict(set)
        for at, start in places:
            if start + length <= len(sequences[at]):
                grown[tuple(sequences[at][start : start + length])].add((at, start))
        frequent = {
            pattern: where
            for pattern, where in grown.items()
            if len({at for at, _ in where}) >= least_support
        }
        if length >= _LEAST_LENGTH:
            found |= {one: len({at for at, _ in where}) for one, where in frequent.items()}
        places = {place for where in frequent.values() for place in where}
    return found


def completed(pattern: Pattern, sequences: Iterable[Sequence[str]]) -> Pattern:
    """Return the pattern with what all its sequences have before and after it, whatever lies
    between.

    So a last step stays, though one of them does something else before it.
    """
    size, sequences = len(pattern.actions), list(sequences)
    found = [(one, at) for one in sequences if (at := _start_of(pattern, one)) is not None]
    before = reduce(_common, (tuple(one[:at]) for one, at in found))
    after = reduce(_common, (tuple(one[at + size :]) for one, at in found))
    actions = (*before, *pattern.actions, *after)
    return Pattern(actions, sum(occurs(actions, one) for one in sequences))


def _start_of(pattern: Pattern, sequence: Sequence[str]) -> int | None:
    """Return where a pattern stands in a sequence first, side by side; None if it does not."""
    size = len(pattern.actions)
    starts = range(len(sequence) - size + 1)
    return next((at for at in starts if tuple(sequence[at : at + size]) == pattern.actions), None)


def _common(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Return what two sequences have in common, in order."""
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return tuple(
        action for same in matcher.get_matching_blocks() for action in first[same.a :][: same.size]
    )


def chosen(patterns: Iterable[Pattern], most: int = _MOST) -> list[Pattern]:
    """At most so many patterns, the weightiest first, each at least half new beside each other."""
    kept: list[Pattern] = []
    for pattern in sorted(patterns, key=_rank):
        if len(kept) < most and all(_overlap(pattern, other) <= 0.5 for other in kept):
            kept.append(pattern)
    return kept


def _rank(pattern: Pattern) -> tuple[int, int, tuple[str, ...]]:
    return -pattern.weight, -pattern.support, pattern.actions


def _overlap(first: Pattern, second: Pattern) -> float:
    """Return the longest run that two patterns share, as a share of the shorter one."""
    longest, ends = 0, [0] * (len(second.actions) + 1)
    for action in first.actions:
        ends = [0] + [
            ends[at] + 1 if action == other else 0 for at, other in enumerate(second.actions)
        ]
        longest = max(longest, *ends)
    return longest / min(len(first.actions), len(second.actions))


def occurs(actions: Sequence[str], sequence: Iterable[str]) -> bool:
    """Return whether actions occur in a sequence in their order, with anything between them."""
    rest = iter(sequence)
    return all(action in rest for action in actions)


_STEP = re.compile(r"\s*\d{1,4}[.)]\s+(\S.*)")
_BLANK = re.compile(r"(?<!\w)\[[^\[\]]+\]")  # brackets after a word are the shop's: click[{item}]


def actions_in(text: str) -> list[str]:
    """Return the actions of numbered steps, with single spaces."""
    found = (_STEP.fullmatch(line) for line in text.splitlines())
    return [" ".join(step[1].split()) for step in found if step]


def same_steps(text: str) -> str:
    """Return what two workflows with the same steps have in common, remarks aside."""
    return "\n".join(actions_in(text)).casefold()


def way_of(episode: Trajectory) -> str:
    """Return the shortest way to the goal that an episode shows, as numbered steps with blanks.

    Empty if nothing was done.
    """
    return "\n".join(numbered(shortcut(skimmed(episode)).plan))


def solved_text(solved: Node) -> str:
    """Return a solved task as a writer reads it."""
    return f"Task: {solved.payload['task']}\n{solved.payload['actions']}"


def was_done(steps: str, episode: Trajectory) -> bool:
    """Return whether the steps of a workflow occur in an episode in their order, whatever lies
    between.
    """
    read = skimmed(episode)
    done = blanked(read, effective_actions(read)), actions_in(way_of(episode))
    return any(occur(actions_in(steps), each) for each in done)


def occur(steps: Sequence[str], actions: Iterable[str]) -> bool:
    """Return whether actions fill all steps in their order; of no steps it is not said."""
    rest = iter(actions)
    return bool(steps) and all(any(_fills(step, action) for action in rest) for step in steps)


def _fills(step: str, action: str) -> bool:
    """Return whether an action is a step, with any words at its blanks."""
    first, *rest = _BLANK.split(_folded(step))
    action = _folded(action)
    if not rest:
        return action == first
    *middle, end = rest
    if not (action.startswith(first) and action.endswith(end)):
        return False
    at = len(first)
    for piece in middle:
        at = action.find(piece, at + 1)
        if at < 0:
            return False
        at += len(piece)
    return at < len(action) - len(end)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
