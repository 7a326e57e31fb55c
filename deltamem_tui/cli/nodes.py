"""Commands that show nodes: outlines, chains, single nodes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.options import option
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.node import Node
    from deltamem_tui.bank.tree import Counts, Tree
    from deltamem_tui.memory.display import Display


Depth = Annotated[int | None, option("--depth", "N", "Leave out what lies deeper.", min=1)]
OutlineLimit = Annotated[int | None, option("--limit", "N", "Stop after N nodes a tree.", min=1)]

_SAME = 4  # words of a title that repeat the parent's
_LEGEND = "● root  △ residual  ✗ failure  ⊕ consolidated  ×n hits"
_LEGEND_OF_RECORDS = "● record  ○ part of the one above  ✗ failure  ×n hits"


def tree(
    context: typer.Context,
    bank: options.Bank,
    tree: options.TreeChoice = None,
    depth: Depth = None,
    limit: OutlineLimit = None,
) -> Result:
    """Show the outline of the trees, a line a node."""
    from deltamem_tui.memory.methods import display_of, is_shown
    from deltamem_tui.memory.transfer.plain import node_record

    opened = Invocation.of(context).open(bank)
    rows = {
        name: list(_rows(opened.tree(name), depth, limit))
        for name in options.tree_names(opened, tree)
    }

    def view(page: Page) -> None:
        for name, found in rows.items():
            if tree is None and not is_shown(opened, name):
                continue
            shown, display = opened.tree(name), display_of(opened, name)
            entries: list[tuple[int, str]] = [(0, f"{display.title} ({len(shown)} nodes)")]
            for row in found:
                node = shown.node_at(row)
                above = shown.node(node.parent) if node.parent else None
                entries.append((node.depth, _line(node, above, shown.counts_at(row), display)))
            page.outline(entries)

    nodes: list[dict[str, Any]] = [
        node_record(opened.tree(name), opened.tree(name).node_at(row))
        for name, found in rows.items()
        for row in found
    ]
    layered = any(display_of(opened, name).layered for name in rows)
    legend = _LEGEND if layered else _LEGEND_OF_RECORDS
    return Result("tree", {"nodes": nodes}, view=view, notes=(legend,))


def _rows(tree: Tree, depth: int | None, limit: int | None) -> Iterator[int]:
    """Yield the rows of the outline, each parent before its children, without recursion."""
    waiting = [int(row) for row in tree.child_rows(None)[::-1]]
    depths = tree.snapshot.index["depth"]
    count = 0
    while waiting and (limit is None or count < limit):
        row = waiting.pop()
        yield row
        count += 1
        if depth is None or depths[row] < depth:
            waiting += [int(child) for child in tree.child_rows(row)[::-1]]


def _line(node: Node, above: Node | None, counts: Counts, display: Display) -> str:
    """Return a node on one line: id, marks, hits, and what it says that its parent does not."""
    marks = "✗" if node.label == "failure" else "●" if node.parent is None else "○"
    if display.layered and marks == "○":
        marks = "△"
    fused = " ⊕" if node.consolidated else ""
    hits = f" ×{counts.hits}" if counts.hits else ""
    return f"{node.id[:8]} {marks}{fused}{hits} {_difference(node, above, display)}"


def _difference(node: Node, above: Node | None, display: Display) -> str:
    """Return a node's title without its parent's words; of the same title, its first new line."""
    title = one_line(display.of_title(node))
    parent = one_line(display.of_title(above)) if above else ""
    if above and title == parent:
        known = {line for text in above.payload.values() for line in text.splitlines()}
        lines = (line for text in node.payload.values() for line in text.splitlines())
        return one_line("+ " + next((each for each in lines if each not in known), title), 120)
    words, others = title.split(" "), parent.split(" ")
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(words, others)))  # noqa: B905
    return one_line(f"… {' '.join(words[same:])}" if same >= _SAME else title, 120)


def show(
    context: typer.Context,
    bank: options.Bank,
    node: options.NodeId,
    tree: options.TreeChoice = None,
) -> Result:
    """Show one node: its texts, its origin, and how often it was of use."""
    from deltamem_tui.memory.credit.credit import node_credit
    from deltamem_tui.memory.methods import display_of
    from deltamem_tui.memory.transfer.plain import node_record

    opened = Invocation.of(context).open(bank)
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


def chain(
    context: typer.Context,
    bank: options.Bank,
    node: options.NodeId,
    tree: options.TreeChoice = None,
) -> Result:
    """Show the chain from the root to a node, as an agent receives it."""
    from deltamem_tui.memory.context import chain_entries
    from deltamem_tui.memory.methods import display_of
    from deltamem_tui.memory.transfer.plain import node_record

    opened = Invocation.of(context).open(bank)
    name, found = opened.find_node(node, options.tree_name(opened, tree))
    chain = opened.chain(name, found.id)

    def view(page: Page) -> None:
        page.text("\n\n".join(chain_entries(display_of(opened, name), chain)))

    records = [node_record(opened.tree(name), each) for each in chain]
    return Result("chain", {"tree": name, "nodes": records}, view=view)
