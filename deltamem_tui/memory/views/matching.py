"""The nodes that a filter lets through, and those that need care.

Everything that the index and the counters tell is decided for all rows at once; only a
filter on words reads the lines, and only of the rows that are left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.deltamem.consolidation_due import due_rows
from deltamem_tui.memory.deltamem.settings import TreeParameters
from deltamem_tui.memory.views.filters import NodeFilter
from deltamem_tui.memory.views.language import may_be_id

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def matching(
    tree: Tree,
    wanted: NodeFilter,
    parameters: TreeParameters,
    stopped: Callable[[], bool] = lambda: False,
) -> NDArray[np.bool_]:
    """The rows of a tree that a filter lets through.

    Args:
        tree: The tree.
        wanted: The filter.
        parameters: The tree's numbers; K_cons says what is due.
        stopped: Asked now and then whether nobody waits for the answer any more.

    Returns:
        bool [rows]; dead rows are never among them.
    """
    index = tree.snapshot.index
    counters = tree.snapshot.counters[tree.birth] if len(index) else tree.snapshot.counters
    kept = ~tree.dead
    if wanted.id:
        kept &= _ids_begin(tree, wanted.id)
    if wanted.kind:
        kept &= index["residual"] == (wanted.kind == "residual")
    if wanted.label:
        kept &= index["failure"] == (wanted.label == "failure")
    if wanted.consolidated is not None:
        kept &= index["consolidated"] == wanted.consolidated
    if wanted.due is not None:
        kept &= due_rows(tree, parameters) == wanted.due
    for bound, values in (
        (wanted.depth, index["depth"]),
        (wanted.hits, counters[:, 0]),
        (wanted.recalls, counters[:, 1]),
    ):
        if bound:
            kept &= bound.holds(values)
    return _with_words(tree, kept, wanted.words, stopped) if wanted.words else kept


def _with_words(
    tree: Tree, kept: NDArray[np.bool_], words: tuple[str, ...], stopped: Callable[[], bool]
) -> NDArray[np.bool_]:
    import numpy as np

    by_id = {word: _ids_begin(tree, word) for word in words if may_be_id(word)}
    for number, row in enumerate(np.flatnonzero(kept)):
        if number % 256 == 0 and stopped():
            break
        text = tree.node_at(int(row)).text.casefold()
        kept[row] = all(word in text or (word in by_id and by_id[word][row]) for word in words)
    return kept


def _ids_begin(tree: Tree, prefix: str) -> NDArray[np.bool_]:
    """The rows whose node's id begins so. bool [rows]."""
    ids = tree.snapshot.index["id"]
    start = prefix.encode()
    begins: NDArray[np.bool_] = (ids >= start) & (ids < start + b"\xff")
    return begins
