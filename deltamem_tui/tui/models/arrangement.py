"""How the lists of a bank are arranged: what is shown, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.credit.credit import usefulness
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.methods import display_of, is_shown
from deltamem_tui.memory.views.filters import Order, matching
from deltamem_tui.memory.views.language import Filter, Language
from deltamem_tui.tui.models.family import Family, Mask

OrderT = TypeVar("OrderT", bound=str)
DueRows = Callable[[Tree], Mask]


@dataclass(frozen=True, slots=True)
class Arrangement(Generic[OrderT]):
    """What is shown, and in which order.

    Attributes:
        text: The filter as it was typed.
        wanted: The same, read.
        order: How it is sorted; of nodes, siblings.
    """

    text: str
    wanted: Filter
    order: OrderT

    @classmethod
    def of(cls, language: Language, text: str, order: OrderT) -> Arrangement[OrderT]:
        """The arrangement by a filter as it was typed.

        Raises:
            UsageError: The filter cannot be read.
        """
        return cls(text, language.parse(text), order)


NodeArrangement = Arrangement[Order]

ALL_NODES: NodeArrangement = Arrangement("", Filter(), "birth")


@dataclass(frozen=True, slots=True)
class ArrangedNodes:
    """The trees of a bank, filtered and sorted.

    Attributes:
        arrangement: Filter and order.
        families: Per tree, who is whose child.
        due: Which rows of a tree are due for maintenance.
        displays: Per tree that is shown, how; one that is never asked is not while it is empty.
    """

    arrangement: NodeArrangement
    families: Mapping[str, Family]
    due: DueRows
    displays: Mapping[str, Display]


def arrange(bank: Bank, arrangement: NodeArrangement, stopped: Callable[[], bool]) -> ArrangedNodes:
    """Filters and sorts the trees.

    Args:
        bank: The bank.
        arrangement: Filter and order.
        stopped: Asked now and then whether the answer is still wanted.
    """
    wanted, families = arrangement.wanted, {}

    def due(tree: Tree) -> Mask:
        from deltamem_tui.memory.methods import method_of, settings_of  # only when it is asked

        return method_of(bank).due_rows(tree, settings_of(bank))

    for name, tree in bank.trees.items():
        useful = usefulness(bank, name)
        kept = None if wanted.empty else matching(tree, wanted, due, stopped, useful)
        utility = useful.utility if useful.judged.any() else None
        families[name] = Family(tree, arrangement.order, kept, utility)
        if kept is not None:
            _ = families[name].preorder  # laid out here: all of it is shown at once
    displays = {name: display_of(bank, name) for name in families if is_shown(bank, name)}
    return ArrangedNodes(arrangement, families, due, displays)
