"""Outcomes that the user gives for episodes whose logs do not say how they ended.

Either one word for all of them, or a file: a mapping from id to outcome, rows with an id, or a
list of the ids that were resolved. What could be meant in two ways, or contradicts itself, is
refused: one wrong row makes a failure a success.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from deltamem_tui.errors import RecordError, UsageError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.log import Log, rows_of
from deltamem_tui.trajectory.logs.record import DEFAULT_LIMITS, located
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.outcomes import (
    ID_KEYS,
    REWARD_KEYS,
    decided,
    is_tally,
    reward_under,
    stated,
    together,
    verdict_of,
)

_FLAG_KEYS = ("success", "resolved", "solved", "is_success", "passed", "pass", "correct")
# In these columns, other words than outcomes are common: `completed`, or an answer.
_WORD_KEYS = ("outcome", "result", "status")
_VALUE_KEYS = (*_FLAG_KEYS, *_WORD_KEYS, *REWARD_KEYS)
_RESOLVED_KEYS = ("resolved_ids", "resolved")
# SWE-bench reports name what failed in several lists, by how it failed.
_UNRESOLVED_KEYS = (
    *("unresolved_ids", "unresolved", "error_ids", "empty_patch_ids", "incomplete_ids"),
)
_JUDGED_KEYS = ("submitted_ids", "completed_ids")  # whatever of these was not resolved failed
_ONE_OUTCOME = "one episode has one outcome; name trials by their trajectory id"

_Row = tuple[object, str]  # a row, and where it stands


@dataclass(frozen=True, slots=True)
class UserOutcomes:
    """The user's verdicts on episodes.

    `otherwise` is the outcome of each that `by_id`, a mapping from trajectory id or external id,
    does not name. If `only_identified`, it is for those with an external id only: a list of what
    was resolved speaks about its own benchmark.
    """

    by_id: Mapping[str, Outcome] = field(default_factory=dict)
    otherwise: Outcome | None = None
    only_identified: bool = False

    def apply(self, trajectory: Trajectory) -> Trajectory:
        """Return the episode with the user's outcome, if its log states none."""
        said = trajectory.outcome
        if said.known and (said.source == "stated" or self.are_for_all):
            return trajectory
        outcome = self._for(trajectory)
        return trajectory if outcome is None else trajectory.with_outcome(outcome)

    @property
    def are_for_all(self) -> bool:
        """True if they are the same for all episodes, and change none of known outcome."""
        return not self.by_id and not self.only_identified

    @property
    def must_name_one(self) -> bool:
        """True if they are only to be believed if an id names an episode that is read."""
        return self.only_identified and self.otherwise is not None and bool(self.by_id)

    def verdict_on(self, trajectory: Trajectory) -> bool | None:
        """Return how the user's file says that this episode ended; None if it is silent."""
        outcome = None if self.are_for_all else self._for(trajectory)
        return outcome.success if outcome else None

    def names(self, trajectory: Trajectory) -> tuple[str, ...]:
        """Return those ids of the user's that name this episode."""
        if not self.by_id:
            return ()
        return tuple(key for key in (trajectory.id, *external_ids(trajectory)) if key in self.by_id)

    def _for(self, trajectory: Trajectory) -> Outcome | None:
        if named := self.names(trajectory):
            return self.by_id[named[0]]
        return self.otherwise if external_ids(trajectory) or not self.only_identified else None


def external_ids(trajectory: Trajectory) -> tuple[str, ...]:
    """Return the ids by which the log's own world knows an episode, the surest first."""
    return tuple(filter(None, (trajectory.metadata.get(key, "") for key in ID_KEYS)))


