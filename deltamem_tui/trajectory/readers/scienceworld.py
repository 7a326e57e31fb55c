"""ScienceWorld: histories of its agents, and recordings of its simulator."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcome_keys import stated_under
from deltamem_tui.trajectory.outcomes import number, stated
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import (
    Reader,
    all_entries,
    each_entry,
    json_reader,
    share,
)
from deltamem_tui.trajectory.readers.sessions import Session, sessions, stray
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text, required_list

# Some keys were misspelt for a while, and the logs of that time are still about.
_TASK_KEYS = ("taskDescription", "taslDescription", "taskDesc", "taskName")
_ACTION_KEYS = ("action", "userInput", "input")
_DONE_KEYS = ("isCompleted", "isCompeted")
# Old versions repeat what they understood before they answer.
_ECHO = re.compile(r"\AInput: Successfully parsed input into [^\n]*\n[ \t]*\n\([^\n)]*\):\n")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a log: what was typed, the simulator's answer, the score, also as written."""

    action: str
    observation: str
    score: float | None
    raw_score: object
    done: bool

    @property
    def whole(self) -> bool:
        """True if the score is written as a whole number, as points are."""
        return as_text(self.raw_score).strip().removeprefix("-").isdecimal()


def rows_of(values: Iterable[object]) -> list[Row]:
    """Return the rows of a log, whose numbers and flags may be text.

    Refused if one has no action.
    """
    return [_row(as_mapping(value), index) for index, value in enumerate(values, 1)]


def _row(row: Json, index: int) -> Row:
    action = _first(row, _ACTION_KEYS)
    if action is None:
        raise RecordError(f"row {index} has no action")
    return Row(
        action=as_text(action).strip(),
        observation=_ECHO.sub("", as_text(row.get("observation"))).strip(),
        score=number(row.get("score")),
        raw_score=row.get("score"),
        done=_is_done(row),
    )


def _is_done(row: Json) -> bool:
    return stated(_first(row, _DONE_KEYS)).success is True


def _is_new_game(before: Json, after: Json) -> bool:
    facts = zip(_facts(before), _facts(after), strict=True)
    if any(one != other for one, other in facts if one and other):
        return True
    moves = [number(row.get("consoleMoveCount")) for row in (before, after)]
    if moves[0] is not None and moves[1] is not None and moves[1] < moves[0]:
        return True
    return _is_done(before) and not _is_done(after)


def _facts(row: Json) -> tuple[str, ...]:
    """Return what stays the same in all rows of a game, as far as they say it."""
    return tuple(
        as_text(_first(row, keys)).strip()
        for keys in (_TASK_KEYS[:-1], ("taskName",), ("variationIdx",))
    )


def _scienceworld_episode(
    about: Json, rows: Sequence[Row], environment: str, steps: Iterable[Step], name: str = ""
) -> Trajectory:
    return Trajectory(
        task=as_text(_first(about, _TASK_KEYS)).strip(),
        environment=environment,
        steps=tuple(steps),
        outcome=_outcome(rows),
        domain="scienceworld",
        metadata={
            "id": name,
            "task_type": as_text(about.get("taskName")),
            "variation": as_text(about.get("variationIdx")),
        },
    )


def _outcome(rows: Sequence[Row]) -> Outcome:
    """Return the last score. It goes to 1, or in points to 100: the whole episode shows which."""
    scored = [row for row in rows if row.score is not None]
    scores = [row.score for row in scored if row.score is not None]
    if not scores:
        score = next((row.raw_score for row in reversed(rows) if row.raw_score is not None), None)
        return stated_under({"score": score}, "score")
    in_points = max(map(abs, scores)) > 1
    if not in_points and scores[-1] == 1 and all(row.whole for row in scored) and not rows[-1].done:
        return Outcome(reason="a score of 1, which may be all or one point of a hundred")
    return stated_under({"score": scored[-1].raw_score}, "score", best=100.0 if in_points else 1.0)


def _first(row: Json, keys: tuple[str, ...]) -> object:
    return next((row[key] for key in keys if row.get(key) is not None), None)


# The simulator looks around by itself before anybody acts.
_OPENING = "look around"


def _episode(_: Conversation, name: str, value: object) -> Trajectory:
    run = as_mapping(value)
    # Run histories are wrapped once more, in what the program that ran them writes beside.
    about = as_mapping(run.get("history")) or run
    rows = rows_of(required_list(about, "history"))
    opened = len(rows) > 1 and rows[0].action == _OPENING
    return _scienceworld_episode(
        about,
        rows,
        environment=rows[0].observation if opened else "",
        steps=(Step(row.action, row.observation) for row in rows[opened:]),
        name=name,
    )


def _is_history(value: object) -> bool:
    """Return True if a value is a task with rows of actions, bare as in saved games."""
    about = as_mapping(value)
    rows = as_list(about.get("history"))
    named = bool(about.keys() & {"taskDescription", "taskDesc"})
    return named and bool(rows) and bool(as_mapping(rows[0]).keys() & {"action", "input"})


def _is_run(value: object) -> bool:
    return _is_history(value) or _is_history(as_mapping(value).get("history"))


def _history_claims(preview: Preview) -> float:
    return 0.95 * max(share(preview, _is_run), share(preview, all_entries(_is_run)))


HISTORY = Reader(
    name="scienceworld-history",
    description="ScienceWorld run histories and saved games: taskDescription and history",
    claims=_history_claims,
    read=each_entry(_episode, _is_run),
)


_LEAVING = frozenset({"exit", "quit"})


@dataclass(slots=True)
class _Recording(Session):
    """The rows of one game, and the last of it that came, be it behind a gap."""

    rows: list[Json] = field(default_factory=list)
    last: Json = field(default_factory=dict)

    def begins_another(self, value: object) -> bool:
        return _is_of_a_game(value) and _is_new_game(self.last, as_mapping(value))

    def take(self, value: object) -> None:
        if not _is_of_a_game(value):
            raise stray("no row of a game")
        self.leave_out(value)
        self.rows.append(self.last)

    def leave_out(self, value: object) -> None:
        self.last = as_mapping(value)

    def episode(self, _: Conversation) -> Trajectory:
        rows = rows_of(self.rows)
        episode = _scienceworld_episode(self.rows[0], rows, rows[0].observation, _steps(rows))
        if self.breaks_off and not rows[-1].done:
            # How it went on is not known, so the last score is not the final one.
            return episode.with_outcome(Outcome(reason="the recording breaks off"))
        return episode


def _steps(rows: Sequence[Row]) -> Iterator[Step]:
    """Yield an input is answered in the row after it."""
    for row, after in pairwise(rows):
        yield Step(row.action, after.observation)
    last = rows[-1]
    # What was typed when all was over had no effect.
    if not last.done and last.action.lower() not in _LEAVING:
        yield Step(last.action)


def _is_of_a_game(value: object) -> bool:
    return bool({"userInput", "observation"} & as_mapping(value).keys())


def _is_row(value: object) -> bool:
    row = as_mapping(value)
    return {"userInput", "observation", "score"} <= row.keys()


RECORDING = json_reader(
    name="scienceworld-recording",
    description="ScienceWorld recordings: rows of observation, userInput and score",
    is_own=_is_row,
    read=sessions(_Recording),
)
