"""Filters as a person types them: `word`, `-word` and `key:value`, which must all hold.

Words are sought in all texts of a thing, upper and lower case alike; one of four letters or more
may as well be the beginning of its id.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import text_of
from deltamem_tui.bank.tree import Tree
from deltamem_tui.errors import DeltaMemError, UsageError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import OUTCOME_SOURCES, Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]

LONGEST_FILTER = 1_000
"""Characters, as many as the browser's line takes."""
_ID_LETTERS = 4  # shorter words are numbers far more often than the beginning of an id
_STOPPED_EVERY = 256


@dataclass(frozen=True, slots=True)
class Filter:
    """Which things of a kind are shown.

    Attributes:
        words: Folded texts that a thing must hold.
        without: Folded texts that it must not hold.
        facts: What must hold of it or must not, such as `label:failure`.
    """

    words: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    facts: tuple[tuple[str, bool], ...] = ()

    @property
    def empty(self) -> bool:
        """True if all are shown."""
        return self == Filter()

    def holds(self, thing_id: str, text: str) -> bool:
        """Return whether the words fit a thing, by its id and all its texts."""
        text = text.casefold()
        begins = (thing_id.startswith(word) and len(word) >= _ID_LETTERS for word in self.words)
        found = all(is_id or word in text for word, is_id in zip(self.words, begins, strict=True))
        return found and not any(word in text for word in self.without)


@dataclass(frozen=True, slots=True)
class Language:
    """The conditions that there are on things of one kind.

    Attributes:
        values: Per key, the names that may follow it.
    """

    values: Mapping[str, Sequence[str]]

    @property
    def help(self) -> str:
        """Say for a person what can be typed."""
        named = ", ".join(f"{key}:{'|'.join(names)}" for key, names in self.values.items())
        return f"words, or the beginning of an id; {named}; -… leaves out"

    def parse(self, text: str) -> Filter:
        """Read a filter as a person types it; see `help`.

        Raises:
            UsageError: A key has a value that it cannot have.
        """
        words, without, facts = list[str](), list[str](), list[tuple[str, bool]]()
        for part in text.casefold().split():
            negated = len(part) > 1 and part.startswith("-")
            said = part[negated:]
            key, colon, value = said.partition(":")
            if not colon or key not in self.values:
                (without if negated else words).append(said)
            elif value in self.values[key]:
                facts.append((said, not negated))
            else:
                problem = f"{one_line(value, 20)!r} is not one of its values"
                raise UsageError(problem, source=key, hint=" or ".join(self.values[key]))
        return Filter(tuple(words), tuple(without), tuple(facts))


