"""Undoing and redoing changes by hand; what this browser did not do is asked about before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.journal import Commit
from deltamem_tui.errors import NodeNotFoundError
from deltamem_tui.memory import editing, redoing
from deltamem_tui.memory.methods import display_of
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.core.job import BankChange, WorkPlan
from deltamem_tui.tui.core.session_edits import SessionEdits
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.models.words import local_time

_SHOWN = 5
_ELSEWHERE = ", not made here"


def undo_last(path: Path, own: SessionEdits) -> BankChange | WorkPlan:
    """Undo the last change by hand to the bank at `path`, or ask whether it shall be undone.

    Args:
        path: The bank.
        own: The changes that this browser made: they are undone unasked.

    Raises:
        BankError: No change is left to undo, or it cannot be undone.
        BankFrozenError: The bank is frozen.
    """
    bank = Bank.open(path)
    commit = editing.undoable(bank)
    if commit is None:
        raise editing.nothing_to_undo(bank)
    if own.has(bank, commit):
        return _undo(path, own, commit, "")
    question = f"Undo the {_what(commit)}, which was not made here?"
    return _plan(bank, "undoing", question, commit, lambda: _undo(path, own, commit, _ELSEWHERE))


def redo_last(path: Path, own: SessionEdits) -> BankChange | WorkPlan:
    """Make the change to the bank at `path` again that was undone last, or ask.

    Args:
        path: The bank.
        own: What this browser did: its own undos are redone unasked.

    Raises:
        BankError: Nothing is left to redo, or it cannot be redone.
        BankFrozenError: The bank is frozen.
    """
    bank = Bank.open(path)
    found = redoing.redoable(bank)
    if found is None:
        raise redoing.nothing_to_redo(bank)
    undone, commit = found
    if own.has(bank, undone):
        return _redo(path, own, undone, commit, "")
    question = f"Redo the {_what(commit)}, which was not undone here?"
    return _plan(
        bank,
        "redoing",
        question,
        commit,
        lambda: _redo(path, own, undone, commit, ", not undone here"),
    )


def _plan(
    bank: Bank, name: str, question: str, commit: Commit, work: Callable[[], BankChange]
) -> WorkPlan:
    later = f"{one_line(bank.path.name, 40)}: {question}"
    return WorkPlan(name, question, [_section(bank, commit)], lambda _: work(), later=later)


def _undo(path: Path, own: SessionEdits, commit: Commit, whose: str) -> BankChange:
    """Undo a change, and look at what came back."""
    bank = Bank.open(path)
    change = editing.undo(bank, commit)
    own.note(bank)
    return _changed(path, f"undone: {_what(commit)}{whose}", "as before", change)


def _redo(path: Path, own: SessionEdits, undone: Commit, commit: Commit, whose: str) -> BankChange:
    """Make a change again, and look at what it changed."""
    bank = Bank.open(path)
    change = redoing.redo(bank, undone)
    own.note(bank)
    how = "deleted again" if all(node.deleted for node in change.nodes) else "changed again"
    return _changed(path, f"redone: {_what(commit)}{whose}", how, change)


def _changed(path: Path, done: str, how: str, change: editing.Change) -> BankChange:
    number = counted(len(change.nodes), "node")
    living = next((each.id for each in change.nodes if not each.deleted), None)
    node = (change.tree, living) if living else None
    return BankChange(path, f"{done}; {number} {how}", node)


def _what(commit: Commit) -> str:
    """The kind of a change and the node that was meant."""
    nodes = commit.detail.get("nodes")
    first = one_line(str(next(iter(nodes))), 40) if isinstance(nodes, dict) and nodes else ""
    return f"{commit.event} of {first}" if first else commit.event


def _section(bank: Bank, commit: Commit) -> Section:
    """When and where it was made, and what the node says."""
    nodes, tree_name = commit.detail.get("nodes"), commit.detail.get("tree")
    number = counted(len(nodes), "node") if isinstance(nodes, dict) else "no node"
    title = display_of(bank, str(tree_name)).title
    facts = [f"{number} of the {one_line(title, 40)}"]
    if isinstance(nodes, dict) and isinstance(tree_name, str) and tree_name in bank.trees:
        facts += [one_line(each, 200) for each in _keys(bank, tree_name, nodes)]
    time = local_time(commit.time)
    when = f"at {time}, " if time else ""
    title = f"Made {when}by another program or before this browser was opened"
    return Section(title, "\n".join(facts))


def _keys(bank: Bank, tree_name: str, nodes: Iterable[str]) -> Iterator[str]:
    """What the nodes that still live are about, as far as there is room."""
    tree, key = bank.tree(tree_name), bank.collections[tree_name].key
    for node_id in islice(nodes, _SHOWN):
        with suppress(NodeNotFoundError):
            yield tree.node(node_id).payload[key]
