"""The project's own log: one trajectory a line. Banks keep their episodes in it too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Record, located
from deltamem_tui.trajectory.model import STEP_WORDS, LogSource, Outcome, Trajectory
from deltamem_tui.trajectory.outcomes import explained, stated, undisputed
from deltamem_tui.trajectory.readers.reader import Reading, json_reader
from deltamem_tui.trajectory.readers.shapes import as_mapping
from deltamem_tui.trajectory.validation import admitted, misfit
from deltamem_tui.typed import converted

_DIGEST = re.compile("[0-9a-f]{16}")


class _Record(Trajectory, frozen=True):
    given_id: str = msgspec.field(default="", name="id")


_decode = msgspec.json.Decoder(_Record).decode
_encode = msgspec.json.Encoder().encode


def to_line(trajectory: Trajectory) -> bytes:
    """Return a trajectory as one line of a native log, line break included."""
    rest = memoryview(_encode(trajectory))[1:]
    return b"".join((b'{"id":"', trajectory.id.encode(), b'",', rest, b"\n"))


def from_record(record: object) -> Trajectory:
    """Return the trajectory that `Trajectory.record` gave, cleaned and checked.

    Keys of later versions are ignored. An `id` that does not look like a digest is its author's
    own name for the episode and is kept as metadata `id`.

    Raises:
        RecordError: It is not such a record, or not an episode that can be learnt from.
    """
    found = _typed(record)
    return admitted(_episode(found, found.outcome.attributed, found.source))


def _read(log: Log) -> Iterator[Reading]:
    for item in log.values():
        if isinstance(item, RecordError):
            yield item
        elif record := _decoded(item.data):
            yield _of_log(record, item.position)
        else:
            yield from map(_reading, log.parsed(item))


def _reading(item: Record | RecordError) -> Reading:
    if isinstance(item, RecordError):
        return item
    value, record = item.value, as_mapping(item.value)
    if isinstance(record.get("outcome"), str | int | float):  # as others write it
        outcome = explained(stated(record["outcome"]), record, ("outcome",))
        value = {**record, "outcome": msgspec.to_builtins(outcome)}
    try:
        return _of_log(_typed(value), item.position)
    except RecordError as error:
        return located(error, "", item.position)


def _decoded(data: bytes) -> _Record | None:
    try:
        return _decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _of_log(record: _Record, position: str = "") -> Trajectory:
    source = record.source
    if not source.file and not source.position:
        source = LogSource(position=position, format=source.format)
    return _episode(record, undisputed(record.outcome.attributed), source)


def _episode(record: _Record, outcome: Outcome, source: LogSource) -> Trajectory:
    metadata, given = record.metadata, record.given_id
    if given and not _DIGEST.fullmatch(given):
        metadata = {**metadata, "id": metadata.get("id", given)}
    return Trajectory(
        record.task,
        record.environment,
        record.steps,
        outcome,
        source,
        record.domain,
        record.agent,
        metadata,
        record.verdicts,
        record.receipts,
    )


def _typed(value: object) -> _Record:
    try:
        return converted(value, _Record)
    except msgspec.ValidationError:
        record = _tidied(value)
    try:
        return converted(record, _Record)
    except msgspec.ValidationError as error:
        raise RecordError(misfit(error)) from error


def _tidied(value: object) -> dict[str, object]:
    """Return a record as others may write it, without what is empty or means something else."""
    if not isinstance(value, dict):
        raise RecordError("not a JSON object")
    record: dict[str, Any] = {"task": "", **_filled(value)}
    if not isinstance(record.get("steps"), list):
        raise RecordError("no list under `steps`")
    record["steps"] = [
        {"action": ""} | {k: v for k, v in _filled(step).items() if _fits(k, v)}
        if isinstance(step, dict)
        else step
        for step in record["steps"]
    ]
    record |= {part: _filled(record[part]) for part in ("outcome", "source") if part in record}
    if isinstance(verdicts := record.get("verdicts"), list):
        record["verdicts"] = [*map(_filled, verdicts)]
    if not isinstance(record.get("id", ""), str):
        del record["id"]
    if isinstance(metadata := record.get("metadata"), dict):
        record["metadata"] = {key: "" if fact is None else fact for key, fact in metadata.items()}
    return record


def _filled(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: inner for key, inner in value.items() if inner not in (None, "")}


def _fits(key: str, value: object) -> bool:
    """Return False if a typed field of a step holds something else, as others may use it."""
    if key in STEP_WORDS:
        return value in STEP_WORDS[key]
    if key == "arguments":
        return isinstance(value, dict)
    return key not in ("tool", "said") or isinstance(value, str)


def _is_native(record: object) -> bool:
    record = as_mapping(record)
    steps = record.get("steps")
    first = steps[0] if isinstance(steps, list) and steps else None
    is_episode = isinstance(first, dict) and "action" in first and "task" in record
    return is_episode and "task_description" not in record  # which a rollout has


READER = json_reader(
    name="native",
    description="DeltaMem's own JSONL, one trajectory a line",
    is_own=_is_native,
    sureness=0.9,
    read=_read,
)
