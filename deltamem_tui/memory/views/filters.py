"""Which nodes and which episodes a person wants to see, as it is typed, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import text_of
from deltamem_tui.bank.tree import Tree
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.views.language import Bound, Filter, Language, State
from deltamem_tui.trajectory.model import OUTCOME_SOURCES, Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from deltamem_tui.memory.credit.credit import Usefulness

    DueRows = Callable[[Tree], NDArray[np.bool_]]

Order = Literal["birth", "newest", "hits", "recalls", "children", "utility"]
ORDERS: tuple[Order, ...] = ("birth", "newest", "hits", "recalls", "children", "utility")
"""By `utility` the least useful come first, and those of which nothing is known last."""

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
    numbers=("depth", "hits", "recalls", "shown"),
    shares=("utility",),
    help=(
        "words, or the beginning of a node's id; label:failure, kind:root, depth:>2, hits:0, "
        "recalls:1-3, utility:<.5, shown:>3, is:never-recalled, is:consolidated, is:due, id:29"
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
    """The living rows of a collection that a filter lets through. bool [rows].

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
        snapshot = self.tree.snapshot
        if name == "due":
            return self.due_rows(self.tree) if self.due_rows else snapshot.index["depth"] < 0
        if name in ("hits", "recalls"):
            counters = snapshot.counters[self.tree.birth] if len(self.ids) else snapshot.counters
            return counters[:, ("hits", "recalls").index(name)]
        if name in ("shown", "utility"):
            return self._of_credit(name)
        column: NDArray[Any] = snapshot.index[name]
        return column

    def _of_credit(self, name: str) -> NDArray[Any]:
        import numpy as np

        if self.useful is None:
            return np.full(len(self.ids), np.nan if name == "utility" else 0)
        values = self.useful.utility if name == "utility" else self.useful.shown
        return values[self.tree.birth]

    def texts(self, rows: NDArray[np.int64]) -> Iterable[str]:
        return map(text_of, self.tree.snapshot.payloads(rows))


_STOPPED_EVERY = 256

EpisodeOrder = Literal["import", "newest", "outcome", "steps", "nodes"]
EPISODE_ORDERS: tuple[EpisodeOrder, ...] = ("import", "newest", "outcome", "steps", "nodes")

_UNREADABLE = -1
_ENDINGS: Mapping[bool | None, str] = {None: "unknown", False: "failure", True: "success"}
"""How an episode can have ended; what has to be looked at comes first."""
_OUTCOMES = {ending: State("outcome", (n,)) for n, ending in enumerate(_ENDINGS.values())}
_LEARNT, _WAITING, _REFUSED = range(3)

EPISODES = Language(
    thing="episode",
    states={
        "outcome": _OUTCOMES,
        "source": {name: State("source", (n,)) for n, name in enumerate(OUTCOME_SOURCES)},
        "is": {
            "learnt": State("state", (_LEARNT,)),
            "waiting": State("state", (_WAITING, _REFUSED)),
            "refused": State("state", (_REFUSED,)),
            **_OUTCOMES,
        },
    },
    numbers=("steps", "nodes"),
    help=(
        "words, or the beginning of an episode's id; outcome:unknown, outcome:failure, "
        "source:judge, is:waiting, is:learnt, is:refused, steps:>30, nodes:0, id:29"
    ),
)
"""The conditions on episodes."""


class EpisodeTable:
    """What filters and orders ask of a bank's episodes at one commit.

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
        """The numbers of the episodes that a filter lets through.

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
        """The values of all episodes, -1 where a record cannot be read. [episodes]."""
        import numpy as np

        if name not in ("state", "nodes"):
            column: NDArray[Any] = self._recorded()[name]
            return column
        if name == "nodes":
            values = [len(self._nodes.get(each, ())) for each in self.episode_ids]
        else:
            waiting = set(self._bank.episodes.waiting())
            values = [
                _REFUSED if each in self._refused else _WAITING if each in waiting else _LEARNT
                for each in self.episode_ids
            ]
        return np.array(values, dtype=np.int64)

    def texts(self, rows: NDArray[np.int64]) -> Iterable[str]:
        """All texts of each of some episodes; empty if it cannot be read."""
        return map(self._text, rows.tolist())

    def _text(self, row: int) -> str:
        episode = self._episode(row)
        if episode is None:
            return ""
        steps = (f"{each.thought}\n{each.action}\n{each.observation}" for each in episode.steps)
        return "\n".join((episode.task, episode.environment, episode.outcome.reason, *steps))

    def _recorded(self) -> NDArray[Any]:
        """What the records hold: (outcome, source, steps) [episodes]."""
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
