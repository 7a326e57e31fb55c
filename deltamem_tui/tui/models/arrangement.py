"""How the outlines of a bank are arranged: which nodes are shown, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import TREES, TreeName
from deltamem_tui.memory.parameters import Parameters
from deltamem_tui.memory.views.filters import ALL_NODES, NodeFilter, Order, parse_filter
from deltamem_tui.memory.views.matching import matching
from deltamem_tui.tui.models.family import Family


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Which nodes are shown, and in which order.

    Attributes:
        text: The filter as it was typed.
        wanted: The same, read.
        order: How siblings are sorted.
    """

    text: str = ""
    wanted: NodeFilter = ALL_NODES
    order: Order = "birth"

    @classmethod
    def of(cls, text: str, order: Order) -> Arrangement:
        """The arrangement by a filter as it was typed.

        Raises:
            UsageError: The filter cannot be read.
        """
        return cls(text, parse_filter(text), order)


def arrange(
    bank: Bank, arrangement: Arrangement, parameters: Parameters, stopped: Callable[[], bool]
) -> Mapping[TreeName, Family]:
    """Filter and sort both trees.

    Args:
        bank: The bank.
        arrangement: Filter and order.
        parameters: The bank's numbers; K_cons says which nodes are due.
        stopped: Asked now and then whether nobody waits for the answer any more.
    """
    wanted, families = arrangement.wanted, {}
    for name in TREES:
        tree = bank.tree(name)
        kept = None if wanted.empty else matching(tree, wanted, parameters[name], stopped)
        families[name] = Family(tree, arrangement.order, kept)
        if kept is not None:
            _ = families[name].preorder  # laid out here: all of it is shown at once
    return families
