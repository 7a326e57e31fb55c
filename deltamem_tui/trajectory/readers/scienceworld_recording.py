"""ScienceWorld recordings: what a person at the console saw, and typed after seeing it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers.reader import Reader, share
from deltamem_tui.trajectory.readers.scienceworld import (
    Row,
    is_new_game,
    rows_of,
    scienceworld_episode,
)
from deltamem_tui.trajectory.readers.sessions import Session, sessions
from deltamem_tui.trajectory.readers.shapes import Json, as_mapping
from deltamem_tui.trajectory.readers.whole_log import stray

_LEAVING = frozenset({"exit", "quit"})


@dataclass(slots=True)
class _Recording(Session):
    """The rows of one game, and the last of it that came, be it behind a gap."""

    rows: list[Json] = field(default_factory=list)
    last: Json = field(default_factory=dict)

    def begins_another(self, value: object) -> bool:
        return _is_of_a_game(value) and is_new_game(self.last, as_mapping(value))

    def take(self, value: object) -> None:
        if not _is_of_a_game(value):
            raise stray("no row of a game")
        self.leave_out(value)
        self.rows.append(self.last)

    def leave_out(self, value: object) -> None:
        self.last = as_mapping(value)

    def episode(self) -> Trajectory:
        rows = rows_of(self.rows)
        episode = scienceworld_episode(self.rows[0], rows, rows[0].observation, _steps(rows))
        if self.breaks_off and not rows[-1].done:
            # How it went on is not known, so the last score is not the final one.
            return episode.with_outcome(Outcome(reason="the recording breaks off"))
        return episode


def _steps(rows: Sequence[Row]) -> Iterator[Step]:
    """An input is answered in the row after it."""
    for row, after in pairwise(rows):
        yield Step(row.action, after.observation)
    last = rows[-1]
    # What was typed when all was over, nobody did.
    if not last.done and last.action.lower() not in _LEAVING:
        yield Step(last.action)


def _is_of_a_game(value: object) -> bool:
    return bool({"userInput", "observation"} & as_mapping(value).keys())


def _is_row(value: object) -> bool:
    row = as_mapping(value)
    return {"userInput", "observation", "score"} <= row.keys()


def _claims(preview: Preview) -> float:
    return 0.95 * share(preview, _is_row)


READER = Reader(
    name="scienceworld-recording",
    description="ScienceWorld recordings: rows of observation, userInput and score",
    claims=_claims,
    read=sessions(_Recording),
)
