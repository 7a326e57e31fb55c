"""Filters as a person types them: `word`, `-word` and `key:value`, which must all hold.

A value is a name, a number, or `>2` and `<.5`. Words are sought in all texts of a thing, upper and
lower case alike; one of four hexadecimal digits or more may as well be the beginning of its id.
"""

from __future__ import annotations

import operator
import re
import shlex
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import text_of
from deltamem_tui.bank.tree import Tree
from deltamem_tui.errors import DeltaMemError, UsageError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import OUTCOME_SOURCES, Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from deltamem_tui.memory.credit.credit import Usefulness

    DueRows = Callable[[Tree], NDArray[np.bool_]]

LONGEST_FILTER = 1_000
"""Characters, as many as the browser's line takes."""
_NUMBER = re.compile(r"([<>]?)(\d{1,9}|\d?\.\d{1,6})")
_ID = re.compile(r"[0-9a-f]{1,16}")
_ID_DIGITS = 4  # words of fewer digits are numbers far more often than the beginning of an id
_STOPPED_EVERY = 256


class FilteredTable(Protocol):
    """The rows that a filter is applied to."""

    @property
    def ids(self) -> NDArray[np.bytes_]:
        """The ids. [rows]."""

    def column(self, name: str) -> NDArray[Any]:
        """Return the values that a condition looks at, as numbers. [rows]."""

    def texts(self, rows: NDArray[np.int64]) -> Iterable[str]:
        """Return all texts of each of some rows."""


class Condition(NamedTuple):
    """The value that a column is compared with."""

    column: str
    sign: str
    value: float
    negated: bool = False

    def holds(self, table: FilteredTable) -> NDArray[np.bool_]:
        """Return where it holds. bool [rows]."""
        compare = {">": operator.gt, "<": operator.lt}.get(self.sign, operator.eq)
        found: NDArray[np.bool_] = compare(table.column(self.column), self.value)
        return found ^ self.negated


@dataclass(frozen=True, slots=True)
class Filter:
    """Which things of a kind are shown.

    Attributes:
        words: Folded texts that a thing must hold.
        without: Folded texts that it must not hold.
        conditions: What else must hold.
    """

    words: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()

    @property
    def empty(self) -> bool:
        """True if all are shown."""
        return self == Filter()

    def matching(
        self, table: FilteredTable, shown: NDArray[np.bool_], stopped: Callable[[], bool]
    ) -> NDArray[np.bool_]:
        """Return where the filter holds. bool [rows].

        Only rows that are `shown`, bool [rows], are looked at, and none any more once `stopped`
        returns True. Words are sought only in the rows that all conditions leave.
        """
        import numpy as np

        kept = shown.copy()
        for each in self.conditions:
            kept &= each.holds(table)
        if not (self.words or self.without):
            return kept
        by_id = {word: _ids_begin(table.ids, word) for word in self.words if _may_be_id(word)}

        def holds(row: int, text: str) -> bool:
            found = all(word in text or (word in by_id and by_id[word][row]) for word in self.words)
            return found and not any(word in text for word in self.without)

        left = np.flatnonzero(kept)
        for start in range(0, len(left), _STOPPED_EVERY):
            if stopped():
                break
            rows = left[start : start + _STOPPED_EVERY]
            kept[rows] = [*map(holds, rows.tolist(), map(fold, table.texts(rows)))]
        return kept


def _may_be_id(word: str) -> bool:
    return len(word) >= _ID_DIGITS and _ID.fullmatch(word) is not None


def _ids_begin(ids: NDArray[np.bytes_], prefix: str) -> NDArray[np.bool_]:
    start = prefix.encode()
    begins: NDArray[np.bool_] = (ids >= start) & (ids < start + b"\xff")
    return begins


@dataclass(frozen=True, slots=True)
class Language:
    """The conditions that there are on things of one kind.

    Attributes:
        thing: What one of them is called.
        names: Per key, the names that may follow it, each with its column and its value there.
        numbers: The keys that a number follows, each named as its column.
        help: What can be typed, for a person.
    """

    thing: str
    names: Mapping[str, Mapping[str, tuple[str, int]]]
    numbers: tuple[str, ...]
    help: str

    def parse(self, text: str) -> Filter:
        """Read a filter as a person types it; see `help`.

        Raises:
            UsageError: A key has a value that it cannot have.
        """
        words: list[str] = []
        without: list[str] = []
        conditions: list[Condition] = []
        for part in map(fold, _split(text)):
            negated = len(part) > 1 and part.startswith("-")
            key, colon, value = part[negated:].partition(":")
            if colon and (key in self.names or key in self.numbers):
                conditions.append(self._condition(key, value)._replace(negated=negated))
            else:
                (without if negated else words).append(part[negated:])
        return Filter(tuple(words), tuple(without), tuple(conditions))

    def _condition(self, key: str, value: str) -> Condition:
        said = one_line(value, 20)
        if key in self.numbers:
            if (found := _NUMBER.fullmatch(value)) is None:
                raise UsageError(f"{said!r} is not a number", source=key, hint="3, >2 or <.5")
            return Condition(key, found[1], float(found[2]))
        known = [name for name in self.names[key] if value and name.startswith(value)]
        if len(known) != 1:
            hint = " or ".join(known or self.names[key])
            raise UsageError(f"{said!r} is not one of its values", source=key, hint=hint)
        column, number = self.names[key][known[0]]
        return Condition(column, "", float(number))


