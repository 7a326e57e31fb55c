"""Redoing: a change by hand that was undone is made again, one after another.

As in an editor, undone changes can be redone until another change by hand is made. What is learnt
meanwhile ends nothing, unless it changed the very nodes.
"""

from __future__ import annotations

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.journal import Commit
from deltamem_tui.bank.undo import REDO, UNDO, commits_since, last_not_redone, version_after
from deltamem_tui.errors import BankError
from deltamem_tui.memory.editing import BY_HAND, Change, put_back, recorded


def redoable(bank: Bank) -> tuple[Commit, Commit] | None:
    """The last undo that can be redone, and the change that it took back; None if there is none."""
    return last_not_redone(bank, BY_HAND)


def redo(bank: Bank, expected: Commit | None = None) -> Change:
    """Make the change again that was undone last.

    `expected` is the undo that is meant, as it was read; None for whichever is the last.

    Raises:
        BankFrozenError: The bank is frozen.
        BankError: Nothing is left to redo, another change was made, undone or redone since, or
            what the change was about says something else by now.
    """
    bank.require_writable()
    bank.refresh()
    seen, found = bank.commit.sequence, redoable(bank)
    if found is None:
        raise nothing_to_redo(bank)
    undo, change = found
    if expected is not None and undo != expected:
        raise _not_the_last(bank)
    tree, revisions = recorded(bank, change)
    with bank.writing() as batch:
        if any(each.event in (*BY_HAND, UNDO, REDO) for each in commits_since(bank, seen)):
            raise _not_the_last(bank)
        shown = bank.tree(tree)
        later = [version_after(shown, *each, change) for each in revisions.items()]
        nodes = put_back(batch, shown, later)
        batch.log(REDO, {"redoes": undo.sequence, "what": change.event, "tree": tree})
    return Change("redo", tree, nodes)


def nothing_to_redo(bank: Bank) -> BankError:
    """The error of a redo where no undo is left that could be taken back."""
    return BankError(
        "nothing is left to redo: no undo came after the last change by hand",
        source=str(bank.path),
    )


def _not_the_last(bank: Bank) -> BankError:
    return BankError(
        "another change was made by hand, undone or redone, since; nothing was redone",
        source=str(bank.path),
        hint="look at it again, then repeat",
    )