def user_outcomes(choice: str, *, success_at: float = 1.0) -> UserOutcomes:
    """Read what the user gave as outcome: `success` or `failure` for all unknown ones, or a file.

    The file is JSON, JSONL or a table, from id to success or reward; or a list of the ids that
    were resolved, bare or as in a SWE-bench report.

    Raises:
        UsageError: Neither a word nor a file, or a file that cannot be understood or
            contradicts itself.
        TrajectoryError: The file cannot be opened.
    """
    if choice in ("success", "failure"):
        return UserOutcomes(otherwise=_given(success=choice == "success"))
    path = Path(choice)
    if not path.is_file():
        kind = "a folder" if path.is_dir() else "a pipe or a device" if path.exists() else ""
        raise UsageError(
            f"{f'{kind}, and no file of outcomes' if kind else 'no outcome and no file'}: "
            f"{one_line(choice, 120)}",
            hint="give success, failure, or a file that maps ids to outcomes",
        )
    log = Log(one_line(path.name, 200), path, DEFAULT_LIMITS)
    try:
        return _read(log, success_at)
    except RecordError as error:
        raise UsageError(
            error.message, source=log.name, position=error.position, hint=error.hint
        ) from error


def _given(*, success: bool) -> Outcome:
    return Outcome(success=success, source="user")


def _resolved(ids: Iterable[str]) -> UserOutcomes:
    return UserOutcomes(
        dict.fromkeys(ids, _given(success=True)), _given(success=False), only_identified=True
    )


def _by_id(outcomes: Mapping[str, Outcome]) -> UserOutcomes:
    return UserOutcomes(outcomes, only_identified=True)


def _read(log: Log, success_at: float) -> UserOutcomes:
    text = log.whole().decode("utf-8", "replace")
    if text.lstrip()[:1] not in ("{", "["):
        return _from_rows(_table(text), success_at)
    try:
        return _from_document(_parsed(text), success_at)
    except ValueError:  # then each line is one
        lines = [(each, f"line {n}") for n, each in enumerate(text.split("\n"), 1) if each.strip()]
    rows = []
    for line, position in lines:
        try:
            rows.append((_parsed(line), position))
        except (RecordError, ValueError, RecursionError) as error:
            if isinstance(error, RecordError):
                raise located(error, "", position) from None
            reason = f"not JSON: {one_line(str(error), 120)}"
            raise RecordError(reason, position=position) from error
    return _from_rows(rows, success_at)


