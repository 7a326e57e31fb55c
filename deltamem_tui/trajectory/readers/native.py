"""The project's own log: one trajectory a line. Banks keep their episodes in it too."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

import orjson

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import (
    OUTCOME_SOURCES,
    LogSource,
    Outcome,
    Step,
    Trajectory,
)
from deltamem_tui.trajectory.outcomes import attributed, undisputed
from deltamem_tui.trajectory.readers.reader import Reader, Reading, readings_of, share
from deltamem_tui.trajectory.readers.shapes import as_mapping
from deltamem_tui.trajectory.readers.unknown_keys import UnknownKeys
from deltamem_tui.trajectory.secrets.quoting import quoted
from deltamem_tui.trajectory.validation import admitted

_Record = Mapping[str, object]
_DIGEST = re.compile("[0-9a-f]{16}")


def to_record(trajectory: Trajectory) -> dict[str, object]:
    """A trajectory as a JSON object; what is empty or unknown is left out.

    `id` comes first, for people and `jq`. It is a digest of the rest and is not read back.
    """
    return record_of(
        trajectory.id,
        trajectory.task,
        trajectory.environment,
        [step_record(*row) for row in trajectory.rows],
        outcome=trajectory.outcome,
        source=trajectory.source,
        domain=trajectory.domain,
        agent=trajectory.agent,
        metadata=trajectory.metadata,
    )


def to_line(trajectory: Trajectory) -> bytes:
    """A trajectory as one line of a native log, line break included."""
    return orjson.dumps(to_record(trajectory), option=orjson.OPT_APPEND_NEWLINE)


def record_of(
    episode_id: str,
    task: str,
    environment: str,
    steps: list[dict[str, object]] | orjson.Fragment,
    *,
    outcome: Outcome,
    source: LogSource,
    domain: str,
    agent: str,
    metadata: Mapping[str, str],
) -> dict[str, object]:
    """The record of an episode that is at hand in parts."""
    record: dict[str, object] = {
        "id": episode_id,
        "task": task,
        "environment": environment,
        "steps": steps,
        "outcome": _without_blanks(
            success=outcome.success,
            reward=outcome.reward,
            source=outcome.source,
            reason=outcome.reason,
        ),
        "source": _without_blanks(file=source.file, position=source.position, format=source.format),
    }
    record |= _without_blanks(domain=domain, agent=agent)
    if metadata:
        record["metadata"] = dict(metadata)
    return record


def from_record(record: object) -> Trajectory:
    """The trajectory that `to_record` wrote, cleaned and checked.

    Keys of later versions are passed over. An `id` that does not look like a digest
    is somebody's own name for the episode and is kept as metadata `id`.

    Args:
        record: A parsed JSON value.

    Raises:
        RecordError: It is no such record, or not an episode that can be learnt from.
    """
    return admitted(parsed(record))


def step_record(
    thought: str, action: str, observation: str, reward: float | None
) -> dict[str, object]:
    """A step as a JSON object; what is empty but may not be is left out."""
    # Written out for speed: every step of every log that is imported goes through here.
    if thought:
        record: dict[str, object] = {
            "thought": thought,
            "action": action,
            "observation": observation,
        }
    else:
        record = {"action": action, "observation": observation}
    if reward is not None:
        record["reward"] = reward
    return record


def _without_blanks(**values: object) -> dict[str, object]:
    return {key: value for key, value in values.items() if value is not None and value != ""}


def of_log(record: object) -> Trajectory:
    """The trajectory of a record in a log; of unknown outcome if that contradicts itself.

    Raises:
        RecordError: It is no such record.
    """
    trajectory = parsed(record)
    outcome = undisputed(trajectory.outcome)
    return trajectory if outcome is trajectory.outcome else trajectory.with_outcome(outcome)


def episodes_of_log() -> Callable[[object], Iterator[Reading]]:
    """What turns one record of a log after the other into its episode.

    It tells of keys that it does not know, once a log, so each log needs a new one.
    """
    unknown = UnknownKeys()

    def readings(record: object) -> Iterator[Reading]:
        yield of_log(record)
        yield from unknown.of(record)

    return readings


def _read(log: Log) -> Iterator[Reading]:
    parse = episodes_of_log()
    for item in log.records():
        yield from readings_of(item, parse, log)


def parsed(record: object) -> Trajectory:
    """The trajectory of a record, as it stands there.

    Raises:
        RecordError: It is no such record.
    """
    if not isinstance(record, dict):
        raise RecordError("not a JSON object")
    steps = record.get("steps")
    if not isinstance(steps, list):
        raise RecordError("no list under `steps`")
    return Trajectory(
        task=text_of(record, "task"),
        environment=text_of(record, "environment"),
        steps=tuple(_steps(steps)),
        outcome=outcome_of(record),
        source=source_of(record),
        domain=text_of(record, "domain"),
        agent=text_of(record, "agent"),
        metadata=metadata_of(record),
    )


def _steps(values: list[object]) -> Iterator[Step]:
    for index, value in enumerate(values, 1):
        if isinstance(value, dict):
            action, observation = value.get("action"), value.get("observation")
            thought, reward = value.get("thought", ""), value.get("reward")
            # Nearly every step is as `to_record` writes it; to look at all its keys once more,
            # for a message that nobody needs, would take longer than parsing the log.
            if (
                isinstance(action, str)
                and isinstance(observation, str)
                and isinstance(thought, str)
                and (reward is None or isinstance(reward, float))
            ):
                yield _quick_step(action, observation, thought, reward)
                continue
        yield _step(value, index)


def _setter(name: str) -> Callable[[Step, object], None]:
    setter: Callable[[Step, object], None] = getattr(Step, name).__set__
    return setter


_new_step = Step.__new__
_SETTERS = tuple(map(_setter, ("action", "observation", "thought", "reward")))
_set_action, _set_observation, _set_thought, _set_reward = _SETTERS


def _quick_step(action: str, observation: str, thought: str, reward: float | None) -> Step:
    """A step, in half the time its constructor takes: a frozen class guards each field it sets.

    Half of the time of reading a log went into it.
    """
    step = _new_step(Step)
    _set_action(step, action)
    _set_observation(step, observation)
    _set_thought(step, thought)
    _set_reward(step, reward)
    return step


def _step(value: object, index: int) -> Step:
    if not isinstance(value, dict):
        raise RecordError(f"step {index} is not a JSON object")
    try:
        return Step(
            text_of(value, "action"),
            text_of(value, "observation"),
            text_of(value, "thought"),
            _number(value, "reward"),
        )
    except RecordError as error:
        raise RecordError(f"step {index}: {error.message}") from error


def outcome_of(record: _Record) -> Outcome:
    """How a record's episode ended: by the log's own word if it does not say by whose.

    Raises:
        RecordError: It is not as `to_record` writes it.
    """
    value = _object(record, "outcome")
    success = value.get("success")
    if success is not None and not isinstance(success, bool):
        raise RecordError("`outcome.success` is not true, false or null")
    reward = _number(value, "reward")
    if reward is not None:
        reward += 0.0  # nought has a sign otherwise
    default = "unknown" if success is None and reward is None else "stated"
    source = text_of(value, "source", "outcome.") or default
    if source not in OUTCOME_SOURCES:
        raise RecordError(f"`outcome.source` is none of {', '.join(OUTCOME_SOURCES)}")
    return attributed(Outcome(success, reward, source, text_of(value, "reason", "outcome.")))


def source_of(record: _Record) -> LogSource:
    """Where a record says that its episode was first read.

    Raises:
        RecordError: It is not as `to_record` writes it.
    """
    value = _object(record, "source")
    return LogSource(
        text_of(value, "file", "source."),
        text_of(value, "position", "source."),
        text_of(value, "format", "source.") or READER.name,
    )


def metadata_of(record: _Record) -> dict[str, str]:
    """The other facts of a record, its own id among them if it is no digest of ours.

    Raises:
        RecordError: One is not text.
    """
    values = _object(record, "metadata")
    metadata = {key: text_of(values, key, "metadata.") for key in values}
    own_id = record.get("id")
    return with_own_id(metadata, own_id) if isinstance(own_id, str) else metadata


def with_own_id(metadata: dict[str, str], own_id: str) -> dict[str, str]:
    """Metadata, and a record's own id in it if that is no digest of ours."""
    if own_id and not _DIGEST.fullmatch(own_id):
        metadata.setdefault("id", own_id)
    return metadata


