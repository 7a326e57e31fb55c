"""Which of a kind's ways to hand over, where several worked with other names.

A way carries over if it acts on what the task names, or worked with that very thing; of those,
the one that worked with the most of the task's names does best. Where the same was done several
times, the way most like the others has the least of what went astray in one episode.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.procedure import Procedure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from deltamem_tui.memory.domain import Goal


@dataclass(frozen=True, slots=True)
class _Way:
    """A success of the kind.

    Attributes:
        at: Its position among the rows of the kind.
        steps: How often it did what.
        names: What the task named.
    """

    at: int
    steps: Counter[str]
    names: Mapping[str, str]

    def acts_on(self, slot: str, name: str) -> bool:
        """Whether it worked with a name, or says where another one goes."""
        return self.names.get(slot) == name or any(f"[{slot}]" in step for step in self.steps)

    def unlike(self, others: Sequence[_Way]) -> int:
        """How many commands it has that others have not, and the other way round."""
        return sum(
            ((self.steps - each.steps) + (each.steps - self.steps)).total() for each in others
        )


def best_first(tree: Tree, rows: NDArray[np.intp], order: Sequence[int], goal: Goal) -> list[int]:
    """Successes with the way that carries over best before all.

    Args:
        tree: The task tree.
        rows: Rows of a kind.
        order: The successes among them, nearest first, as positions in `rows`.
        goal: The task.
    """
    ways = [way for at in order if (way := _way(tree, at, int(rows[at])))]
    if not ways:
        return list(order)
    telling = [(slot, name) for slot, name in goal.slots if slot not in goal.drawn]

    def worth(way: _Way) -> tuple[int, int]:
        acts = sum(way.acts_on(slot, name) for slot, name in telling)
        return acts, sum(way.names.get(slot) == name for slot, name in telling)

    nearest = max(ways, key=worth)
    same = [way for way in ways if way.names == nearest.names]
    best = min(same, key=lambda way: (way.unlike(same), way.unlike(ways))).at
    return [best, *(at for at in order if at != best)]


def _way(tree: Tree, at: int, row: int) -> _Way | None:
    known = Procedure.of(tree.chain_at(row))
    if known is None or not known.steps:
        return None
    return _Way(at, Counter(known.steps), known.names)
