"""What stands beside a node where there is room: its chain, and the episode it was made of."""

from __future__ import annotations

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.tui.models.episodes import episode_sections
from deltamem_tui.tui.models.nodes import chain_sections
from deltamem_tui.tui.models.sections import Section


def beside_node(bank: Bank, tree: Tree, node: Node, display: Display) -> list[Section]:
    """The chain that leads to a node, unless it is all there is, and then its episode."""
    chain = tree.chain(node.id)
    sections = chain_sections(display, chain) if len(chain) > 1 else []
    if not (name := node.origin.trajectory):
        return [*sections, Section("", "It was made of no episode.", quiet=True)]
    try:
        found = episode(bank, name)
    except DeltaMemError as error:
        return [*sections, Section("Its episode cannot be read", str(error), warning=True)]
    if found is None:
        return [*sections, Section("", f"Its episode {name} is not in this bank.", quiet=True)]
    return [*sections, *episode_sections(found)]
