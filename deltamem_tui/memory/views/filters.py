"""Filters as a person types them: `word`, `-word` and `key:value`, which must all hold.

A value is a name, a number, or `>2` and `<.5`. Words are sought in all texts of a thing, upper and
lower case alike; one of four letters or more may as well be the beginning of its id.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import text_of
from deltamem_tui.bank.tree import Tree
from deltamem_tui.errors import DeltaMemError, UsageError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import OUTCOME_SOURCES, Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from deltamem_tui.memory.episodes.credit import Usefulness

    DueRows = Callable[[Tree], NDArray[np.bool_]]
    Flags = NDArray[np.bool_]

LONGEST_FILTER = 1_000
"""Characters, as many as the browser's line takes."""
_NUMBER = re.compile(r"([<>]?)(\d{1,9}|\d?\.\d{1,6})")
_ID_LETTERS = 4  # shorter words are numbers far more often than the beginning of an id
_STOPPED_EVERY = 256


def _never() -> bool:
    return False


class Condition(NamedTuple):
    """The value that a column is compared with."""

    column: str
    sign: str
    value: float
    negated: bool = False


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
        self,
        shown: Flags,
        column: Callable[[str], NDArray[Any]],
        texts: Callable[[NDArray[np.int64]], Iterable[tuple[str, str]]],
        stopped: Callable[[], bool] = _never,
    ) -> Flags:
        """Return where the filter holds. bool [rows].

        Args:
            shown: The rows that are looked at. bool [rows].
            column: Returns the values that a condition looks at, as numbers. [rows].
            texts: Returns id and all texts of each of some rows; asked of those that are left.
            stopped: Ends the search once it returns True.
        """
        import numpy as np

        kept = shown.copy()
        for each in self.conditions:
            compare = {">": operator.gt, "<": operator.lt}.get(each.sign, operator.eq)
            kept &= compare(column(each.column), each.value) ^ each.negated
        if not (self.words or self.without):
            return kept
        left = np.flatnonzero(kept)
        for start in range(0, len(left), _STOPPED_EVERY):
            if stopped():
                break
            rows = left[start : start + _STOPPED_EVERY]
            kept[rows] = [self._holds(*each) for each in texts(rows)]
        return kept

    def _holds(self, thing_id: str, text: str) -> bool:
        text = fold(text)
        begins = (thing_id.startswith(word) and len(word) >= _ID_LETTERS for word in self.words)
        found = all(is_id or word in text for word, is_id in zip(self.words, begins, strict=True))
        return found and not any(word in text for word in self.without)


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
        for part in fold(text).split():
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
        if value not in self.names[key]:
            hint = " or ".join(self.names[key])
            raise UsageError(f"{said!r} is not one of its values", source=key, hint=hint)
        column, number = self.names[key][value]
        return Condition(column, "", float(number))


def fold(text: str) -> str:
    """Return a text in which upper and lower case are alike: words are sought in nothing else."""
    return text.casefold()


Span = tuple[int, int]
"""The beginning and the end of a stretch of text."""


def occurrences(text: str, words: Sequence[str]) -> list[Span]:
    """Return the stretches of a text, as it is shown, in which folded words stand, in order."""
    sought = sorted(filter(None, words), key=len, reverse=True)
    pattern = "|".join(map(re.escape, sought))
    return [found.span() for found in re.finditer(pattern, text, re.IGNORECASE)] if sought else []


# Nodes

Order = Literal["birth", "newest", "hits", "recalls", "children", "utility"]
ORDERS: tuple[Order, ...] = ("birth", "newest", "hits", "recalls", "children", "utility")
"""By `utility` the least useful come first, and those of which nothing is known last."""

_LABELS = {"failure": ("failure", 1), "success": ("failure", 0)}
_KINDS = {"root": ("residual", 0), "residual": ("residual", 1)}
_STATES = {"never-recalled": ("recalls", 0), "consolidated": ("consolidated", 1), "due": ("due", 1)}

NODES = Language(
    thing="node",
    names={"label": _LABELS, "kind": _KINDS, "is": _STATES},
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
    stopped: Callable[[], bool] = _never,
    useful: Usefulness | None = None,
) -> Flags:
    """Return the living rows of a collection that a filter lets through. bool [rows].

    `due_rows` returns the rows that are due for maintenance, as the bank's method says. Once
    `stopped` returns True, the rest is not looked at. What the nodes were `useful` for comes from
    the bank's credit; without it none was shown.
    """
    import numpy as np

    snapshot = tree.snapshot

    def column(name: str) -> NDArray[Any]:
        if name == "due":
            return due_rows(tree) if due_rows else snapshot.index["depth"] < 0
        if name in ("hits", "recalls"):
            return snapshot.counters[tree.birth][:, ("hits", "recalls").index(name)]
        if name in ("shown", "utility"):
            if useful is None:
                return np.full(len(tree.dead), np.nan if name == "utility" else 0)
            return (useful.utility if name == "utility" else useful.shown)[tree.birth]
        found: NDArray[Any] = snapshot.index[name]
        return found

    def texts(rows: NDArray[np.int64]) -> Iterable[tuple[str, str]]:
        ids = map(bytes.decode, snapshot.index["id"][rows].tolist())
        return zip(ids, map(text_of, snapshot.payloads(rows)), strict=True)

    return wanted.matching(~tree.dead, column, texts, stopped)


