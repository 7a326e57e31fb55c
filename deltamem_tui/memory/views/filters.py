"""Which nodes a person wants to see: filters as they are typed, and the nodes that need care.

Everything that the index and the counters tell is decided for all rows at once; only a
filter on words reads the lines, and only of the rows that are left.
"""

from __future__ import annotations

import operator
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
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
    "words, or the beginning of a node's id; label:failure, kind:root, depth:>2, hits:0, "
    "recalls:1-3, is:never-recalled, is:consolidated, is:due, id:29"
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
_LABELS: tuple[Label, ...] = ("failure", "success")
_KINDS: tuple[Kind, ...] = ("root", "residual")
_STATES: Mapping[str, tuple[str, ...]] = {
    "label": _LABELS,
    "kind": _KINDS,
    "is": ("never-recalled", "consolidated", "due", *_LABELS, *_KINDS),
}
_NUMBERS = ("depth", "hits", "recalls")
_KEYS = (*_STATES, *_NUMBERS, "id")
_NAME = re.compile(r"[a-z][a-z_-]*")
_ID = re.compile(r"[0-9a-f]{1,16}")
LONGEST_FILTER = 1_000
"""Characters. To take a line apart takes a time that grows with the square of its length."""

_ID_DIGITS = 4
"""Words of fewer digits are numbers in a text far more often than the beginning of an id."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A condition on a number, as it is typed: `3`, `>2`, `<=5`, `1-4`."""

    text: str

    def __post_init__(self) -> None:
        if not (_NUMBER.fullmatch(self.text) or _RANGE.fullmatch(self.text)):
            raise UsageError(
                f"{one_line(self.text, 20)!r} is no condition on a number"
                if self.text
                else "which number?",
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
        words: Texts that the node's own text must hold, upper and lower case alike; one of
            four hexadecimal digits or more may as well be the beginning of its id.
        kind: `root` or `residual`.
        label: `success` or `failure`.
        depth: A condition on the depth.
        hits: A condition on c(v).
        recalls: A condition on the episodes whose chain held the node.
        consolidated: Whether its chain was fused.
        due: Whether its chain is due to be fused.
        id: The beginning of its id.
    """

    words: tuple[str, ...] = ()
    kind: Kind | None = None
    label: Label | None = None
    depth: Bound | None = None
    hits: Bound | None = None
    recalls: Bound | None = None
    consolidated: bool | None = None
    due: bool | None = None
    id: str | None = None

    @property
    def empty(self) -> bool:
        """Whether all nodes are shown."""
        return self == NodeFilter()


ALL_NODES = NodeFilter()


def parse_filter(text: str) -> NodeFilter:
    """Read a filter as a person types it; see `FILTER_HELP`.

    Raises:
        UsageError: A condition does not exist, or has a value that it cannot have; or the text
            is longer than `LONGEST_FILTER`.
    """
    if len(text) > LONGEST_FILTER:
        raise UsageError(
            f"{len(text):,} characters are too many for a filter",
            hint=f"at most {LONGEST_FILTER:,}",
        )
    found = NodeFilter()
    for word in _split(text):
        found = _with_word(found, word.casefold())
    return found


def doubt_about(text: str) -> str:
    """What a person may have meant otherwise, as a sentence; empty if nothing.

    A word such as `depht:3` is sought in the texts. Who misspelt a condition has to learn that.

    Args:
        text: A filter that can be read.
    """
    for word in _split(text):
        name, colon, value = word.casefold().partition(":")
        if colon and name not in _KEYS and _NAME.fullmatch(name):
            near = get_close_matches(name, _KEYS, n=1, cutoff=0.7)
            meant = f"; did you mean {near[0]}:{one_line(value, 20)}?" if near else ""
            return f"{one_line(word, 30)} is taken as words{meant}"
    return ""


def _split(text: str) -> Sequence[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quotation mark that is still open while it is typed
        return text.replace('"', " ").replace("'", " ").split()


def _with_word(found: NodeFilter, word: str) -> NodeFilter:
    name, colon, value = word.partition(":")
    if not colon or name not in _KEYS:
        return replace(found, words=(*found.words, word))
    if name in _NUMBERS:
        bound = _bound(name, value)
        return replace(
            found,
            depth=bound if name == "depth" else found.depth,
            hits=bound if name == "hits" else found.hits,
            recalls=bound if name == "recalls" else found.recalls,
        )
    if name == "id":
        return replace(found, id=_id(value))
    return _with_state(found, _state(name, value))


def _bound(name: str, value: str) -> Bound:
    try:
        return Bound(value)
    except UsageError as error:
        error.source = name
        raise


def _id(value: str) -> str:
    if not _ID.fullmatch(value):
        raise UsageError(
            f"{one_line(value, 20)!r} is not the beginning of one",
            source="id",
            hint="up to 16 of the digits 0-9 and a-f",
        )
    return value


def _state(name: str, value: str) -> str:
    """The state whose name, or the beginning of it, was typed."""
    states = _STATES[name]
    known = [state for state in states if value and state.startswith(value)]
    if len(known) != 1:
        said = (
            f"{one_line(value, 20)!r} may be more than one"
            if known
            else (f"there is no {one_line(value, 20)!r}" if value else "which one?")
        )
        *others, last = known or states
        raise UsageError(said, source=name, hint=f"{', '.join(others)} or {last}")
    return known[0]


def _with_state(found: NodeFilter, state: str) -> NodeFilter:
    changes: dict[str, NodeFilter] = {
        "never-recalled": replace(found, recalls=Bound("0")),
        "consolidated": replace(found, consolidated=True),
        "due": replace(found, due=True),
        "failure": replace(found, label="failure"),
        "success": replace(found, label="success"),
        "root": replace(found, kind="root"),
        "residual": replace(found, kind="residual"),
    }
    return changes[state]


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

    by_id = {word: _ids_begin(tree, word) for word in words if _may_be_id(word)}
    for number, row in enumerate(np.flatnonzero(kept)):
        if number % 256 == 0 and stopped():
            break
        text = tree.node_at(int(row)).text.casefold()
        kept[row] = all(word in text or (word in by_id and by_id[word][row]) for word in words)
    return kept


def _may_be_id(word: str) -> bool:
    return len(word) >= _ID_DIGITS and _ID.fullmatch(word) is not None


def _ids_begin(tree: Tree, prefix: str) -> NDArray[np.bool_]:
    """The rows whose node's id begins so. bool [rows]."""
    ids = tree.snapshot.index["id"]
    start = prefix.encode()
    begins: NDArray[np.bool_] = (ids >= start) & (ids < start + b"\xff")
    return begins
