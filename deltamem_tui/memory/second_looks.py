"""Second looks: some reviewed episodes come back, to see whether their reviewer says the same.

Of the verdicts that a person gave one by one, one in ten is drawn, by episode and seed. It comes
back when twenty others were judged after it, and nothing is told of it. The answer is noted in the
journal and changes nothing else, not even if it differs: what counts is the first one until the
person gives another outcome. A compaction drops both from the journal, and the count begins anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.journal import Commit
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.undo import UNDO, commits_since, last_not_undone
from deltamem_tui.errors import TrajectoryError
from deltamem_tui.memory.credit.intervals import Share
from deltamem_tui.memory.credit.review_queue import is_drawn
from deltamem_tui.memory.episodes.outcomes import known_episode
from deltamem_tui.memory.episodes.verdicts import words_on
from deltamem_tui.trajectory.model import Outcome, Trajectory

EVENT = "second look"
"""What the journal calls it."""
_AGAIN = 0.1
_BETWEEN = 20


@dataclass(frozen=True, slots=True)
class SecondLook:
    """What a person said of one episode at first, and then without knowing that; None: unclear."""

    episode: str
    first: bool | None
    second: bool | None

    @property
    def is_same(self) -> bool:
        """Whether both answers are one."""
        return self.first is self.second


@dataclass(frozen=True, slots=True)
class SecondLooks:
    """The second looks of a bank.

    Attributes:
        due: The episodes that are to come back, those judged longest ago first.
        taken: Those that were taken, the last first.
    """

    due: tuple[str, ...]
    taken: tuple[SecondLook, ...]

    @property
    def same(self) -> Share:
        """How often the second answer was the first."""
        return Share(len(self.taken), sum(each.is_same for each in self.taken))

    def record(self) -> dict[str, Any]:
        """As commands print it."""
        different = [
            {"episode": each.episode, "first": each.first, "second": each.second}
            for each in self.taken
            if not each.is_same
        ]
        return {"due": list(self.due), "same": self.same.record(), "different": different}


def second_looks(bank: Bank, seed: int = 0) -> SecondLooks:
    """Read them from the journal: those that are due, and those that were taken."""
    undone: set[object] = set()
    judged: dict[str, None] = {}
    taken: dict[str, SecondLook] = {}
    for commit in commits_since(bank, -1):
        episode = str(commit.detail.get("trajectory"))
        if commit.event == UNDO:
            undone.add(commit.detail.get("undoes"))
        elif commit.sequence in undone or bank.episodes.state(episode) not in _STANDING:
            continue
        elif commit.event == EVENT:
            taken.setdefault(episode, _parsed(episode, commit))
        elif commit.event == "outcome":
            judged.setdefault(episode)
    old = [each for each in list(judged)[_BETWEEN:] if is_drawn(f"again {each}", seed, _AGAIN)]
    due = tuple(each for each in reversed(old) if each not in taken)
    return SecondLooks(due, tuple(taken.values()))


_STANDING = (EpisodeState.WAITING, EpisodeState.LEARNT)


def _parsed(episode: str, commit: Commit) -> SecondLook:
    said = (commit.detail.get(name) for name in ("first", "second"))
    first, second = (each if isinstance(each, bool) else None for each in said)
    return SecondLook(episode, first, second)


def look_again(bank: Bank, episode_id: str, *, success: bool | None) -> SecondLook:
    """Note what a person says of an episode without knowing what they said before.

    None says that they cannot tell.

    Raises:
        TrajectoryError: The bank does not have the episode, or they said nothing of it.
        BankFrozenError: The bank is frozen.
    """
    with bank.writing() as batch:
        found = SecondLook(episode_id, _first(known_episode(bank, episode_id)).success, success)
        detail = {"trajectory": episode_id, "first": found.first, "second": found.second}
        batch.log(EVENT, detail)
    return found


def _first(episode: Trajectory) -> Outcome:
    mine = [each for each in words_on(episode) if each.source == "user"]
    if not mine:
        raise TrajectoryError("you gave it no verdict that could be compared", source=episode.id)
    return mine[0]


def take_back_look(bank: Bank, episode_id: str) -> None:
    """Take back the last second look at an episode.

    Raises:
        TrajectoryError: There is none.
        BankFrozenError: The bank is frozen.
    """

    def is_look(commit: Commit) -> bool:
        return commit.event == EVENT and commit.detail.get("trajectory") == episode_id

    with bank.writing() as batch:
        if (found := last_not_undone(bank, is_look)) is None:
            raise TrajectoryError("there is no second look to take back", source=episode_id)
        batch.log(UNDO, {"undoes": found.sequence, "what": EVENT, "trajectory": episode_id})
