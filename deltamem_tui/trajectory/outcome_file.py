"""Side files: what a person's own file says of how episodes ended.

A file is a mapping from id to outcome, a table of rows with an id, or a list of the ids that
were resolved, bare or in a benchmark's report. What could be meant in two ways is refused, and
so is what contradicts itself: one wrong row makes a failure a success.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from deltamem_tui.errors import RecordError, UsageError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Record, TextLine
from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.trajectory.outcome_keys import REWARD_KEYS, is_tally, reward_under
from deltamem_tui.trajectory.outcomes import decided, stated, together, verdict_of

# Spreadsheets begin a table so, that others of their kind may know.
_SEPARATOR = re.compile(r"sep=(?P<delimiter>.)\s*")
_DELIMITERS = ",;\t"

Row = tuple[object, str]
"""A row, and where it stands."""


def table_rows(log: Log, known: Collection[str]) -> Iterator[Row]:
    """Yield the rows of a table, as mappings from column to cell.

    Raises:
        RecordError: A line cannot be read, a row has more cells than the table has columns,
            two columns have one name, or something else parts its cells.
    """
    all_lines = _readable_lines(log)
    lines, delimiter = _begun(all_lines)
    if not lines:
        return
    first = len(all_lines) - len(lines) + 1
    header, *rows = _cells(lines, delimiter)
    names = [name.strip().lower() for name in header]
    headed = not set(names).isdisjoint(known)
    if not headed:
        rows, names = [header, *rows], ["id", "outcome"]
    repeated = [name for name in names if names.count(name) > 1 and name]
    if repeated:
        raise RecordError(f"two columns {one_line(repeated[0], 60)}", position=f"row {first}")
    for number, row in enumerate(rows, first + headed):
        if any(cell.strip() for cell in row):
            if any(cell.strip() for cell in row[len(names) :]):
                raise RecordError(
                    f"{len(row)} cells, where {len(names)} are expected", position=f"row {number}"
                )
            cells = {name: cell.strip() for name, cell in zip(names, row, strict=False)}
            yield cells, f"row {number}"


def _begun(lines: list[TextLine]) -> tuple[list[TextLine], str]:
    """Return a table's lines from its first row on, and what parts its cells."""
    lines = _from_first_row(lines)
    if not lines or not (named := _SEPARATOR.fullmatch(lines[0].text)):
        return lines, max(_DELIMITERS, key=lines[0].text.count) if lines else ""
    if named["delimiter"] not in _DELIMITERS:
        raise RecordError(
            f"a table whose cells are parted by `{one_line(named['delimiter'], 10)}`",
            position=lines[0].position,
            hint="save it with commas, semicolons or tabs between them",
        )
    return _from_first_row(lines[1:]), named["delimiter"]


def _from_first_row(lines: list[TextLine]) -> list[TextLine]:
    rows = (i for i, line in enumerate(lines) if line.text.strip(_DELIMITERS + " "))
    return lines[next(rows, len(lines)) :]


def _readable_lines(log: Log) -> list[TextLine]:
    """Return all lines of a side file; bytes replaced in one of them do not matter."""
    items = list(log.lines())
    lines = [item for item in items if isinstance(item, TextLine)]
    there = {line.position for line in lines}
    for item in items:
        if isinstance(item, RecordError) and item.position not in there:
            raise item
    return lines


def _cells(lines: list[TextLine], delimiter: str) -> list[list[str]]:
    """Return the cells of a table, row by row."""
    rows = csv.reader((line.text for line in lines), delimiter=delimiter)
    try:
        return list(rows)
    except csv.Error as error:
        raise RecordError(
            f"a row that is not a row of a table: {one_line(str(error), 120)}",
            position=lines[rows.line_num - 1].position,
            hint="leave out long columns, and look for a quotation mark without its partner",
        ) from error


