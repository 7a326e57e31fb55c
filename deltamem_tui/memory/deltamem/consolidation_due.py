"""Which chains are due to be fused: c(v) ≥ K_cons, once a residual (DeltaMem, equation 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.deltamem.settings import TreeParameters

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def is_due(node: Node, hits: int, parameters: TreeParameters) -> bool:
    """Whether a node that was hit so often is a residual whose chain shall be fused."""
    return (
        parameters.k_cons is not None
        and node.kind == "residual"
        and not node.consolidated
        and hits >= parameters.k_cons
    )


def due_rows(tree: Tree, parameters: TreeParameters) -> NDArray[np.bool_]:
    """The same of a whole tree. bool [rows]."""
    import numpy as np

    index = tree.snapshot.index
    if parameters.k_cons is None or not len(index):
        return np.zeros(len(index), dtype=np.bool_)
    hits = tree.snapshot.counters[tree.birth, 0]
    due: NDArray[np.bool_] = (
        ~tree.dead & index["residual"] & ~index["consolidated"] & (hits >= parameters.k_cons)
    )
    return due
