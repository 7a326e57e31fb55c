"""Which nodes each episode gave."""

from __future__ import annotations

from collections.abc import Mapping

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import TREES, TreeName


def nodes_by_episode(bank: Bank) -> Mapping[str, tuple[tuple[TreeName, str], ...]]:
    """Per episode's id, the living nodes learnt from it, as (tree, id). Reads all nodes."""
    found: dict[str, list[tuple[TreeName, str]]] = {}
    for name in TREES:
        for node in bank.tree(name):
            if node.origin.trajectory:
                found.setdefault(node.origin.trajectory, []).append((name, node.id))
    return {episode_id: tuple(nodes) for episode_id, nodes in found.items()}