def _split(text: str) -> Sequence[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quotation mark that is still open while it is typed
        return text.replace('"', " ").replace("'", " ").split()


# Nodes

Order = Literal["birth", "newest", "hits", "recalls", "children", "utility"]
ORDERS: tuple[Order, ...] = ("birth", "newest", "hits", "recalls", "children", "utility")
"""By `utility` the least useful come first, and those of which nothing is known last."""

_LABELS = {"failure": ("failure", 1), "success": ("failure", 0)}
_KINDS = {"root": ("residual", 0), "residual": ("residual", 1)}
_STATES = {"never-recalled": ("recalls", 0), "consolidated": ("consolidated", 1), "due": ("due", 1)}

NODES = Language(
    thing="node",
    names={"label": _LABELS, "kind": _KINDS, "is": {**_STATES, **_LABELS, **_KINDS}},
    numbers=("depth", "hits", "recalls", "shown", "utility"),
    help=(
        "words, -words to leave out, or the beginning of a node's id; label:failure, kind:root, "
        "depth:>2, hits:0, recalls:3, utility:<.5, shown:>3, is:never-recalled, "
        "is:consolidated, is:due; -label:failure"
    ),
)
"""The conditions on nodes."""


def matching(
    tree: Tree,
    wanted: Filter,
    due_rows: DueRows | None = None,
    stopped: Callable[[], bool] = lambda: False,
    useful: Usefulness | None = None,
) -> NDArray[np.bool_]:
    """Return the living rows of a collection that a filter lets through. bool [rows].

    `due_rows` returns the rows that are due for maintenance, as the bank's method says. Once
    `stopped` returns True, the rest is not looked at. What the nodes were `useful` for comes from
    the bank's credit; without it none was shown.
    """
    return wanted.matching(_NodeTable(tree, due_rows, useful), ~tree.dead, stopped)


@dataclass(frozen=True, slots=True)
class _NodeTable:
    tree: Tree
    due_rows: DueRows | None
    useful: Usefulness | None

    @property
    def ids(self) -> NDArray[np.bytes_]:
        ids: NDArray[np.bytes_] = self.tree.snapshot.index["id"]
        return ids

    def column(self, name: str) -> NDArray[Any]:
        import numpy as np

        snapshot = self.tree.snapshot
        if name == "due":
            return self.due_rows(self.tree) if self.due_rows else snapshot.index["depth"] < 0
        if name in ("hits", "recalls"):
            counters = snapshot.counters[self.tree.birth] if len(self.ids) else snapshot.counters
            return counters[:, ("hits", "recalls").index(name)]
        if name in ("shown", "utility"):
            if self.useful is None:
                return np.full(len(self.ids), np.nan if name == "utility" else 0)
            values = self.useful.utility if name == "utility" else self.useful.shown
            return values[self.tree.birth]
        column: NDArray[Any] = snapshot.index[name]
        return column

    def texts(self, rows: NDArray[np.int64]) -> Iterable[str]:
        return map(text_of, self.tree.snapshot.payloads(rows))


# Episodes

EpisodeOrder = Literal["import", "newest", "outcome", "steps", "nodes"]
EPISODE_ORDERS: tuple[EpisodeOrder, ...] = ("import", "newest", "outcome", "steps", "nodes")

_UNREADABLE = -1
_ENDINGS: Mapping[bool | None, str] = {None: "unknown", False: "failure", True: "success"}
"""How an episode can have ended; what has to be looked at comes first."""
_OUTCOMES = {ending: ("outcome", number) for number, ending in enumerate(_ENDINGS.values())}
_LEARNT, _WAITING = range(2)

EPISODES = Language(
    thing="episode",
    names={
        "outcome": _OUTCOMES,
        "source": {name: ("source", number) for number, name in enumerate(OUTCOME_SOURCES)},
        "is": {
            "learnt": ("state", _LEARNT),
            "waiting": ("state", _WAITING),
            "refused": ("refused", 1),
            **_OUTCOMES,
        },
    },
    numbers=("steps", "nodes"),
    help=(
        "words, -words to leave out, or the beginning of an episode's id; outcome:unknown, "
        "outcome:failure, source:judge, is:waiting, is:learnt, is:refused, steps:>30, nodes:0; "
        "-is:learnt"
    ),
)
"""The conditions on episodes."""


class EpisodeTable:
    """The columns of a bank's episodes at one commit, for filters and orders.

    Ids, states and nodes are at hand. How an episode ended and how long it is stand in its record:
    the records are read once, when a filter or an order first asks for that.

    Args:
        nodes: Per episode's id, the living nodes that it gave.
        refused: The ids of those that wait because they could not be learnt.

    Attributes:
        episode_ids: All ids, in order of import. An episode's number is its place here.
        ids: The same, as an array of bytes.
    """

    def __init__(
        self, bank: Bank, nodes: Mapping[str, Sequence[object]], refused: Collection[str]
    ) -> None:
        import numpy as np

        self.episode_ids = bank.episodes.ids()
        self.ids = np.array(self.episode_ids, dtype=np.bytes_)
        self._bank = bank
        self._nodes = nodes
        self._refused = refused
        self._read: NDArray[Any] | None = None
        self._stopped: Callable[[], bool] = lambda: False

    def chosen(
        self,
        wanted: Filter,
        order: EpisodeOrder = "import",
        stopped: Callable[[], bool] = lambda: False,
    ) -> list[int]:
        """Return the numbers of the episodes that a filter lets through.

        The oldest come first, or the `newest`, or what has to be looked at by its `outcome`, or the
        most `steps` or `nodes`. Once `stopped` returns True, the answer is not complete.
        """
        import numpy as np

        self._stopped = stopped
        numbers = np.flatnonzero(wanted.matching(self, np.ones(len(self.ids), bool), stopped))
        if order == "newest":
            numbers = numbers[::-1]
        elif order != "import":
            rank = self.column(order) if order == "outcome" else -self.column(order)
            numbers = numbers[np.argsort(rank[numbers], kind="stable")]
        found: list[int] = numbers.tolist()
        return found

    def column(self, name: str) -> NDArray[Any]:
        """Return the values of all episodes, -1 where a record cannot be read. [episodes]."""
        import numpy as np

        if name == "nodes":
            values = [len(self._nodes.get(each, ())) for each in self.episode_ids]
        elif name == "refused":
            values = [each in self._refused for each in self.episode_ids]
        elif name == "state":
            waiting = set(self._bank.episodes.waiting())
            values = [_WAITING if each in waiting else _LEARNT for each in self.episode_ids]
        else:
            column: NDArray[Any] = self._recorded()[name]
            return column
        return np.array(values, dtype=np.int64)

    def texts(self, rows: NDArray[np.int64]) -> Iterable[str]:
        """Return all texts of each of some episodes; empty if it cannot be read."""
        return map(self._text, rows.tolist())

    def _text(self, row: int) -> str:
        episode = self._episode(row)
        if episode is None:
            return ""
        steps = (f"{each.thought}\n{each.action}\n{each.observation}" for each in episode.steps)
        return "\n".join((episode.task, episode.environment, episode.outcome.reason, *steps))

    def _recorded(self) -> NDArray[Any]:
        """Return what the records hold: (outcome, source, steps) [episodes]."""
        import numpy as np

        if self._read is not None:
            return self._read
        types = [("outcome", np.int8), ("source", np.int8), ("steps", np.int64)]
        columns = np.full(len(self.ids), _UNREADABLE, dtype=types)
        for number in range(len(self.ids)):
            if number % _STOPPED_EVERY == 0 and self._stopped():
                return columns
            if (episode := self._episode(number)) is not None:
                outcome = episode.outcome
                columns[number] = (
                    list(_ENDINGS).index(outcome.success),
                    OUTCOME_SOURCES.index(outcome.source),
                    len(episode.steps),
                )
        self._read = columns
        return columns

    def _episode(self, number: int) -> Trajectory | None:
        from deltamem_tui.trajectory.readers.native import from_record

        try:
            return from_record(self._bank.episodes.record(self.episode_ids[number]) or {})
        except DeltaMemError:  # the list shows that
            return None


# Where words are in a text

Span = tuple[int, int]
"""The beginning and the end of a stretch of text."""


def fold(text: str) -> str:
    """Return a text in which upper and lower case are alike: words are sought in nothing else."""
    return text.casefold()


def occurrences(text: str, words: Sequence[str]) -> list[Span]:
    """Return the stretches of a text in which words stand.

    Args:
        text: The text as it is shown.
        words: What is sought, folded; what is empty stands nowhere.

    Returns:
        The stretches in order; those that touch or overlap are one.
    """
    folded = fold(text)
    found = sorted(each for word in words if word for each in _spans(folded, word))
    if found and len(folded) != len(text):  # such as ß, which is folded to ss
        ends = list(accumulate(len(fold(sign)) for sign in text))
        found = [(bisect_right(ends, begin), bisect_left(ends, end) + 1) for begin, end in found]
    joined: list[Span] = []
    for begin, end in found:
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((begin, end))
    return joined


def _spans(folded: str, word: str) -> Iterator[Span]:
    at = folded.find(word)
    while at >= 0:
        yield at, at + len(word)
        at = folded.find(word, at + 1)