ID_KEYS = ("id", "instance_id", "task_id", "trajectory", "trajectory_id", "sample_id", "name")
"""Where an episode's or a side file's external id stands, the surest first."""
_FLAG_KEYS = ("success", "resolved", "solved", "is_success", "passed", "pass", "correct")
# In these columns, other words than outcomes are common: `completed`, or an answer.
_WORD_KEYS = ("outcome", "result", "status")
_VALUE_KEYS = (*_FLAG_KEYS, *_WORD_KEYS, *REWARD_KEYS)
_RESOLVED_KEYS = ("resolved_ids", "resolved")
# SWE-bench reports name what failed in several lists, by how it failed.
_UNRESOLVED_KEYS = (
    *("unresolved_ids", "unresolved", "error_ids", "empty_patch_ids", "incomplete_ids"),
)
# Whatever of these was not resolved failed.
_JUDGED_KEYS = ("submitted_ids", "completed_ids")


@dataclass(frozen=True, slots=True)
class SideFile:
    """Outcomes by id, and whether the file lists all that was resolved: then all others failed."""

    by_id: Mapping[str, Outcome]
    is_complete: bool = False


def read_side_file(log: Log, success_at: float) -> SideFile:
    """Return what a side file says.

    Raises:
        UsageError: It cannot be understood, or contradicts itself.
        TrajectoryError: It cannot be opened.
    """
    try:
        return _read_file(log, success_at)
    except RecordError as error:
        raise UsageError(
            error.message, source=log.name, position=error.position, hint=error.hint
        ) from error


def _read_file(log: Log, success_at: float) -> SideFile:
    if log.layout == "text":
        if log.preview().head.lstrip().startswith("["):
            return _listed(log.document(), success_at)
        return _from_rows(table_rows(log, {*ID_KEYS, *_VALUE_KEYS}), success_at)
    _check_repeated_keys(log)
    if log.layout in ("array", "values"):
        return _listed(log.document(), success_at)
    records = [_readable(item) for item in log.records()]
    if len(records) == 1:
        return _listed(records[0].value, success_at)
    return _from_rows(((item.value, item.position) for item in records), success_at)


def _readable(item: Record | RecordError) -> Record:
    if isinstance(item, RecordError):
        raise item
    return item


def _check_repeated_keys(log: Log) -> None:
    """See that no object has one key twice with different values: parsers keep the last."""
    for item in log.values():
        if not isinstance(item, RecordError):
            try:
                json.loads(item.data, object_pairs_hook=_unique_keys)
            except (ValueError, RecursionError):  # told by whoever parses it for good
                continue
            except RecordError as error:
                error.position = item.position
                raise


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        before = found.setdefault(key, value)
        if before is not value and before != value:  # NaN is the same value as itself
            raise RecordError(
                f"a second, different value for {one_line(key, 80)}",
                hint="one episode has one outcome; name trials by their trajectory id",
            )
    return found


def _listed(value: object, success_at: float) -> SideFile:
    """Return what one JSON value says: a list, a report, or a mapping from id to outcome."""
    if isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            return _resolved(value)
        rows = ((item, f"record {index}") for index, item in enumerate(value, 1))
        return _from_rows(rows, success_at)
    if not isinstance(value, dict):
        raise RecordError("no list and no mapping of ids to outcomes")
    for key in _RESOLVED_KEYS:
        if isinstance(value.get(key), list):
            return _reported(key, value)
    if _is_row(value):
        return _from_rows([(value, "record 1")], success_at)
    outcomes = {
        str(key): _outcome(item, f"id {one_line(str(key), 80)}", success_at)
        for key, item in value.items()
    }
    if not outcomes:
        raise RecordError("no id in it")
    return SideFile(outcomes)


def _is_row(value: Mapping[str, object]) -> bool:
    """Return True if one JSON object by itself is a row of a table, and no mapping of ids."""
    key = next((key for key in ID_KEYS if key in value), None)
    if key is None:
        return False
    is_outcome = isinstance(value[key], bool | dict) or stated(value[key]).source == "stated"
    return not is_outcome or any(other in value for other in _VALUE_KEYS)


def _resolved(ids: Iterable[object]) -> SideFile:
    return SideFile({str(each): _outcome_of_user(success=True) for each in ids}, is_complete=True)


def _outcome_of_user(*, success: bool) -> Outcome:
    return Outcome(success=success, source="user")


