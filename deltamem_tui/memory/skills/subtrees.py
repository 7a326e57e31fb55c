"""A tree in parts: each root with all below it, which become one skill or one page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from deltamem_tui.bank.node import Node, TreeName
from deltamem_tui.bank.tree import Tree


@dataclass(frozen=True, slots=True)
class Subtree:
    """A root with all below it, each before its children.

    Attributes:
        tree: The tree's name.
        nodes: The nodes.
        places: Per node, its place among the tree's nodes in order of birth.
        children: Per node id, the children's ids.
    """

    tree: TreeName
    nodes: dict[str, Node]
    places: dict[str, int]
    children: dict[str, list[str]]

    @property
    def root(self) -> Node:
        """The node above all others."""
        return next(iter(self.nodes.values()))


def subtrees(tree: Tree) -> Iterator[Subtree]:
    """All subtrees of a tree, in order of their roots."""
    places = {int(row): place for place, row in enumerate(tree.rows)}
    for root in tree.child_rows(None):
        rows, children = [int(root)], {}
        for row in rows:  # grows while it is walked
            children[row] = [int(child) for child in tree.child_rows(row)]
            rows.extend(children[row])
        nodes = {row: tree.node_at(row) for row in rows}
        yield Subtree(
            tree.name,
            {node.id: node for node in nodes.values()},
            {nodes[row].id: places[row] for row in rows},
            {
                nodes[row].id: [nodes[child].id for child in below]
                for row, below in children.items()
            },
        )
