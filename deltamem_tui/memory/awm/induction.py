"""Induction: the workflows of a kind become what a writer makes of all its solved tasks.

They are replaced as a set. A workflow whose steps come again keeps its node, with id and counts;
an answer without a single workflow changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.awm.collections import COLLECTIONS, WORKFLOWS
from deltamem_tui.memory.awm.groups import WorkflowGroup
from deltamem_tui.memory.awm.prompt_uses import INDUCE, KIND, TASKS
from deltamem_tui.memory.awm.steps import actions_in, occur, same_steps, solved_text
from deltamem_tui.memory.method import cleaned
from deltamem_tui.memory.plan import Change, Revise
from deltamem_tui.memory.record_sets import SetChange, addition, set_change
from deltamem_tui.memory.writers.extraction import Call, Extraction, FailedCallError
from deltamem_tui.memory.writers.rules.shortcut import UNVERIFIED
from deltamem_tui.memory.writers.writer import Writer

_LEAST_STEPS = 2


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
    """What a writer makes of the solved tasks of a group, in order of birth."""
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
    changes += _retitled(change, wanted)
    changes += [addition(tree, node, group.vector) for node in new]
    first = next(iter([*new, *change.kept]))
    return WorkflowInduction(written.reason, calls, tuple(changes), first, is_new=bool(new))


def most_telling_first(solved: Sequence[Node]) -> list[Node]:
    """The newest first, but those last whose actions another one has: some may not fit."""
    newest = list(reversed(solved))
    first = {same_steps(each.payload["actions"]): each for each in solved}
    return sorted(newest, key=lambda each: first[same_steps(each.payload["actions"])] is not each)


def usable(kind: str, payloads: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The workflows of an answer that have two steps or more, with their kind.

    Raises:
        ExtractionError: A text is missing, or far too long.
    """
    fields = COLLECTIONS[WORKFLOWS].fields
    found = [cleaned({"group": kind, **each}, fields) for each in payloads]
    return [each for each in found if len(actions_in(each["steps"])) >= _LEAST_STEPS]


def _retitled(change: SetChange, wanted: Sequence[Mapping[str, str]]) -> list[Revise]:
    """Workflows that stay, and are called unverified no longer."""
    titles = {same_steps(each["steps"]): each["title"] for each in reversed(wanted)}
    found = []
    for node in change.kept:
        title = titles[same_steps(node.payload["steps"])]
        if UNVERIFIED in node.payload["title"] and UNVERIFIED not in title:
            payload = {**node.payload, "title": title}
            found.append(Revise(WORKFLOWS, replace(node, payload=payload)))
    return found


def _born(
    payload: Mapping[str, str], solved: Sequence[Node], written: Extraction, writer: str
) -> Node:
    """A workflow. It comes from the solved tasks in which it occurs, or from all if from none."""
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