# Episodes

EpisodeOrder = Literal["import", "newest", "outcome", "steps", "nodes"]
EPISODE_ORDERS: tuple[EpisodeOrder, ...] = ("import", "newest", "outcome", "steps", "nodes")

_UNREADABLE = -1
_ENDINGS: Mapping[bool | None, str] = {None: "unknown", False: "failure", True: "success"}
"""How an episode can have ended; what has to be looked at comes first."""

EPISODES = Language(
    thing="episode",
    names={
        "outcome": {name: ("outcome", number) for number, name in enumerate(_ENDINGS.values())},
        "source": {name: ("source", number) for number, name in enumerate(OUTCOME_SOURCES)},
        "is": {"learnt": ("waiting", 0), "waiting": ("waiting", 1), "refused": ("refused", 1)},
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
    """A bank's episodes at one commit, for filters and orders.

    The records are read once, when a filter or an order first asks for what only they say.

    Args:
        nodes: Per episode's id, the living nodes that it gave.
        refused: The ids of those that wait because they could not be learnt.

    Attributes:
        episode_ids: All ids, in order of import. An episode's number is its place here.
    """

    def __init__(
        self, bank: Bank, nodes: Mapping[str, Sequence[object]], refused: Collection[str]
    ) -> None:
        self.episode_ids = bank.episodes.ids()
        self._bank = bank
        self._nodes = nodes
        self._refused = refused
        self._recorded: Mapping[str, NDArray[Any]] = {}

    def chosen(
        self,
        wanted: Filter,
        order: EpisodeOrder = "import",
        stopped: Callable[[], bool] = _never,
    ) -> list[int]:
        """Return the numbers of the episodes that a filter lets through.

        The oldest come first, or the `newest`, or what has to be looked at by its `outcome`, or the
        most `steps` or `nodes`. Once `stopped` returns True, the answer is not complete.
        """
        import numpy as np

        def column(name: str) -> NDArray[Any]:
            return self._column(name, stopped)

        def texts(rows: NDArray[np.int64]) -> Iterable[tuple[str, str]]:
            return ((self.episode_ids[row], self._text(row)) for row in rows.tolist())

        shown = np.ones(len(self.episode_ids), dtype=np.bool_)
        numbers = np.flatnonzero(wanted.matching(shown, column, texts, stopped))
        if order == "newest":
            numbers = numbers[::-1]
        elif order != "import":
            rank = column(order) if order == "outcome" else -column(order)
            numbers = numbers[np.argsort(rank[numbers], kind="stable")]
        found: list[int] = numbers.tolist()
        return found

    def _column(self, name: str, stopped: Callable[[], bool]) -> NDArray[Any]:
        """Return the values of all episodes, -1 where a record cannot be read. [episodes]."""
        import numpy as np

        if name == "nodes":
            return np.array([len(self._nodes.get(each, ())) for each in self.episode_ids], int)
        if name in ("refused", "waiting"):
            some = {*(self._refused if name == "refused" else self._bank.episodes.waiting())}
            return np.array([each in some for each in self.episode_ids], int)
        if not self._recorded:
            facts = np.full((len(self.episode_ids), 3), _UNREADABLE)
            columns = dict(zip(("outcome", "source", "steps"), facts.T, strict=True))
            for number in range(len(facts)):
                if number % _STOPPED_EVERY == 0 and stopped():
                    return columns[name]
                if (episode := self._episode(number)) is not None:
                    ending = list(_ENDINGS).index(episode.outcome.success)
                    source = OUTCOME_SOURCES.index(episode.outcome.source)
                    facts[number] = ending, source, len(episode.steps)
            self._recorded = columns
        return self._recorded[name]

    def _text(self, number: int) -> str:
        episode = self._episode(number)
        if episode is None:
            return ""
        steps = (f"{each.thought}\n{each.action}\n{each.observation}" for each in episode.steps)
        return "\n".join((episode.task, episode.environment, episode.outcome.reason, *steps))

    def _episode(self, number: int) -> Trajectory | None:
        from deltamem_tui.trajectory.readers.native import from_record

        try:
            return from_record(self._bank.episodes.record(self.episode_ids[number]) or {})
        except DeltaMemError:  # the list shows that
            return None
