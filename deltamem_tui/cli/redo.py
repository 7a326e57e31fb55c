"""`deltamem redo`: what was undone last, done again."""

from __future__ import annotations

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.result import Result
from deltamem_tui.text import counted


def run(context: typer.Context, bank: options.Bank) -> Result:
    """Make the change again that was undone last; again for the one before.

    As `U` does in the browser. Another change by hand ends what can be redone.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.redoing import nothing_to_redo, redo, redoable

    opened = Bank.open(Invocation.of(context).writable_bank(bank))
    found = redoable(opened)
    if found is None:
        raise nothing_to_redo(opened)
    undone, made = found
    change = redo(opened, undone)
    nodes = [each.id for each in change.nodes]
    data = {"redone": made.event, "tree": change.tree, "nodes": nodes}
    return Result("redo", data, notes=[f"{made.event} redone: {counted(len(nodes), 'node')}"])
