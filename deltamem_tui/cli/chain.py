"""`deltamem chain`: root to node, as an agent receives it."""

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
    """Show the chain from the root to a node, as an agent receives it."""
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.context import chain_entries
    from deltamem_tui.memory.methods import display_of
    from deltamem_tui.memory.transfer.plain import node_record

    opened = Bank.open(Invocation.of(context).bank(bank))
    name, found = opened.find_node(node, options.tree_name(opened, tree))
    chain = opened.chain(name, found.id)

    def view(page: Page) -> None:
        page.text("\n\n".join(chain_entries(display_of(opened, name), chain)))

    records = [node_record(opened.tree(name), each) for each in chain]
    return Result("chain", {"tree": name, "nodes": records}, view=view)
