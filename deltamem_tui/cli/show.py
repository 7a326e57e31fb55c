"""`deltamem show`: one node."""

from __future__ import annotations

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result


def run(
    context: typer.Context,
    bank: options.Bank,
    node: options.NodeId,
    tree: options.TreeChoice = None,
) -> Result:
    """Show one node: its texts, its origin, and how often it was of use."""
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.credit.credit import node_credit
    from deltamem_tui.memory.methods import display_of
    from deltamem_tui.memory.transfer.plain import node_record

    opened = Bank.open(Invocation.of(context).bank(bank))
    name, found = opened.find_node(node, options.tree_name(opened, tree))
    record, display = node_record(opened.tree(name), found), display_of(opened, name)
    credit = node_credit(opened, name, found.id)

    def view(page: Page) -> None:
        origin = {
            f"origin {key}": value if isinstance(value, str) else " ".join(value)
            for key, value in record["origin"].items()
            if value
        }
        facts = record | {"kind": display.level(found)} | dict(credit.facts()) | origin
        page.facts(
            {
                key.replace("_", " "): str(value)
                for key, value in facts.items()
                if key not in (*found.payload, "origin") and value is not None
            }
        )
        for key, text in found.payload.items():
            if text:
                page.text(f"\n{display.label(key)}", style="bold")
                page.text(text)

    return Result("show", {"nodes": [record | {"credit": credit.record()}]}, view=view)
