"""The project's own log: one trajectory a line. Banks keep their episodes in it too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Notice, Record, located
from deltamem_tui.trajectory.model import (
    STEP_WORDS,
    LogSource,
    Outcome,
    Step,
    Trajectory,
    searchable_json,
)
from deltamem_tui.trajectory.outcomes import attributed, stated_under, undisputed
from deltamem_tui.trajectory.readers.reader import Reading, json_reader
from deltamem_tui.trajectory.readers.shapes import PICTURE_SIGN, Json, as_list, as_mapping
from deltamem_tui.trajectory.secrets.redaction import may_hold_secrets, quoted
from deltamem_tui.trajectory.validation import admitted, is_clean, misfit
from deltamem_tui.typed import converted

_DIGEST = re.compile("[0-9a-f]{16}")
_GROUP_BYTES = 32_000  # of lines whose texts are looked at together, in the processor's own memory
_REPORTED_KEYS = 40  # a log may have another for every record


class _Record(Trajectory, frozen=True, forbid_unknown_fields=True):
    given_id: str = msgspec.field(default="", name="id")


_RECORD_KEYS = (*Trajectory.__struct_fields__, "id")
_PART_KEYS = {"outcome": Outcome.__struct_fields__, "source": LogSource.__struct_fields__}
_STEP_KEYS = Step.__struct_fields__

_decode = msgspec.json.Decoder(_Record).decode
_encode = msgspec.json.Encoder().encode


def to_line(trajectory: Trajectory) -> bytes:
    """Return a trajectory as one line of a native log, line break included."""
    rest = memoryview(_encode(trajectory))[1:]
    return b"".join((b'{"id":"', trajectory.id.encode(), b'",', rest, b"\n"))


def to_record(trajectory: Trajectory) -> dict[str, object]:
    """Return the same as a JSON object."""
    record = {"id": trajectory.id, **msgspec.to_builtins(trajectory)}
    return record | {"steps": [*record["steps"]]}


def from_record(record: object) -> Trajectory:
    """Return the trajectory that `to_record` wrote, cleaned and checked.

    Keys of later versions are ignored. An `id` that does not look like a digest is its author's
    own name for the episode and is kept as metadata `id`.

    Raises:
        RecordError: It is not such a record, or not an episode that can be learnt from.
    """
    found = _typed(record)
    return admitted(_episode(found, _attributed(found.outcome), found.source))


def _read(log: Log) -> Iterator[Reading]:
    reported: set[str] = set()
    group: list[Trajectory] = []
    size = 0
    for item in log.values():
        record = None if isinstance(item, RecordError) else _decoded(item.data)
        if record is None or size >= _GROUP_BYTES:
            yield from _looked_at(group)
            group, size = [], 0
        if isinstance(item, RecordError):
            yield item
        elif record is None:
            for parsed in log.parsed(item):
                yield from _readings(parsed, reported)
        else:
            group.append(_of_log(record, item.position))
            size += len(item.data)
    yield from _looked_at(group)


def _readings(item: Record | RecordError, reported: set[str]) -> Iterator[Reading]:
    if isinstance(item, RecordError):
        yield item
        return
    value, record = item.value, as_mapping(item.value)
    if isinstance(record.get("outcome"), str | int | float):  # as others write it
        value = {**record, "outcome": msgspec.to_builtins(stated_under(record, "outcome"))}
    try:
        yield _of_log(_typed(value), item.position)
    except RecordError as error:
        yield located(error, "", item.position)
    else:
        yield from (located(note, "", item.position) for note in _unread(record, reported))


def _decoded(data: bytes) -> _Record | None:
    try:
        return _decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _looked_at(group: list[Trajectory]) -> list[Trajectory]:
    """Return the episodes, marked if a look at all of them finds nothing to clean or take out."""
    texts = searchable_json(b"\n".join([each.texts_as_json for each in group]))
    if texts is None or PICTURE_SIGN in texts:
        return group
    if is_clean(texts) and not may_hold_secrets(texts):
        for each in group:
            each.__dict__["has_plain_texts"] = True
    return group


def _of_log(record: _Record, position: str = "") -> Trajectory:
    source = record.source
    if not source.file and not source.position:
        source = LogSource(position=position, format=source.format)
    return _episode(record, _undisputed(record.outcome), source)


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


# Most episodes of a log end in one of a few ways.
@lru_cache(maxsize=256)
def _attributed(outcome: Outcome) -> Outcome:
    if outcome.reward == 0:
        outcome = replace(outcome, reward=0.0)  # nought has a sign otherwise
    return attributed(outcome)


@lru_cache(maxsize=256)
def _undisputed(outcome: Outcome) -> Outcome:
    return undisputed(_attributed(outcome))


def _typed(value: object) -> _Record:
    try:
        return converted(value, _Record)
    except msgspec.ValidationError:
        record = _tidied(value)
    try:
        return converted(record, _Record)
    except msgspec.ValidationError as error:
        raise RecordError(misfit(str(error))) from error


def _tidied(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise RecordError("not a JSON object")
    if not isinstance(value.get("steps"), list):
        raise RecordError("no list under `steps`")
    record: dict[str, Any] = {"task": "", "steps": [], **_filled(value, _RECORD_KEYS)}
    record |= {part: _filled(record.get(part, {}), keys) for part, keys in _PART_KEYS.items()}
    record["steps"] = [
        {"action": ""} | {k: v for k, v in _filled(step, _STEP_KEYS).items() if _fits(k, v)}
        if isinstance(step, dict)
        else step
        for step in record["steps"]
    ]
    if isinstance(verdicts := record.get("verdicts"), list):
        record["verdicts"] = [_filled(each, _PART_KEYS["outcome"]) for each in verdicts]
    if not isinstance(record.get("id", ""), str):
        del record["id"]
    if isinstance(metadata := record.get("metadata"), dict):
        record["metadata"] = {key: "" if fact is None else fact for key, fact in metadata.items()}
    return record


def _tidied_step(step: object) -> object:
    if not isinstance(step, dict):
        return step
    filled = _filled(step, _STEP_KEYS)
    return {"action": ""} | {key: each for key, each in filled.items() if _fits(key, each)}


def _filled(value: Any, keys: tuple[str, ...]) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: value[key] for key in keys if value.get(key) not in (None, "")}


def _fits(key: str, value: object) -> bool:
    """Return False if a typed field of a step holds something else, as others may use it."""
    if key in STEP_WORDS:
        return value in STEP_WORDS[key]
    if key == "arguments":
        return isinstance(value, dict)
    return key not in ("tool", "said") or isinstance(value, str)


def _unread(record: Json, reported: set[str]) -> Iterator[Notice]:
    """Yield a notice of each key of a record that is ignored, such as `succes`, once a log."""
    steps = list(map(as_mapping, as_list(record.get("steps"))))
    parts: list[tuple[str, list[Json], tuple[str, ...]]] = [("", [record], _RECORD_KEYS)]
    parts += [(f"{part}.", [as_mapping(record.get(part))], _PART_KEYS[part]) for part in _PART_KEYS]
    for within, rows, known in [*parts, ("steps[].", steps, _STEP_KEYS)]:
        for key, value in (pair for row in rows for pair in row.items()):
            name = f"{within}{key}"
            is_misfit = rows is steps and bool(value) and not _fits(key, value)
            if (key in known and not is_misfit) or name in reported:
                continue
            if len(reported) >= _REPORTED_KEYS:
                return
            reported.add(name)
            hint = "its value is of another kind" if is_misfit else f"known are {', '.join(known)}"
            yield Notice(f"`{quoted(name, 60)}` is ignored", hint=hint)


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
    is_typed=True,
)
