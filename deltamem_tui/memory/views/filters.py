"""Which nodes a person wants to see, as it is typed, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.views.language import Bound, Filter, Language, State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    DueRows = Callable[[Tree], NDArray[np.bool_]]

Order = Literal["birth", "newest", "hits", "recalls", "children"]
ORDERS: tuple[Order, ...] = ("birth", "newest", "hits", "recalls", "children")

_LABELS: Mapping[str, State] = {
    "failure": State("failure", (1,)),
    "success": State("failure", (0,)),
}
_KINDS: Mapping[str, State] = {"root": State("residual", (0,)), "residual": State("residual", (1,))}

NODES = Language(
    thing="node",
    states={
        "label": _LABELS,
        "kind": _KINDS,
        "is": {
            "never-recalled": ("recalls", Bound.parse("0")),
            "consolidated": State("consolidated", (1,)),
            "due": State("due", (1,)),
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
    wanted: Filter,
    due_rows: DueRows | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> NDArray[np.bool_]:
    """The living rows of a collection that a filter lets through. bool [rows].

    `due_rows` returns the rows that are due for maintenance, as the bank's method says. Once
    `stopped` returns True, the rest is not looked at.
    """
    return wanted.matching(_NodeTable(tree, due_rows), ~tree.dead, stopped)


@dataclass(frozen=True, slots=True)
class _NodeTable:
    tree: Tree
    due_rows: DueRows | None

    @property
    def ids(self) -> NDArray[np.bytes_]:
        ids: NDArray[np.bytes_] = self.tree.snapshot.index["id"]
        return ids

    def column(self, name: str) -> NDArray[Any]:
        snapshot = self.tree.snapshot
        if name == "due":
            return self.due_rows(self.tree) if self.due_rows else snapshot.index["depth"] < 0
        if name in ("hits", "recalls"):
            counters = snapshot.counters[self.tree.birth] if len(self.ids) else snapshot.counters
            return counters[:, ("hits", "recalls").index(name)]
        column: NDArray[Any] = snapshot.index[name]
        return column

    def text(self, row: int) -> str:
        return self.tree.node_at(row).text
