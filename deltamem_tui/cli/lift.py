"""`deltamem lift`: whether memory helped, and which of it is to blame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.text import counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.lift import ShownNodeLift

Coarse = Annotated[
    bool, typer.Option("--coarse", help="Go by the judge's word instead of log's and yours.")
]


def run(context: typer.Context, bank: options.Bank, coarse: Coarse = False) -> Result:
    """Compare episodes with memory and without, and say after which nodes they ended badly.

    From receipts and verdicts. Each share comes with its interval at 95 %; nothing is said to
    help or to harm where the interval leaves it open.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.lift import bank_lift, difference_text, notes_of, share_text

    opened = Bank.open(Invocation.of(context).bank(bank))
    found = bank_lift(opened, coarse=coarse)

    def view(page: Page) -> None:
        if found.kinds:
            rows = [
                (one_line(kind, 50), *map(share_text, pair), difference_text(pair))
                for kind, pair in found.kinds.items()
            ]
            page.table(_KINDS, rows, headed=True)
        if found.nodes:
            shown = found.nodes[:_SHOWN]
            page.table(_NODES, [_row(opened, each) for each in shown], headed=True)

    notes = notes_of(found)
    if len(found.nodes) > _SHOWN:
        notes.append(f"{counted(len(found.nodes), 'node')} compared; `--json` lists them all")
    return Result("lift", found.record(), view=view, notes=notes)


def _row(bank: Bank, each: ShownNodeLift) -> tuple[str | int, ...]:
    from deltamem_tui.memory.lift import share_text
    from deltamem_tui.memory.methods import display_of

    lift, node = each.lift, bank.tree(each.tree).node(each.id)
    return (
        each.tree,
        each.id[:8],
        lift.shown,
        share_text(lift.share),
        f"{lift.expected:.2f}",
        "" if lift.look == "unclear" else lift.look,
        one_line(display_of(bank, each.tree).of_title(node), 50),
    )


_SHOWN = 30
_KINDS = ("kind of task", "with memory", "without memory", "difference")
_NODES = ("tree", "node", "shown", "success", "its kind", "looks", "title")