def _reported(resolved: str, report: Mapping[str, object]) -> SideFile:
    lists = {key: _ids(key, report[key]) for key in report if _is_list(key, report)}
    unresolved = [each for key in _UNRESOLVED_KEYS for each in lists.get(key, ())]
    twice = set(lists[resolved]).intersection(unresolved)
    if twice:
        raise RecordError(
            f"{one_line(min(twice), 80)} is among the resolved ids and among the unresolved",
            hint="take it out of one of the lists",
        )
    if not lists.keys() & {*_UNRESOLVED_KEYS, *_JUDGED_KEYS}:
        return _resolved(lists[resolved])
    judged = [each for key in _JUDGED_KEYS for each in lists.get(key, ())]
    outcomes = dict.fromkeys((*judged, *unresolved), _outcome_of_user(success=False))
    return SideFile(outcomes | dict.fromkeys(lists[resolved], _outcome_of_user(success=True)))


def _is_list(key: str, report: Mapping[str, object]) -> bool:
    known = key in (*_RESOLVED_KEYS, *_UNRESOLVED_KEYS, *_JUDGED_KEYS)
    return known and isinstance(report[key], list)


def _ids(key: str, listed: object) -> list[str]:
    ids = listed if isinstance(listed, list) else []
    for each in ids:
        if not isinstance(each, str | int) or isinstance(each, bool):
            raise RecordError(f"not an id: {one_line(str(each), 60)}", position=key)
    return [str(each) for each in ids]


def _from_rows(rows: Iterable[Row], success_at: float) -> SideFile:
    outcomes: dict[str, Outcome] = {}
    bare: list[str] = []
    for row, position in rows:
        name = _id_of(row, position)
        if isinstance(row, dict) and not any(key in row for key in _VALUE_KEYS):
            _check_bare(row, position)
            bare.append(name)
            continue
        outcome = _outcome(row, position, success_at)
        if outcomes.setdefault(name, outcome) != outcome:
            raise RecordError(
                f"a second, different outcome for {one_line(name, 80)}",
                position=position,
                hint="one episode has one outcome; name trials by their trajectory id",
            )
    if bare and outcomes:
        raise RecordError("some rows have an outcome and some have none")
    if not bare and not outcomes:
        raise RecordError("no id in it")
    return _resolved(bare) if bare else SideFile(outcomes)


def _id_of(row: object, position: str) -> str:
    found = [row[key] for key in ID_KEYS if _is_filled(row, key)] if isinstance(row, dict) else []
    if not found:
        raise RecordError(f"no id; it is looked for as {', '.join(ID_KEYS)}", position=position)
    return str(found[0])


def _check_bare(row: Mapping[str, object], position: str) -> None:
    """See that a row without an outcome has nothing but ids: then it says `resolved`."""
    others = [key for key in row if key and key not in ID_KEYS]
    if others:
        names = ", ".join(one_line(str(key), 40) for key in others[:5])
        raise RecordError(
            f"nothing known to say how the episode ended, only {names}",
            position=position,
            hint=f"name the column as one of {', '.join(_VALUE_KEYS)}",
        )


def _outcome(value: object, position: str, success_at: float) -> Outcome:
    """Return one outcome from a flag, a number, or a mapping that holds success, reward or both."""
    problem: object = value
    if isinstance(value, dict):
        filled = {key: value[key] for key in _VALUE_KEYS if _is_filled(value, key)}
        places = {key: _read(key, value) for key in filled}
        unread = [key for key, each in places.items() if each.source == "unknown"]
        outcome = together(places)
        if outcome.reason:
            raise RecordError(
                outcome.reason.replace("the log", "it", 1),
                position=position,
                hint="one episode has one outcome",
            )
        problem = next((filled[key] for key in unread), "nothing")
        if any(key in _FLAG_KEYS and not is_tally(value, key) for key in unread):
            outcome = Outcome()
    else:
        outcome = stated(value)
    outcome = decided(outcome, success_at)
    if not outcome.known:
        raise RecordError(
            f"not an outcome: {one_line(_shown(problem), 60)}",
            position=position,
            hint="success, failure, true, false, or a reward from 0 to 1",
        )
    return replace(outcome, source="user")


def _shown(value: object) -> str:
    """Return a value as the file has it: `null`, `[true]`, and text without quotation marks."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _read(key: str, row: Mapping[str, object]) -> Outcome:
    if key in REWARD_KEYS:
        return reward_under(row, key)
    return Outcome() if is_tally(row, key) else verdict_of(row[key])


def _is_filled(row: Mapping[str, object], key: str) -> bool:
    return row.get(key) not in (None, "")
