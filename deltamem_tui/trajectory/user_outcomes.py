"""Outcomes that the user gives for episodes whose logs do not say how they ended.

Either one word for all of them, or a side file that maps ids to outcomes. An outcome that
the log states itself always wins; what a judge model said, or somebody before, gives way to
a file that speaks of the episode.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from deltamem_tui.errors import RecordError, UsageError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.limits import DEFAULT_LIMITS
from deltamem_tui.trajectory.logs.log import Line, Log, Record
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.outcomes import decided, is_tally, stated, verdict_of

ID_KEYS = ("id", "instance_id", "task_id", "trajectory", "trajectory_id", "sample_id", "name")
"""Where an episode's or a side file's external id stands, the surest first."""
_FLAG_KEYS = ("success", "resolved", "outcome", "is_success", "correct")
_REWARD_KEYS = ("reward", "score")
_VALUE_KEYS = (*_FLAG_KEYS, *_REWARD_KEYS)
_RESOLVED_KEYS = ("resolved_ids", "resolved")
# SWE-bench reports name what failed in several lists, by how it failed.
_UNRESOLVED_KEYS = (
    "unresolved_ids",
    "unresolved",
    "error_ids",
    "empty_patch_ids",
    "incomplete_ids",
)


@dataclass(frozen=True, slots=True)
class UserOutcomes:
    """What the user says about episodes.

    Attributes:
        by_id: Outcomes by trajectory id or external id.
        otherwise: The outcome of every episode that `by_id` does not name; None to leave
            it unknown.
        only_identified: Whether `otherwise` is for episodes with an external id only. A list
            of what was resolved speaks about its own benchmark, not about other logs.
    """

    by_id: Mapping[str, Outcome] = field(default_factory=dict)
    otherwise: Outcome | None = None
    only_identified: bool = False

    def apply(self, trajectory: Trajectory) -> Trajectory:
        """The episode with the user's outcome, if its log states none.

        A word for all fills gaps only; a file that speaks of this very episode also counts
        more than what a judge model, or a person before, is on record with.
        """
        said = trajectory.outcome
        if said.known and (said.source == "stated" or self.are_for_all):
            return trajectory
        outcome = self._for(trajectory)
        return trajectory if outcome is None else trajectory.with_outcome(outcome)

    @property
    def are_for_all(self) -> bool:
        """Whether they are the same for all episodes, and change none of known outcome."""
        return not self.by_id and not self.only_identified

    def names(self, trajectory: Trajectory) -> tuple[str, ...]:
        """Those ids of the user's that name this episode, whether or not its log says more."""
        if not self.by_id:
            return ()
        keys = (trajectory.id, *external_ids(trajectory))
        return tuple(key for key in keys if key in self.by_id)

    def _for(self, trajectory: Trajectory) -> Outcome | None:
        external = external_ids(trajectory)
        for key in (trajectory.id, *external):
            if key in self.by_id:
                return self.by_id[key]
        return self.otherwise if external or not self.only_identified else None


def external_ids(trajectory: Trajectory) -> tuple[str, ...]:
    """The ids by which the log's own world knows an episode, the surest first."""
    found = (trajectory.metadata.get(key, "") for key in ID_KEYS)
    return tuple(key for key in found if key)


def user_outcomes(choice: str, *, success_at: float = 1.0) -> UserOutcomes:
    """Read what the user gave as outcome.

    Args:
        choice: `success` or `failure` for all episodes of unknown outcome, or the path of a
            side file: JSON, JSONL or CSV, from id to success or reward; or a list of the ids
            that were resolved, bare or as in a SWE-bench report.
        success_at: The reward from which on an episode is a success.

    Raises:
        UsageError: Neither a word nor a file, or a file that cannot be understood.
        TrajectoryError: The file cannot be opened.
    """
    if choice in ("success", "failure"):
        return UserOutcomes(otherwise=Outcome(success=choice == "success", source="user"))
    path = Path(choice)
    if not path.is_file():
        raise UsageError(
            f"no outcome and no file: {one_line(choice, 120)}",
            hint="give success, failure, or a file that maps ids to outcomes",
        )
    return _from_file(Log(one_line(path.name, 200), path, DEFAULT_LIMITS), success_at)


def _from_file(log: Log, success_at: float) -> UserOutcomes:
    try:
        if log.layout == "text":
            if log.preview().head.lstrip().startswith("["):
                return _listed(log.document(), log, success_at)
            return _from_rows(_csv_rows(log), log, success_at)
        if log.layout in ("array", "values"):
            return _listed(log.document(), log, success_at)
        records = [_readable(item) for item in log.records()]
    except RecordError as error:
        raise UsageError(
            error.message, source=log.name, position=error.position, hint=error.hint
        ) from error
    if len(records) == 1:
        return _listed(records[0].value, log, success_at)
    return _from_rows(((item.value, item.position) for item in records), log, success_at)


def _readable(item: Record | RecordError) -> Record:
    if isinstance(item, RecordError):
        raise item
    return item


