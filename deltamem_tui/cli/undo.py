"""`deltamem undo`: the last change of a tree, taken back."""

from __future__ import annotations

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.result import Result
from deltamem_tui.text import counted


def run(context: typer.Context, bank: options.Bank) -> Result:
    """Take back the last change by hand, or the last deletion by a rule; again for the one before.

    As `u` does in the browser. What was learnt stays; an episode's outcome is taken back by
    `deltamem outcome --undo`.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.editing import nothing_to_undo, undo, undoable

    opened = Bank.open(Invocation.of(context).writable_bank(bank))
    commit = undoable(opened)
    if commit is None:
        raise nothing_to_undo(opened)
    change = undo(opened, commit)
    nodes = [each.id for each in change.nodes]
    data = {"undone": commit.event, "tree": change.tree, "nodes": nodes}
    return Result("undo", data, notes=[f"{commit.event} undone: {counted(len(nodes), 'node')}"])
