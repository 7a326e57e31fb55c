"""Verdicts on one episode or on all that are shown; ask before what was learnt is marked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.journal import Commit
from deltamem_tui.errors import NodeNotFoundError
from deltamem_tui.memory import editing
from deltamem_tui.memory.episodes.outcomes import give_outcomes, known_episode, overturned_by
from deltamem_tui.memory.methods import display_of
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.core.bank_session import SessionEdits
from deltamem_tui.tui.core.work import BankChange, Progress, WorkPlan
from deltamem_tui.tui.models.sections import Section, local_time

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
        raise editing.nothing_left(bank, "undo")
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
    found = editing.redoable(bank)
    if found is None:
        raise editing.nothing_left(bank, "redo")
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
    change = editing.redo(bank, undone)
    own.note(bank)
    how = "deleted again" if all(node.deleted for node in change.nodes) else "changed again"
    return _changed(path, f"redone: {_what(commit)}{whose}", how, change)


def _changed(path: Path, done: str, how: str, change: editing.Change) -> BankChange:
    number = counted(len(change.nodes), "node")
    living = next((each.id for each in change.nodes if not each.deleted), None)
    node = (change.tree, living) if living else None
    return BankChange(path, f"{done}; {number} {how}", node)


def _what(commit: Commit) -> str:
    """Return the kind of a change and the node that was meant."""
    nodes = commit.detail.get("nodes")
    first = one_line(str(next(iter(nodes))), 40) if isinstance(nodes, dict) and nodes else ""
    return f"{commit.event} of {first}" if first else commit.event


def _section(bank: Bank, commit: Commit) -> Section:
    """Return when and where it was made, and what the node says."""
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
    """Return what the nodes that still live are about, as far as there is room."""
    tree, key = bank.tree(tree_name), bank.collections[tree_name].key
    for node_id in islice(nodes, _SHOWN):
        with suppress(NodeNotFoundError):
            yield tree.node(node_id).payload[key]


_ENDS = {
    True: ("a success", "successes"),
    False: ("a failure", "failures"),
    None: ("unclear to you", "unclear to you"),
}


def plan_for_one(
    path: Path, episode_id: str, *, success: bool | None, note: str = ""
) -> WorkPlan | BankChange:
    """Write an episode's outcome, or ask first if it was learnt as having ended otherwise.

    Args:
        path: The bank.
        episode_id: The episode.
        success: None if the user cannot tell.
        note: What else to say once it is written.

    Raises:
        TrajectoryError: The bank does not have the episode.
        BankError: The bank cannot be read or written.
    """
    bank = Bank.open(path)
    known = known_episode(bank, episode_id)
    found = overturned_by(bank, [episode_id], success=success)
    end = _ENDS[success][0]

    def give(_: Progress) -> BankChange:
        give_outcomes(Bank.open(path), [episode_id], success=success, expected=found)
        marked = f"; {found.text}" if found else ""
        return BankChange(path, f"{episode_id} is {end} now{marked}{note}")

    if found is None or not found.episodes:
        return give(Progress("writing the outcome"))
    task, question = one_line(known.task, 60), f"Mark a learnt episode as {end}?"
    return WorkPlan(
        "writing the outcome",
        question,
        [Section(task, found.text)],
        give,
        later=f"{one_line(path.name, 40)}: {task}: {question}",
    )


def plan_for_all(path: Path, ids: Sequence[str], shown_by: str, *, success: bool) -> WorkPlan:
    """Say what a verdict on all these episodes of the bank at `path` would change, and ask.

    Args:
        path: The bank.
        ids: The episodes.
        shown_by: The filter that shows them; empty for none.
        success: The verdict.

    Raises:
        BankError: The bank cannot be read.
        TrajectoryError: It does not have one of them any more.
    """
    bank, count = Bank.open(path), counted(len(ids), "episode")
    found = overturned_by(bank, ids, success=success)
    ends = _ENDS[success][len(ids) != 1]

    def give(_: Progress) -> BankChange:
        give_outcomes(Bank.open(path), ids, success=success, expected=found)
        marked = f"; {found.text}" if found else ""
        return BankChange(path, f"{count} {'is' if len(ids) == 1 else 'are'} {ends} now{marked}")

    title = f"{one_line(shown_by, 60)} shows {count}"
    if not shown_by:
        title = f"No filter is on: this is every episode of the bank, {count}"
    before = [known_episode(bank, each).outcome for each in ids]
    facts = [
        f"{sum(not each.known for each in before):,} without an outcome until now",
        f"{sum(each.success is (not success) for each in before):,} ended otherwise so far",
    ]
    question = f"Mark {count} as {ends}?"
    return WorkPlan(
        "writing the outcomes",
        question,
        [
            Section(title, "\n".join(facts), warning=not shown_by),
            Section("In the bank", found.text if found else "no node is marked", quiet=not found),
        ],
        give,
        later=f"{one_line(path.name, 40)}: {question}",
    )