def _listed(value: object, log: Log, success_at: float) -> UserOutcomes:
    """Outcomes from one JSON value: a list, a report, or a mapping from id to outcome."""
    if isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            return _resolved(value, {})
        rows = ((item, f"record {index}") for index, item in enumerate(value, 1))
        return _from_rows(rows, log, success_at)
    if not isinstance(value, dict):
        raise UsageError("no list and no mapping of ids to outcomes", source=log.name)
    for key in _RESOLVED_KEYS:
        if isinstance(value.get(key), list):
            return _resolved(value[key], value)
    if any(key in value for key in ID_KEYS) and any(key in value for key in _VALUE_KEYS):
        return _from_rows([(value, "record 1")], log, success_at)
    outcomes = {
        str(key): _outcome(item, log, f"id {one_line(str(key), 80)}", success_at)
        for key, item in value.items()
    }
    return UserOutcomes(outcomes)


def _resolved(ids: list[object], report: Mapping[str, object]) -> UserOutcomes:
    failure, success = (Outcome(success=flag, source="user") for flag in (False, True))
    outcomes: dict[str, Outcome] = {}
    for key in _UNRESOLVED_KEYS:
        listed = report.get(key)
        if isinstance(listed, list):
            outcomes.update((str(item), failure) for item in listed)
    # A report that names its failures says nothing of others; a bare list says all.
    otherwise = None if outcomes else failure
    outcomes.update((str(item), success) for item in ids)
    return UserOutcomes(outcomes, otherwise, only_identified=True)


def _csv_rows(log: Log) -> Iterator[tuple[object, str]]:
    """Rows of a table with a header, as mappings; of one column without, as ids."""
    lines = _readable_lines(log)
    delimiter = max(",;\t", key=lines[0].text.count)
    header, *rows = _cells(lines, delimiter)
    names = [name.strip().lower() for name in header]
    headed = bool(set(names) & {*ID_KEYS, *_VALUE_KEYS})
    if not headed:
        rows, names = [header, *rows], ["id", "outcome"]
    for number, row in enumerate(rows, 2 if headed else 1):
        if any(cell.strip() for cell in row):
            cells = {name: cell.strip() for name, cell in zip(names, row, strict=False)}
            yield cells, f"row {number}"


def _readable_lines(log: Log) -> list[Line]:
    """All lines of a side file; bytes replaced in one of them are no matter.

    Raises:
        RecordError: A line is missing, since it cannot be read or is too long.
    """
    items = list(log.lines())
    lines = [item for item in items if isinstance(item, Line)]
    there = {line.position for line in lines}
    for item in items:
        if isinstance(item, RecordError) and item.position not in there:
            raise item
    return lines


def _cells(lines: list[Line], delimiter: str) -> list[list[str]]:
    """The cells of a table, row by row.

    Raises:
        RecordError: A cell is longer than the parser takes.
    """
    rows = csv.reader((line.text for line in lines), delimiter=delimiter)
    try:
        return list(rows)
    except csv.Error as error:
        raise RecordError(
            f"a row that is no row of a table: {one_line(str(error), 120)}",
            position=lines[rows.line_num - 1].position,
            hint="leave out long columns, and look for a quotation mark without its partner",
        ) from error


def _from_rows(
    rows: Iterator[tuple[object, str]] | list[tuple[object, str]], log: Log, success_at: float
) -> UserOutcomes:
    outcomes: dict[str, Outcome] = {}
    bare: list[object] = []
    for row, position in rows:
        key = _first(row, ID_KEYS)
        if not isinstance(row, dict) or key in (None, ""):
            raise UsageError(
                f"no id; it is looked for as {', '.join(ID_KEYS)}",
                source=log.name,
                position=position,
            )
        name = str(key)
        if not any(value_key in row for value_key in _VALUE_KEYS):
            bare.append(name)
            continue
        outcome = _outcome(row, log, position, success_at)
        if outcomes.setdefault(name, outcome) != outcome:
            raise UsageError(
                f"a second, different outcome for {one_line(name, 80)}",
                source=log.name,
                position=position,
                hint="one episode has one outcome; name trials by their trajectory id",
            )
    if bare and outcomes:
        raise UsageError("some rows have an outcome and some have none", source=log.name)
    return _resolved(bare, {}) if bare else UserOutcomes(outcomes)


def _outcome(value: object, log: Log, position: str, success_at: float) -> Outcome:
    """One outcome from a flag, a number, or a mapping that holds success, reward or both."""
    said, outcome = value, stated(value)
    if isinstance(value, dict):
        flag = _first(value, tuple(key for key in _FLAG_KEYS if not is_tally(value, key)))
        points = _first(value, _REWARD_KEYS)
        said = points if flag is None else flag
        outcome = stated(points) if flag is None else verdict_of(flag)
        rewards = (stated(value.get(key)).reward for key in _REWARD_KEYS)
        reward = next((found for found in rewards if found is not None), outcome.reward)
        outcome = replace(outcome, reward=reward)
    outcome = decided(outcome, success_at)
    if not outcome.known:
        raise UsageError(
            f"not an outcome: {one_line(str(said), 60)}",
            source=log.name,
            position=position,
            hint="success, failure, true, false, or a reward from 0 to 1",
        )
    return replace(outcome, source="user")


def _first(row: object, keys: tuple[str, ...]) -> object:
    if not isinstance(row, dict):
        return None
    return next((row[key] for key in keys if row.get(key) is not None), None)