def _parsed(text: str) -> object:
    """Return a JSON value; no object may have one key twice, of which parsers keep the last."""
    return json.loads(text, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        before = found.setdefault(key, value)
        if before is not value and before != value:  # NaN is the same value as itself
            reason = f"a second, different value for {one_line(key, 80)}"
            raise RecordError(reason, hint=_ONE_OUTCOME)
    return found


def _table(text: str) -> Iterator[_Row]:
    """Yield the rows of a table by column; without a header, those are id and outcome."""
    names: list[str] = []
    for cells, position in rows_of(text.split("\n")):
        if not names:
            names = [name.lower() for name in cells]
            if {*names} & {*ID_KEYS, *_VALUE_KEYS}:
                repeated = next((each for each in names if each and names.count(each) > 1), "")
                if repeated:
                    raise RecordError(f"two columns {one_line(repeated, 60)}", position=position)
                continue
            names = ["id", "outcome"]
        if any(cells[len(names) :]):
            reason = f"{len(cells)} cells, where {len(names)} are expected"
            raise RecordError(reason, position=position)
        yield dict(zip(names, cells, strict=False)), position


def _from_document(value: object, success_at: float) -> UserOutcomes:
    if isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            return _resolved(value)
        return _from_rows(((item, f"record {i}") for i, item in enumerate(value, 1)), success_at)
    if not isinstance(value, dict):
        raise RecordError("no list and no mapping of ids to outcomes")
    for key in _RESOLVED_KEYS:
        if isinstance(value.get(key), list):
            return _from_report(key, value)
    if _is_row(value):
        return _from_rows([(value, "record 1")], success_at)
    if not value:
        raise RecordError("no id in it")
    places = ((str(key), item, f"id {one_line(str(key), 80)}") for key, item in value.items())
    return _by_id({key: _outcome(item, place, success_at) for key, item, place in places})


def _is_row(value: Mapping[str, object]) -> bool:
    """Return True if one JSON object by itself is a row of a table, and no mapping of ids."""
    key = next((key for key in ID_KEYS if key in value), None)
    if key is None:
        return False
    is_outcome = isinstance(value[key], bool | dict) or stated(value[key]).source == "stated"
    return not is_outcome or any(other in value for other in _VALUE_KEYS)


def _from_report(resolved: str, report: Mapping[str, object]) -> UserOutcomes:
    known = (*_RESOLVED_KEYS, *_UNRESOLVED_KEYS, *_JUDGED_KEYS)
    lists = {key: _ids(key, each) for key in known if isinstance(each := report.get(key), list)}
    unresolved = [each for key in _UNRESOLVED_KEYS for each in lists.get(key, ())]
    if twice := {*lists[resolved]}.intersection(unresolved):
        raise RecordError(
            f"{one_line(min(twice), 80)} is among the resolved ids and among the unresolved",
            hint="take it out of one of the lists",
        )
    if lists.keys().isdisjoint((*_UNRESOLVED_KEYS, *_JUDGED_KEYS)):
        return _resolved(lists[resolved])
    judged = [each for key in _JUDGED_KEYS for each in lists.get(key, ())]
    failed = dict.fromkeys((*judged, *unresolved), _given(success=False))
    return _by_id(failed | dict.fromkeys(lists[resolved], _given(success=True)))


def _ids(key: str, listed: list[object]) -> list[str]:
    for each in listed:
        if not isinstance(each, str | int) or isinstance(each, bool):
            raise RecordError(f"not an id: {one_line(str(each), 60)}", position=key)
    return [str(each) for each in listed]


def _from_rows(rows: Iterable[_Row], success_at: float) -> UserOutcomes:
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
            reason = f"a second, different outcome for {one_line(name, 80)}"
            raise RecordError(reason, position=position, hint=_ONE_OUTCOME)
    if bare and outcomes:
        raise RecordError("some rows have an outcome and some have none")
    if not bare and not outcomes:
        raise RecordError("no id in it")
    return _resolved(bare) if bare else _by_id(outcomes)


def _id_of(row: object, position: str) -> str:
    found = [row[key] for key in ID_KEYS if _is_filled(row, key)] if isinstance(row, dict) else []
    if not found:
        raise RecordError(f"no id; it is looked for as {', '.join(ID_KEYS)}", position=position)
    return str(found[0])


def _check_bare(row: Mapping[str, object], position: str) -> None:
    """See that a row without an outcome has nothing but ids: then it says `resolved`."""
    others = [one_line(str(key), 40) for key in row if key and key not in ID_KEYS]
    if others:
        raise RecordError(
            f"nothing known to say how the episode ended, only {', '.join(others[:5])}",
            position=position,
            hint=f"name the column as one of {', '.join(_VALUE_KEYS)}",
        )


def _outcome(value: object, position: str, success_at: float) -> Outcome:
    outcome, problem = stated(value), value
    if isinstance(value, dict):
        places = {key: _stated_in(value, key) for key in _VALUE_KEYS if _is_filled(value, key)}
        unread = [key for key, each in places.items() if each.source == "unknown"]
        problem = value[unread[0]] if unread else "nothing"
        outcome = together(places)
        if outcome.reason:
            reason = outcome.reason.replace("the log", "it", 1)
            raise RecordError(reason, position=position, hint=_ONE_OUTCOME)
        if any(key in _FLAG_KEYS and not is_tally(value, key) for key in unread):
            outcome = Outcome()
    outcome = decided(outcome, success_at)
    if not outcome.known:
        shown = problem if isinstance(problem, str) else json.dumps(problem, ensure_ascii=False)
        raise RecordError(
            f"not an outcome: {one_line(shown, 60)}",
            position=position,
            hint="success, failure, true, false, or a reward from 0 to 1",
        )
    return replace(outcome, source="user")


def _stated_in(row: Mapping[str, object], key: str) -> Outcome:
    if key in REWARD_KEYS:
        return reward_under(row, key)
    return Outcome() if is_tally(row, key) else verdict_of(row[key])


def _is_filled(row: Mapping[str, object], key: str) -> bool:
    return row.get(key) not in (None, "")
