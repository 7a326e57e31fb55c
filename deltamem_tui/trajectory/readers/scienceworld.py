"""What the logs of ScienceWorld have in common: rows of what was done, seen and scored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcome_keys import stated_under
from deltamem_tui.trajectory.outcomes import number, stated
from deltamem_tui.trajectory.readers.shapes import Json, as_mapping, as_text

# Some keys were misspelt for a while, and the logs of that time are still about.
_TASK_KEYS = ("taskDescription", "taslDescription", "taskDesc", "taskName")
_ACTION_KEYS = ("action", "userInput", "input")
_DONE_KEYS = ("isCompleted", "isCompeted")
# Old versions repeat what they understood before they answer.
_ECHO = re.compile(r"\AInput: Successfully parsed input into [^\n]*\n[ \t]*\n\([^\n)]*\):\n")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a log.

    Attributes:
        action: What was typed.
        observation: What the simulator said.
        score: Where the score stands, on the log's own scale; None if it does not say.
        said: The score as the log has it; null if it has none.
        done: Whether the task was over.
    """

    action: str
    observation: str
    score: float | None
    said: object
    done: bool

    @property
    def whole(self) -> bool:
        """Whether the score is written as a whole number, as points are."""
        return as_text(self.said).strip().removeprefix("-").isdecimal()


def rows_of(values: Iterable[object]) -> list[Row]:
    """The rows of a log, whose numbers and flags may be text.

    Raises:
        RecordError: A row has no action.
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
        said=row.get("score"),
        done=_is_done(row),
    )


def _is_done(row: Json) -> bool:
    return stated(_first(row, _DONE_KEYS)).success is True


def is_new_game(before: Json, after: Json) -> bool:
    """Whether a row is of another game than the one before it.

    Args:
        before: A row of a log, as it came.
        after: The next row.

    Returns:
        True if task, variation or the count of moves say so, or if all was done already and
        is not any more.
    """
    facts = zip(_facts(before), _facts(after), strict=True)
    if any(one != other for one, other in facts if one and other):
        return True
    moves = [number(row.get("consoleMoveCount")) for row in (before, after)]
    if moves[0] is not None and moves[1] is not None and moves[1] < moves[0]:
        return True
    return _is_done(before) and not _is_done(after)


def _facts(row: Json) -> tuple[str, ...]:
    """What stays the same in all rows of a game, as far as they say it."""
    return tuple(
        as_text(_first(row, keys)).strip()
        for keys in (_TASK_KEYS[:-1], ("taskName",), ("variationIdx",))
    )


def scienceworld_episode(
    about: Json, rows: Sequence[Row], environment: str, steps: Iterable[Step], name: str = ""
) -> Trajectory:
    """An episode of ScienceWorld.

    Args:
        about: What holds the task's description, name and variation.
        rows: All rows; the last score among them is the outcome.
        environment: What was seen first.
        steps: The steps, as the format lays them out in rows.
        name: What the log calls the episode.
    """
    metadata = {
        "id": name,
        "task_type": as_text(about.get("taskName")),
        "variation": as_text(about.get("variationIdx")),
    }
    return Trajectory(
        task=as_text(_first(about, _TASK_KEYS)).strip(),
        environment=environment,
        steps=tuple(steps),
        outcome=_outcome(rows),
        domain="scienceworld",
        metadata={key: text for key, text in metadata.items() if text},
    )


def _outcome(rows: Sequence[Row]) -> Outcome:
    """The last score. It goes to 1, or in points to 100: the whole episode shows which."""
    scored = [row for row in rows if row.score is not None]
    scores = [row.score for row in scored if row.score is not None]
    if not scores:
        said = next((row.said for row in reversed(rows) if row.said is not None), None)
        return stated_under({"score": said}, "score")
    in_points = max(map(abs, scores)) > 1
    if not in_points and scores[-1] == 1 and all(row.whole for row in scored) and not rows[-1].done:
        return Outcome(reason="a score of 1, which may be all or one point of a hundred")
    return stated_under({"score": scored[-1].said}, "score", best=100.0 if in_points else 1.0)


def _first(row: Json, keys: tuple[str, ...]) -> object:
    return next((row[key] for key in keys if row.get(key) is not None), None)
