"""How the lists of a bank are arranged: what is shown, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.deltamem.collections import COLLECTIONS
from deltamem_tui.memory.deltamem.settings import Parameters
from deltamem_tui.memory.methods import method_of
from deltamem_tui.memory.views.episode_filters import EPISODES, EpisodeFilter, EpisodeOrder
from deltamem_tui.memory.views.filters import NODES, NodeFilter, Order, matching
from deltamem_tui.memory.views.language import Language, WantedT
from deltamem_tui.tui.models.family import Family

OrderT = TypeVar("OrderT", bound=str)


@dataclass(frozen=True, slots=True)
class Arrangement(Generic[WantedT, OrderT]):
    """What is shown, and in which order.

    Attributes:
        text: The filter as it was typed.
        wanted: The same, read.
        order: How it is sorted; of nodes, siblings.
    """

    text: str
    wanted: WantedT
    order: OrderT

    @classmethod
    def of(
        cls, language: Language[WantedT], text: str, order: OrderT
    ) -> Arrangement[WantedT, OrderT]:
        """The arrangement by a filter as it was typed.

        Raises:
            UsageError: The filter cannot be read.
        """
        return cls(text, language.parse(text), order)


NodeArrangement = Arrangement[NodeFilter, Order]
EpisodeArrangement = Arrangement[EpisodeFilter, EpisodeOrder]

ALL_NODES: NodeArrangement = Arrangement("", NODES.all, "birth")
ALL_EPISODES: EpisodeArrangement = Arrangement("", EPISODES.all, "import")


def arrange(
    bank: Bank, arrangement: NodeArrangement, parameters: Parameters, stopped: Callable[[], bool]
) -> Mapping[str, Family]:
    """Filter and sort both trees.

    Args:
        bank: The bank.
        arrangement: Filter and order.
        parameters: The bank's numbers; K_cons says which nodes are due.
        stopped: Asked now and then whether nobody waits for the answer any more.
    """
    wanted, families = arrangement.wanted, {}
    due = partial(method_of(bank).due_rows, settings=parameters)
    for name in COLLECTIONS:
        tree = bank.tree(name)
        kept = None if wanted.empty else matching(tree, wanted, due, stopped)
        families[name] = Family(tree, arrangement.order, kept)
        if kept is not None:
            _ = families[name].preorder  # laid out here: all of it is shown at once
    return families
