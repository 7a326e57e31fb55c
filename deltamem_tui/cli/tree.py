"""`deltamem tree`: the outline of a bank's trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.node import Node
    from deltamem_tui.bank.tree import Counts, Tree

Depth = Annotated[
    int | None, typer.Option("--depth", metavar="N", min=1, help="Leave out what lies deeper.")
]
Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, help="Stop after N nodes a tree.")
]

_LEGEND = "● root  △ residual  ✗ failure  ⊕ consolidated  ×n hits"


def run(
    context: typer.Context,
    bank: options.Bank,
    tree: options.TreeChoice = None,
    depth: Depth = None,
    limit: Limit = None,
) -> Result:
    """Show the outline of the trees, a line a node."""
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.transfer.plain import node_record

    opened = Bank.open(Invocation.of(context).bank(bank))
    rows = {
        name: list(_rows(opened.tree(name), depth, limit))
        for name in options.tree_names(opened, tree)
    }

    def view(page: Page) -> None:
        for name, found in rows.items():
            shown = opened.tree(name)
            entries: list[tuple[int, str]] = [(0, f"{name} tree ({len(shown)} nodes)")]
            for row in found:
                node = shown.node_at(row)
                entries.append((node.depth, _line(node, shown.counts_at(row))))
            page.outline(entries)

    nodes: list[dict[str, Any]] = [
        node_record(opened.tree(name), opened.tree(name).node_at(row))
        for name, found in rows.items()
        for row in found
    ]
    return Result("tree", {"nodes": nodes}, view=view, notes=(_LEGEND,))


def _rows(tree: Tree, depth: int | None, limit: int | None) -> Iterator[int]:
    """The rows of the outline, each parent before its children, without recursion."""
    waiting = [int(row) for row in tree.child_rows(None)[::-1]]
    depths = tree.snapshot.index["depth"]
    count = 0
    while waiting and (limit is None or count < limit):
        row = waiting.pop()
        yield row
        count += 1
        if depth is None or depths[row] < depth:
            waiting += [int(child) for child in tree.child_rows(row)[::-1]]


def _line(node: Node, counts: Counts) -> str:
    """A node on one line: id, marks, hits, and when it applies."""
    marks = "✗" if node.label == "failure" else "●" if node.kind == "root" else "△"
    fused = " ⊕" if node.consolidated else ""
    hits = f" ×{counts.hits}" if counts.hits else ""
    return f"{node.id[:8]} {marks}{fused}{hits} {one_line(node.title)}"
