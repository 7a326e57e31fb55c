"""Chains of DeltaMem's two trees as an agent receives them."""

from __future__ import annotations

from collections.abc import Sequence

from deltamem_tui.bank.node import Node
from deltamem_tui.memory import context
from deltamem_tui.memory.deltamem.collections import DISPLAY


def chain_entries(tree: str, chain: Sequence[Node]) -> list[str]:
    """One chain, an entry a node: the base payload, then each delta in order."""
    return context.chain_entries(DISPLAY[tree], chain)
