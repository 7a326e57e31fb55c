"""The project's own log: one trajectory a line. Banks keep their episodes in it too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Notice, Record, located
from deltamem_tui.trajectory.model import (
    OUTCOME_SOURCES,
    STEP_WORDS,
    LogSource,
    Outcome,
    Step,
    Trajectory,
    searchable_json,
)
from deltamem_tui.trajectory.outcome_keys import stated_under
from deltamem_tui.trajectory.outcomes import attributed, undisputed
from deltamem_tui.trajectory.readers.reader import Reading, json_reader
from deltamem_tui.trajectory.readers.shapes import PICTURE_SIGN, as_mapping, as_text
from deltamem_tui.trajectory.secrets.redaction import may_hold_secrets, quoted
from deltamem_tui.trajectory.validation import admitted, checked, is_clean
from deltamem_tui.typed import converted

_DIGEST = re.compile("[0-9a-f]{16}")
_PATH = re.compile(r" - at `\$\.(?:steps\[(\d+)\]\.?)?(.*)`$")
# What msgspec reports of a value, and what people read.
_REASONS = {
    "Expected `str`": "is not text",
    "Expected `float": "is not a number",
    "Expected `bool": "is not true, false or null",
    "Expected `object`": "is not a JSON object",
    "Invalid enum value": f"is none of {', '.join(OUTCOME_SOURCES)}",
}
_GROUP_BYTES = 32_000  # of lines whose texts are looked at together, in the processor's own memory
_REPORTED_KEYS = 40  # a log may have another for every record


class _Record(Trajectory, frozen=True, forbid_unknown_fields=True):
    """A trajectory as a line has it: with its id, or what its author calls it."""

    given_id: str = msgspec.field(default="", name="id")


_RECORD_KEYS = (*Trajectory.__struct_fields__, "id")
_PART_KEYS = {"outcome": Outcome.__struct_fields__, "source": LogSource.__struct_fields__}
_STEP_KEYS = Step.__struct_fields__
_TYPED_KEYS = ("tool", "arguments", "said", *STEP_WORDS)

_decode = msgspec.json.Decoder(_Record).decode
_encode = msgspec.json.Encoder().encode


def to_line(trajectory: Trajectory) -> bytes:
    """Return a trajectory as one line of a native log, line break included.

    What is empty or unknown is left out. `id` comes first, for people and `jq`. It is a digest
    of the rest and is not read back.
    """
    rest = memoryview(_encode(trajectory))[1:]
    return b"".join((b'{"id":"', trajectory.id.encode(), b'",', rest, b"\n"))


def to_record(trajectory: Trajectory) -> dict[str, object]:
    """Return the same as a JSON object."""
    record = {"id": trajectory.id, **msgspec.to_builtins(trajectory)}
    return record | {"steps": [*record["steps"]]}


def from_record(record: object) -> Trajectory:
    """Return the trajectory that `to_record` wrote, cleaned and checked.

    Keys of later versions are passed over. An `id` that does not look like a digest
    is its author's own name for the episode and is kept as metadata `id`.

    Raises:
        RecordError: It is not such a record, or not an episode that can be learnt from.
    """
    found = _typed(record)
    return admitted(checked(_episode(found, _attributed(found.outcome), found.source)))


def _read(log: Log) -> Iterator[Reading]:
    unknown_keys = _UnknownKeys()
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
                yield from _readings(parsed, unknown_keys)
        else:
            group.append(_of_log(record, item.position))
            size += len(item.data)
    yield from _looked_at(group)


def _readings(item: Record | RecordError, unknown_keys: _UnknownKeys) -> Iterator[Reading]:
    if isinstance(item, RecordError):
        yield item
        return
    try:
        yield checked(_of_log(_typed(_with_outcome(item.value)), item.position))
    except RecordError as error:
        yield located(error, "", item.position)
    else:
        yield from (located(note, "", item.position) for note in unknown_keys.of(item.value))


def _with_outcome(value: object) -> object:
    """Return a record whose outcome is an object, as others write a word or a number there."""
    record = as_mapping(value)
    if not isinstance(record.get("outcome"), str | int | float):
        return value
    return {**record, "outcome": msgspec.to_builtins(stated_under(record, "outcome"))}


def _decoded(data: bytes) -> _Record | None:
    try:
        return _decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _looked_at(group: list[Trajectory]) -> list[Trajectory]:
    texts = searchable_json(b"\n".join([each.texts_as_json for each in group]))
    if texts is None or PICTURE_SIGN in texts:
        return group
    if is_clean(texts) and not may_hold_secrets(texts):
        for each in group:
            each.__dict__["has_plain_texts"] = True
    return group


def _of_log(record: _Record, position: str = "") -> Trajectory:
    """Return the trajectory of a record in a log; of unknown outcome if that contradicts itself."""
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
    """Return a parsed record as its type has it."""
    try:
        return converted(value, _Record)
    except msgspec.ValidationError:
        record = _tidied(value)
    try:
        return converted(record, _Record)
    except msgspec.ValidationError as error:
        raise RecordError(_reason(str(error), record)) from error


def _tidied(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise RecordError("not a JSON object")
    steps = value.get("steps")
    if not isinstance(steps, list):
        raise RecordError("no list under `steps`")
    record: dict[str, Any] = {"task": "", **_filled(value, _RECORD_KEYS), "steps": steps}
    for part, keys in _PART_KEYS.items():
        record[part] = _filled(record.get(part, {}), keys)
    record["steps"] = [
        {"action": "", **_without_misfits(filled)}
        if isinstance(filled := _filled(step, _STEP_KEYS), dict)
        else step
        for step in steps
    ]
    if isinstance(verdicts := record.get("verdicts"), list):
        record["verdicts"] = [_filled(each, _PART_KEYS["outcome"]) for each in verdicts]
    if not isinstance(record.get("id", ""), str):
        del record["id"]
    if isinstance(metadata := record.get("metadata"), dict):
        record["metadata"] = {key: "" if fact is None else fact for key, fact in metadata.items()}
    return record


def _without_misfits(step: dict[str, Any]) -> dict[str, Any]:
    """Return a step without the typed fields that hold something else, as others may use them."""
    return {key: each for key, each in step.items() if not _is_misfit(key, each)}


def _is_misfit(key: str, value: object) -> bool:
    if key in STEP_WORDS:
        return value not in STEP_WORDS[key]
    if key == "arguments":
        return not isinstance(value, dict)
    return key in ("tool", "said") and not isinstance(value, str)


def _filled(value: Any, keys: tuple[str, ...]) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: value[key] for key in keys if value.get(key) not in (None, "")}


def _reason(message: str, record: Mapping[str, object]) -> str:
    reasons = (reason for expected, reason in _REASONS.items() if message.startswith(expected))
    reason = next(reasons, "is not of its kind")
    step, key = path.groups() if (path := _PATH.search(message)) else (None, "")
    if key == "metadata[...]":
        facts = as_mapping(record["metadata"]).items()
        key = next((f"metadata.{name}" for name, fact in facts if not isinstance(fact, str)), key)
    if step is None:
        return f"`{quoted(key, 80)}` {reason}"
    return f"step {int(step) + 1}: `{key}` {reason}" if key else f"step {int(step) + 1} {reason}"


class _UnknownKeys:
    """Reports unknown keys of a log's records, such as `succes`, each where it first stands."""

    # A record of a later version may have more keys than this one reads: none is refused.
    def __init__(self) -> None:
        self._reported: set[str] = set()

    def of(self, record: object) -> Iterator[Notice]:
        """Yield a notice of each key of a record that is unknown and was not reported before."""
        if not isinstance(record, dict):
            return
        yield from self._among(record, _RECORD_KEYS)
        for part, keys in _PART_KEYS.items():
            yield from self._among(as_mapping(record.get(part)), keys, f"{part}.")
        # The keys of all steps at once: there are thousands of steps, and ten keys.
        steps = [each for each in record["steps"] if isinstance(each, dict)]
        yield from self._among(dict.fromkeys(set().union(*steps)), _STEP_KEYS, "steps[].")
        yield from self._misfits(steps)

    def _misfits(self, steps: list[dict[str, Any]]) -> Iterator[Notice]:
        for key in _TYPED_KEYS:
            name = f"steps[].{key}"
            values = (step.get(key) for step in steps)
            misfit = next((each for each in values if each and _is_misfit(key, each)), None)
            if misfit is None or name in self._reported:
                continue
            self._reported.add(name)
            known = ", ".join(STEP_WORDS.get(key, ("an object" if key == "arguments" else "text",)))
            yield Notice(
                f"`{name}` {quoted(as_text(misfit), 60)!r} is left out", hint=f"expected {known}"
            )

    def _among(
        self, keys: Iterable[object], known: tuple[str, ...], within: str = ""
    ) -> Iterator[Notice]:
        for key in keys:
            name = f"{within}{key}"
            if key in known or name in self._reported or len(self._reported) > _REPORTED_KEYS:
                continue
            self._reported.add(name)
            if len(self._reported) > _REPORTED_KEYS:
                yield Notice("more unknown keys are left out, and not told")
            else:
                yield _unknown_key(str(key), known, within)


def _unknown_key(key: str, known: tuple[str, ...], within: str) -> Notice:
    near = [each for each in known if len(key) > 2 and each.startswith(key.lower())]
    near = near or get_close_matches(key.lower(), known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
    return Notice(f"an unknown key `{within}{quoted(key, 60)}` is left out", hint=hint)


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
