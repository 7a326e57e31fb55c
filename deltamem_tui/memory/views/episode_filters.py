"""Which episodes a person wants to see, as it is typed, and in which order.

Ids, states and nodes are at hand. How an episode ended and how long it is stand in its record:
the records are read once, when a filter first asks for that. Words are sought in the records
that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import DeltaMemError, UsageError
from deltamem_tui.memory.views.language import Bound, Language, State, Wanted, may_be_id
from deltamem_tui.trajectory.model import OUTCOME_SOURCES, OutcomeSource, Trajectory
from deltamem_tui.trajectory.readers.native import from_record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ASKED_EVERY = 256
_UNREADABLE = -1

EpisodeOrder = Literal["import", "newest", "outcome", "steps", "nodes"]
EPISODE_ORDERS: tuple[EpisodeOrder, ...] = ("import", "newest", "outcome", "steps", "nodes")

Ending = Literal["unknown", "failure", "success"]
ENDINGS: tuple[Ending, ...] = ("unknown", "failure", "success")
"""How an episode can have ended; what has to be looked at comes first."""


@dataclass(frozen=True, slots=True)
class EpisodeFilter(Wanted):
    """Which episodes are shown. Every condition must hold.

    Attributes:
        outcome: How it ended.
        source: Where its outcome comes from.
        state: `learnt` or `waiting`.
        refused: Whether it waits because it could not be learnt.
        steps: A condition on the number of its steps.
        nodes: A condition on the number of living nodes that it gave.

    Raises:
        UsageError: What was refused waits, and cannot be learnt as well.
    """

    outcome: Ending | None = None
    source: OutcomeSource | None = None
    state: Literal["learnt", "waiting"] | None = None
    refused: bool | None = None
    steps: Bound | None = None
    nodes: Bound | None = None

    def __post_init__(self) -> None:
        if self.refused and self.state == "learnt":
            raise UsageError("no episode is both learnt and refused", source="is")


_ENDINGS: Mapping[str, State] = {ending: ("outcome", ending) for ending in ENDINGS}

EPISODES = Language(
    thing="episode",
    all=EpisodeFilter(),
    states={
        "outcome": _ENDINGS,
        "source": {source: ("source", source) for source in OUTCOME_SOURCES},
        "is": {
            "learnt": ("state", "learnt"),
            "waiting": ("state", "waiting"),
            "refused": ("refused", True),
            **_ENDINGS,
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

    Args:
        bank: The bank.
        nodes: Per episode's id, the living nodes that it gave.
        refused: The ids of those that wait because they could not be learnt.

    Attributes:
        ids: All ids, in order of import. An episode's number is its place here.
    """

    def __init__(
        self, bank: Bank, nodes: Mapping[str, Sequence[object]], refused: Collection[str]
    ) -> None:
        self.ids = bank.episodes.ids()
        self._bank = bank
        self._nodes_of = nodes
        self._refused = refused
        self._read: NDArray[Any] | None = None

    def chosen(
        self,
        wanted: EpisodeFilter,
        order: EpisodeOrder = "import",
        stopped: Callable[[], bool] = lambda: False,
    ) -> list[int]:
        """The numbers of the episodes that a filter lets through.

        Args:
            wanted: The filter.
            order: What comes first: the oldest, the `newest`, what has to be looked at by its
                `outcome`, or the most `steps` or `nodes`.
            stopped: Whether to stop; asked now and then. What is
                given then is not whole.
        """
        import numpy as np

        kept = self._kept(wanted)
        if wanted.outcome or wanted.source or wanted.steps:
            columns = self._columns(stopped)
            if wanted.outcome:
                kept &= columns["ending"] == ENDINGS.index(wanted.outcome)
            if wanted.source:
                kept &= columns["source"] == OUTCOME_SOURCES.index(wanted.source)
            if wanted.steps:
                kept &= wanted.steps.holds(columns["steps"])
        if wanted.words:
            self._keep_words(kept, wanted.words, stopped)
        numbers = np.flatnonzero(kept)
        if order != "import":
            numbers = numbers[np.argsort(self._rank(order, stopped)[numbers], kind="stable")]
        found: list[int] = numbers.tolist()
        return found

    def _kept(self, wanted: EpisodeFilter) -> NDArray[np.bool_]:
        """Where what need not be read holds. bool [episodes]."""
        import numpy as np

        kept = np.ones(len(self.ids), dtype=bool)
        if wanted.id:
            begins = (each.startswith(wanted.id) for each in self.ids)
            kept &= np.fromiter(begins, dtype=bool, count=len(self.ids))
        if wanted.state:
            waiting = set(self._bank.episodes.waiting())
            waits = np.fromiter((each in waiting for each in self.ids), bool, len(self.ids))
            kept &= waits == (wanted.state == "waiting")
        if wanted.refused is not None:
            refused = (each in self._refused for each in self.ids)
            kept &= np.fromiter(refused, bool, len(self.ids)) == wanted.refused
        if wanted.nodes:
            kept &= wanted.nodes.holds(self._nodes)
        return kept

    def _rank(self, order: EpisodeOrder, stopped: Callable[[], bool]) -> NDArray[Any]:
        import numpy as np

        if order == "newest":
            return -np.arange(len(self.ids))
        if order == "nodes":
            return -self._nodes
        columns = self._columns(stopped)
        rank: NDArray[Any] = columns["ending"] if order == "outcome" else -columns["steps"]
        return rank

    @cached_property
    def _nodes(self) -> NDArray[np.int64]:
        import numpy as np

        counts = (len(self._nodes_of.get(each, ())) for each in self.ids)
        return np.fromiter(counts, dtype=np.int64, count=len(self.ids))

    def _columns(self, stopped: Callable[[], bool]) -> NDArray[Any]:
        """What the records hold. (ending, source, steps) [episodes]; -1 of what is unreadable."""
        import numpy as np

        if self._read is not None:
            return self._read
        types = [("ending", np.int8), ("source", np.int8), ("steps", np.int64)]
        columns = np.full(len(self.ids), _UNREADABLE, dtype=types)
        for number in range(len(self.ids)):
            if number % _ASKED_EVERY == 0 and stopped():
                return columns
            if (episode := self._episode(number)) is not None:
                outcome = episode.outcome
                columns[number] = (
                    ENDINGS.index(_ENDING[outcome.success]),
                    OUTCOME_SOURCES.index(outcome.source),
                    len(episode.steps),
                )
        self._read = columns
        return columns

    def _keep_words(
        self, kept: NDArray[np.bool_], words: tuple[str, ...], stopped: Callable[[], bool]
    ) -> None:
        import numpy as np

        for count, number in enumerate(np.flatnonzero(kept).tolist()):
            if count % _ASKED_EVERY == 0 and stopped():
                return
            own = self.ids[number]
            sought = [word for word in words if not (may_be_id(word) and own.startswith(word))]
            kept[number] = self._may_hold(number, sought) and self._holds(number, sought)

    def _may_hold(self, number: int, words: Sequence[str]) -> bool:
        """Whether an episode may hold all words, by its record as it is written.

        That takes less than half the time. It is no more than a hint: names of fields stand there
        too, and what is not ASCII, or quoted, may be written otherwise than it is sought.
        """
        try:
            line = self._bank.episodes.line(self.ids[number]) or b""
        except DeltaMemError:
            return True
        if not line.isascii() or b"\\u" in line or b"\\/" in line:
            return True
        lowered = line.lower()
        return all(_is_quoted(word) or word.encode() in lowered for word in words)

    def _holds(self, number: int, words: Sequence[str]) -> bool:
        """Whether an episode holds all words."""
        if not words:
            return True
        episode = self._episode(number)
        text = "" if episode is None else _text(episode).casefold()
        return all(word in text for word in words)

    def _episode(self, number: int) -> Trajectory | None:
        try:
            return from_record(self._bank.episodes.record(self.ids[number]) or {})
        except DeltaMemError:  # the list shows that
            return None


_ENDING: Mapping[bool | None, Any] = {True: "success", False: "failure", None: "unknown"}


def _is_quoted(word: str) -> bool:
    """Whether JSON escapes a word."""
    return '"' in word or "\\" in word or not word.isprintable()


def _text(episode: Trajectory) -> str:
    """All texts of an episode."""
    steps = (f"{each.thought}\n{each.action}\n{each.observation}" for each in episode.steps)
    return "\n".join((episode.task, episode.environment, episode.outcome.reason, *steps))
