"""Which nodes a person wants to see, as it is typed, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from deltamem_tui.bank.node import Kind, Label
from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.views.language import Bound, Language, State, Wanted, may_be_id

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Order = Literal["birth", "newest", "hits", "recalls", "children"]
ORDERS: tuple[Order, ...] = ("birth", "newest", "hits", "recalls", "children")


@dataclass(frozen=True, slots=True)
class NodeFilter(Wanted):
    """Which nodes are shown. Every condition must hold.

    Attributes:
        kind: `root` or `residual`.
        label: `success` or `failure`.
        depth: A condition on the depth.
        hits: A condition on c(v).
        recalls: A condition on the episodes whose chain held the node.
        consolidated: Whether its chain was fused.
        due: Whether its chain is due to be fused.
    """

    kind: Kind | None = None
    label: Label | None = None
    depth: Bound | None = None
    hits: Bound | None = None
    recalls: Bound | None = None
    consolidated: bool | None = None
    due: bool | None = None


_LABELS: Mapping[str, State] = {
    "failure": ("label", "failure"),
    "success": ("label", "success"),
}
_KINDS: Mapping[str, State] = {"root": ("kind", "root"), "residual": ("kind", "residual")}

NODES = Language(
    thing="node",
    all=NodeFilter(),
    states={
        "label": _LABELS,
        "kind": _KINDS,
        "is": {
            "never-recalled": ("recalls", Bound("0")),
            "consolidated": ("consolidated", True),
            "due": ("due", True),
            **_LABELS,
            **_KINDS,
        },
    },
    numbers=("depth", "hits", "recalls"),
    help=(
        "words, or the beginning of a node's id; label:failure, kind:root, depth:>2, hits:0, "
        "recalls:1-3, is:never-recalled, is:consolidated, is:due, id:29"
    ),
)
"""The conditions on nodes."""


def matching(
    tree: Tree,
    wanted: NodeFilter,
    due_rows: Callable[[Tree], NDArray[np.bool_]] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> NDArray[np.bool_]:
    """The rows of a collection that a filter lets through.

    Everything that the index and the counters tell is decided for all rows at once; only a
    filter on words reads the lines, and only of the rows that are left.

    Args:
        tree: The collection.
        wanted: The filter.
        due_rows: Which rows are due for maintenance, as the bank's method says; none if not given.
        stopped: Whether to stop; asked now and then. What is returned then is not complete.

    Returns:
        bool [rows]; dead rows are never among them.
    """
    import numpy as np

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
        kept &= (due_rows(tree) if due_rows else np.zeros_like(kept)) == wanted.due
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
