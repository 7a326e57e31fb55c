"""ScienceWorld: histories of its agents, and recordings of its simulator."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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
# The simulator looks around by itself before anybody acts.
_OPENING = "look around"
_LEAVING = frozenset({"exit", "quit"})


def _first(row: Json, keys: tuple[str, ...]) -> object:
    return next((row[key] for key in keys if row.get(key) is not None), None)


def _steps_of(rows: Iterable[Json]) -> list[Step]:
    """Return what was typed in each row and the observation beside it."""
    steps = []
    for index, row in enumerate(rows, 1):
        action = _first(row, _ACTION_KEYS)
        if action is None:
            raise RecordError(f"row {index} has no action")
        seen = _ECHO.sub("", as_text(row.get("observation"))).strip()
        steps.append(Step(as_text(action).strip(), seen))
    return steps


def _is_done(row: Json) -> bool:
    return stated(_first(row, _DONE_KEYS)).success is True


def _episode(about: Json, rows: Sequence[Json], environment: str, steps: list[Step]) -> Trajectory:
    return Trajectory(
        task=as_text(_first(about, _TASK_KEYS)).strip(),
        environment=environment,
        steps=tuple(steps),
        outcome=_outcome(rows),
        domain="scienceworld",
        metadata={
            "task_type": as_text(about.get("taskName")),
            "variation": as_text(about.get("variationIdx")),
        },
    )


def _outcome(rows: Sequence[Json]) -> Outcome:
    """Return the last score. It goes to 1, or in points to 100: the whole episode shows which."""
    written = [row["score"] for row in rows if row.get("score") is not None]
    scored = [each for each in written if number(each) is not None]
    scores = [number(each) or 0.0 for each in scored]
    if not scores:
        return stated_under({"score": written[-1] if written else None}, "score")
    in_points = max(map(abs, scores)) > 1
    whole = all(as_text(each).strip().removeprefix("-").isdecimal() for each in scored)
    if not in_points and scores[-1] == 1 and whole and not _is_done(rows[-1]):
        return Outcome(reason="a score of 1, which may be all or one point of a hundred")
    return stated_under({"score": scored[-1]}, "score", best=100.0 if in_points else 1.0)


def _history(_: Conversation, name: str, value: object) -> Trajectory:
    run = as_mapping(value)
    # Run histories are wrapped once more, in what the program that ran them writes beside.
    about = as_mapping(run.get("history")) or run
    rows = [*map(as_mapping, required_list(about, "history"))]
    steps = _steps_of(rows)
    opened = len(steps) > 1 and steps[0].action == _OPENING
    found = _episode(about, rows, steps[0].observation if opened else "", steps[opened:])
    return found.with_facts(metadata={"id": name, **found.metadata})


def _is_history(value: object) -> bool:
    """Return True if a value is a task with rows of actions, bare as in saved games or wrapped."""
    about = as_mapping(value)
    about = as_mapping(about.get("history")) or about
    rows = as_list(about.get("history"))
    named = bool(about.keys() & {"taskDescription", "taskDesc"})
    return named and bool(rows) and bool(as_mapping(rows[0]).keys() & {"action", "input"})


def _history_claims(preview: Preview) -> float:
    return 0.95 * max(share(preview, _is_history), share(preview, all_entries(_is_history)))


@dataclass(slots=True)
class _Recording(Session):
    """The rows of one game, and the last of it that came, even behind a gap."""

    rows: list[Json] = field(default_factory=list)
    last: Json = field(default_factory=dict)

    def begins_another(self, value: object) -> bool:
        row = as_mapping(value)
        if not _is_of_a_game(row):
            return False
        facts = zip(_facts(self.last), _facts(row), strict=True)
        if any(one != other for one, other in facts if one and other):
            return True
        moves = [number(each.get("consoleMoveCount")) for each in (self.last, row)]
        if None not in moves and moves[1] < moves[0]:  # type: ignore[operator]
            return True
        return _is_done(self.last) and not _is_done(row)

    def take(self, value: object) -> None:
        if not _is_of_a_game(as_mapping(value)):
            raise stray("not a game record")
        self.leave_out(value)
        self.rows.append(self.last)

    def leave_out(self, value: object) -> None:
        self.last = as_mapping(value)

    def episode(self, _: Conversation) -> Trajectory:
        typed = _steps_of(self.rows)
        # An input is answered in the row after it.
        steps = [Step(one.action, after.observation) for one, after in pairwise(typed)]
        is_done, last = _is_done(self.rows[-1]), typed[-1].action
        # What was typed when all was over had no effect.
        if not is_done and last.lower() not in _LEAVING:
            steps.append(Step(last))
        found = _episode(self.rows[0], self.rows, typed[0].observation, steps)
        if self.breaks_off and not is_done:  # the last score is not the final one
            return found.with_outcome(Outcome(reason="the recording breaks off"))
        return found


def _facts(row: Json) -> tuple[str, ...]:
    """Return what stays the same in all rows of a game, as far as they say it."""
    keys = (_TASK_KEYS[:-1], ("taskName",), ("variationIdx",))
    return tuple(as_text(_first(row, each)).strip() for each in keys)


def _is_of_a_game(row: Json) -> bool:
    return not row.keys().isdisjoint(("userInput", "observation"))


READERS = (
    Reader(
        name="scienceworld-history",
        description="ScienceWorld run histories and saved games: taskDescription and history",
        claims=_history_claims,
        read=each_entry(_history, _is_history),
    ),
    json_reader(
        name="scienceworld-recording",
        description="ScienceWorld recordings: rows of observation, userInput and score",
        is_own=lambda value: {"userInput", "observation", "score"} <= as_mapping(value).keys(),
        read=sessions(_Recording),
    ),
)
