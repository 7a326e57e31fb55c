"""Which of a kind's ways to hand over, where several worked with other names.

A way carries over if it acts on what the task names, or worked with that very thing; of those,
the one that worked with the most of the task's names does best.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.writers.rules.procedure import Procedure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BY_CHANCE = re.compile(r"(?:second )?(?:box|room)")  # drawn anew for each task


@dataclass(frozen=True, slots=True)
class _Way:
    """A success of the kind.

    Attributes:
        at: Its position among the rows of the kind.
        text: What it did.
        names: What the task named.
    """

    at: int
    text: str
    names: dict[str, str]


def best_first(
    tree: Tree, rows: NDArray[np.intp], order: Sequence[int], slots: Sequence[tuple[str, str]]
) -> list[int]:
    """Successes with the way that carries over best before all.

    Args:
        tree: The task tree.
        rows: Rows of a kind.
        order: The successes among them, nearest first, as positions in `rows`.
        slots: What the task names: slot and name, the most important first.
    """
    ways = [way for at in order if (way := _way(tree, at, int(rows[at])))]
    if not ways:
        return list(order)
    first = slots[0] if slots else ("", "")

    def worth(way: _Way) -> tuple[bool, int]:
        acts = way.names.get(first[0]) == first[1] or f"[{first[0]}]" in way.text
        same = sum(
            way.names.get(slot) == name for slot, name in slots if not _BY_CHANCE.fullmatch(slot)
        )
        return acts, same

    best = max(ways, key=worth).at  # of equal worth, the nearest
    return [best, *(at for at in order if at != best)]


def _way(tree: Tree, at: int, row: int) -> _Way | None:
    known = Procedure.of(tree.chain_at(row))
    if known is None or not known.steps:
        return None
    return _Way(at, "\n".join(known.steps), dict(known.names))
