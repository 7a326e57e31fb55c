"""Which nodes a person wants to see: filters as they are typed, and the nodes that need care.

Everything that the index and the counters tell is decided for all rows at once; only a
filter on words reads the lines, and only of the rows that are left.
"""

from __future__ import annotations

import operator
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from deltamem_tui.bank.node import Kind, Label
from deltamem_tui.bank.tree import Tree
from deltamem_tui.errors import UsageError
from deltamem_tui.memory.due import due_rows
from deltamem_tui.memory.parameters import TreeParameters
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Order = Literal["birth", "newest", "hits", "recalls", "children"]
ORDERS: tuple[Order, ...] = ("birth", "newest", "hits", "recalls", "children")

FILTER_HELP = (
    "words, label:failure, kind:root, depth:>2, hits:0, recalls:1-3, "
    "is:never-recalled, is:consolidated, is:due"
)

_COMPARISONS: dict[str, Callable[[Any, int], Any]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "": operator.eq,
}
_NUMBER = re.compile(r"(>=|<=|>|<|)(\d{1,9})")
_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})")
_STATES = ("never-recalled", "consolidated", "due", "failure", "success", "root", "residual")


@dataclass(frozen=True, slots=True)
class Bound:
    """A condition on a number, as it is typed: `3`, `>2`, `<=5`, `1-4`."""

    text: str

    def __post_init__(self) -> None:
        if not (_NUMBER.fullmatch(self.text) or _RANGE.fullmatch(self.text)):
            raise UsageError(
                f"{one_line(self.text, 20)!r} is no condition on a number",
                hint="3, >2, <=5 or 1-4",
            )

    def holds(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Where the condition holds. bool, in the values' shape."""
        if between := _RANGE.fullmatch(self.text):
            low, high = (int(part) for part in between.groups())
            inside: NDArray[np.bool_] = (values >= low) & (values <= high)
            return inside
        match = _NUMBER.fullmatch(self.text)
        sign, number = match.groups() if match else ("", "0")
        held: NDArray[np.bool_] = _COMPARISONS[sign](values, int(number))
        return held


@dataclass(frozen=True, slots=True)
class NodeFilter:
    """Which nodes are shown. Every condition must hold.

    Attributes:
        words: Texts that the node's own text must hold, upper and lower case alike.
        kind: `root` or `residual`.
        label: `success` or `failure`.
        depth: A condition on the depth.
        hits: A condition on c(v).
        recalls: A condition on the episodes whose chain held the node.
        consolidated: Whether its chain was fused.
        due: Whether its chain is due to be fused.
    """

    words: tuple[str, ...] = ()
    kind: Kind | None = None
    label: Label | None = None
    depth: Bound | None = None
    hits: Bound | None = None
    recalls: Bound | None = None
    consolidated: bool | None = None
    due: bool | None = None

    @property
    def empty(self) -> bool:
        """Whether all nodes are shown."""
        return self == NodeFilter()


ALL_NODES = NodeFilter()


def parse_filter(text: str) -> NodeFilter:
    """Read a filter as a person types it; see `FILTER_HELP`.

    Raises:
        UsageError: A condition does not exist, or has a value that it cannot have.
    """
    try:
        words = shlex.split(text)
    except ValueError:  # a quotation mark that is still open while it is typed
        words = text.replace('"', " ").replace("'", " ").split()
    found = NodeFilter()
    for word in words:
        found = _with_word(found, word)
    return found


def _with_word(found: NodeFilter, word: str) -> NodeFilter:
    name, colon, value = word.partition(":")
    if colon and name in {"depth", "hits", "recalls"}:
        bound = Bound(value)
        return replace(
            found,
            depth=bound if name == "depth" else found.depth,
            hits=bound if name == "hits" else found.hits,
            recalls=bound if name == "recalls" else found.recalls,
        )
    if colon and name in {"is", "label", "kind"}:
        return _with_state(found, value)
    return replace(found, words=(*found.words, word.casefold()))


def _with_state(found: NodeFilter, value: str) -> NodeFilter:
    known = [state for state in _STATES if value and state.startswith(value)]
    if len(known) != 1:
        raise UsageError(
            f"there is no {one_line(value, 20)!r} to filter by", hint=f"one of {', '.join(_STATES)}"
        )
    changes: dict[str, NodeFilter] = {
        "never-recalled": replace(found, recalls=Bound("0")),
        "consolidated": replace(found, consolidated=True),
        "due": replace(found, due=True),
        "failure": replace(found, label="failure"),
        "success": replace(found, label="success"),
        "root": replace(found, kind="root"),
        "residual": replace(found, kind="residual"),
    }
    return changes[known[0]]


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

    for number, row in enumerate(np.flatnonzero(kept)):
        if number % 256 == 0 and stopped():
            break
        text = tree.node_at(int(row)).text.casefold()
        kept[row] = all(word in text for word in words)
    return kept
