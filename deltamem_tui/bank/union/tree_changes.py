"""What a merge changes in one tree of the bank that it goes into, told node by node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deltamem_tui.bank.keys import texts
from deltamem_tui.bank.replicas import Values
from deltamem_tui.bank.union.apply import Graft
from deltamem_tui.bank.union.columns import Flags


@dataclass(frozen=True, slots=True)
class TreeChanges:
    """What a merge changes in one tree of the first bank. Ids, in order of birth.

    Attributes:
        added: Living nodes that it gets.
        revised: Living nodes that say something else, or stand elsewhere.
        deleted: Nodes that another bank deleted.
        revived: Nodes that it had deleted, and another bank changed since.
        hidden: Nodes that their own bank has alive, below one that another bank deleted. They
            are kept, and come back when what is above them does.
        loosened: Nodes that became roots because they were moved below each other.
        tombstones: How many deleted nodes it gets that it never had alive.
        left_out: How many nodes were not taken.
        counted: How many nodes get other counts.
        too_deep: How many living nodes stand deeper than the tree's D_max.
    """

    added: tuple[str, ...]
    revised: tuple[str, ...]
    deleted: tuple[str, ...]
    revived: tuple[str, ...]
    hidden: tuple[str, ...]
    loosened: tuple[str, ...]
    tombstones: int
    left_out: int
    counted: int
    too_deep: int


def found(
    graft: Graft, before: Values, after: Values, *, deepest: int | None, left_out: int
) -> TreeChanges:
    """What is going to change.

    Args:
        graft: What the bank has to write.
        before: What its nodes count, in the order of the join. int64 [nodes, 3].
        after: What they will count. int64 [nodes, 3].
        deepest: The tree's D_max, if it has one.
        left_out: How many nodes were not taken.
    """
    join, holds = graft.join, graft.join.holding
    lived = np.zeros(len(join), dtype=np.bool_)
    first = join.sides[0]
    lived[: graft.before] = ~first.snapshot.index["deleted"][first.rows]
    new = np.arange(len(join)) >= graft.before
    revised = np.zeros(len(join), dtype=np.bool_)
    revised[graft.revised] = True
    too_deep = holds.living & (holds.depth > (len(join) if deepest is None else deepest))

    def ids(mask: Flags) -> tuple[str, ...]:
        return tuple(each.decode() for each in texts(join.ids[mask]))

    return TreeChanges(
        added=ids(new & holds.living),
        revised=ids(lived & holds.living & revised),
        deleted=ids(lived & ~holds.living),
        revived=ids(~new & ~lived & holds.living),
        hidden=ids(~holds.living & ~join.deleted),
        loosened=ids(holds.loosened & holds.living),
        tombstones=int((new & join.deleted).sum()),
        left_out=left_out,
        counted=int((before != after).any(axis=1).sum()),
        too_deep=int(too_deep.sum()),
    )
