"""Which nodes each episode gave."""

from __future__ import annotations

from collections.abc import Mapping

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.deltamem.collections import COLLECTIONS


def nodes_by_episode(bank: Bank) -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Per episode's id, the living nodes learnt from it, as (tree, id). Reads all nodes."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name in COLLECTIONS:
        for node in bank.tree(name):
            if node.origin.trajectory:
                found.setdefault(node.origin.trajectory, []).append((name, node.id))
    return {episode_id: tuple(nodes) for episode_id, nodes in found.items()}