def occurrences(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Return where folded words begin and end in a text as it is shown, in order."""
    sought = sorted(filter(None, words), key=len, reverse=True)
    pattern = "|".join(map(re.escape, sought))
    return [found.span() for found in re.finditer(pattern, text, re.IGNORECASE)] if sought else []


# Nodes

Order = Literal["birth", "newest", "hits", "utility"]
ORDERS: tuple[Order, ...] = ("birth", "newest", "hits", "utility")
"""By `utility` the least useful come first, and those of which nothing is known last."""

NODES = Language(
    {
        "label": ("failure", "success"),
        "kind": ("root", "residual"),
        "is": ("never-recalled", "consolidated"),
    }
)
"""The conditions on nodes."""


def matching(tree: Tree, wanted: Filter, stopped: Callable[[], bool] | None = None) -> Flags:
    """Return the living rows of a collection that a filter lets through. bool [rows].

    Once `stopped` returns True, the rest is not looked at.
    """
    snapshot = tree.snapshot
    residual = snapshot.index["residual"]
    facts = {
        "label:failure": tree.failure,
        "label:success": ~tree.failure,
        "kind:root": ~residual,
        "kind:residual": residual,
        "is:never-recalled": snapshot.counters[tree.birth, 1] == 0,
        "is:consolidated": snapshot.index["consolidated"],
    }
    kept = ~tree.dead
    for each, is_so in wanted.facts:
        kept &= facts[each] == is_so
    if not (wanted.words or wanted.without):
        return kept
    rows = kept.nonzero()[0]
    for start in range(0, len(rows), _STOPPED_EVERY):
        if stopped and stopped():
            break
        some = rows[start : start + _STOPPED_EVERY]
        ids = map(bytes.decode, snapshot.index["id"][some].tolist())
        kept[some] = list(map(wanted.holds, ids, map(text_of, snapshot.payloads(some))))
    return kept


# Episodes

EpisodeOrder = Literal["import", "newest", "outcome", "steps", "nodes"]
EPISODE_ORDERS: tuple[EpisodeOrder, ...] = ("import", "newest", "outcome", "steps", "nodes")

_ENDINGS: Mapping[bool | None, str] = {None: "unknown", False: "failure", True: "success"}
"""How an episode can have ended; what has to be looked at comes first."""

EPISODES = Language(
    {
        "outcome": tuple(_ENDINGS.values()),
        "source": OUTCOME_SOURCES,
        "is": ("learnt", "waiting", "refused"),
    }
)
"""The conditions on episodes."""


class _Known(NamedTuple):
    """What orders and conditions ask of an episode; one that cannot be read has no ending."""

    facts: list[str]
    urgency: int = 0
    steps: int = -1


class EpisodeTable:
    """A bank's episodes at one commit, for filters and orders.

    A record is read when a filter or an order first asks for what only it says.

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
        self._waiting = {*bank.episodes.waiting()}
        self._read = cache(self._facts_of)

    def chosen(
        self,
        wanted: Filter,
        order: EpisodeOrder = "import",
        stopped: Callable[[], bool] | None = None,
    ) -> list[int]:
        """Return the numbers of the episodes that a filter lets through.

        The oldest come first, or the `newest`, or what has to be looked at by its `outcome`, or the
        most `steps` or `nodes`. Once `stopped` returns True, the answer is not complete.
        """
        found = []
        for number in range(len(self.episode_ids)):
            if stopped and number % _STOPPED_EVERY == 0 and stopped():
                break
            if self._fits(number, wanted):
                found.append(number)
        ranks: Mapping[EpisodeOrder, Callable[[int], int]] = {
            "newest": lambda each: -each,
            "nodes": lambda each: -len(self._nodes.get(self.episode_ids[each], ())),
            "steps": lambda each: -self._read(each).steps,
            "outcome": lambda each: self._read(each).urgency,
        }
        return sorted(found, key=ranks.get(order))

    def _fits(self, number: int, wanted: Filter) -> bool:
        if any((fact in self._read(number).facts) != is_so for fact, is_so in wanted.facts):
            return False
        if not (wanted.words or wanted.without):
            return True
        text, episode = "", self._episode(number)
        if episode is not None:
            steps = (f"{each.thought}\n{each.action}\n{each.observation}" for each in episode.steps)
            said = (episode.task, episode.environment, episode.outcome.reason, *steps)
            text = "\n".join(said)
        return wanted.holds(self.episode_ids[number], text)

    def _facts_of(self, number: int) -> _Known:
        episode_id, episode = self.episode_ids[number], self._episode(number)
        facts = ["is:waiting" if episode_id in self._waiting else "is:learnt"]
        facts += ["is:refused"] if episode_id in self._refused else []
        if episode is None:
            return _Known(facts)
        ending, source = _ENDINGS[episode.outcome.success], episode.outcome.source
        facts += [f"outcome:{ending}", f"source:{source}"]
        return _Known(facts, 1 + [*_ENDINGS.values()].index(ending), len(episode.steps))

    def _episode(self, number: int) -> Trajectory | None:
        from deltamem_tui.trajectory.readers.native import from_record

        try:
            return from_record(self._bank.episodes.record(self.episode_ids[number]) or {})
        except DeltaMemError:  # the list shows that
            return None