def _object(record: _Record, key: str) -> _Record:
    value = record.get(key)
    if value is not None and not isinstance(value, dict):
        raise RecordError(f"`{key}` is not a JSON object")
    return as_mapping(value)


def text_of(record: _Record, key: str, within: str = "") -> str:
    """The text under `key`; empty if it is missing.

    Args:
        record: A JSON object.
        key: A key of it.
        within: Where the object lies, as an error shall say before the key.

    Raises:
        RecordError: It is not text.
    """
    value = record.get(key)
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    raise RecordError(f"`{quoted(within + key, 80)}` is not text")


def _number(record: _Record, key: str) -> float | None:
    value = record.get(key)
    if value is None or isinstance(value, float):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    raise RecordError(f"`{key}` is not a number")


def _is_native(record: object) -> bool:
    steps = as_mapping(record).get("steps")
    first = steps[0] if isinstance(steps, list) and steps else None
    return isinstance(first, dict) and "action" in first and "task" in as_mapping(record)


def _claims(preview: Preview) -> float:
    return 0.9 * share(preview, lambda record: _is_native(record) and not _is_rollout(record))


def _is_rollout(record: object) -> bool:
    return "task_description" in as_mapping(record)


READER = Reader(
    name="native",
    description="DeltaMem's own JSONL, one trajectory a line",
    claims=_claims,
    read=_read,
)
