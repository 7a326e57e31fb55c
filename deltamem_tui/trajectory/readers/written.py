"""An episode written out, as the one line of JSON that a bank keeps of it.

Most records of the project's own logs are already what a bank would keep. To build an object
for every step, only to write it out again, would take longer than all the rest of an import.
So a record that can be seen at a glance to be plain, complete and free of secrets goes straight
to its line. One that is odd in any way takes the careful way, which also knows how to say why.
Both ways end in the same bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.limits import Limits
from deltamem_tui.trajectory.logs.log import Log, Record
from deltamem_tui.trajectory.model import (
    LogSource,
    Outcome,
    StepRow,
    Trajectory,
    digest,
    identity,
)
from deltamem_tui.trajectory.outcomes import decided
from deltamem_tui.trajectory.readers import native
from deltamem_tui.trajectory.readers.reader import Reading, readings_of
from deltamem_tui.trajectory.redaction import (
    NOTHING,
    Redactions,
    may_hold_secrets,
    names_may_hold_secrets,
    notes_of,
)

# How JSON writes control characters, but for the last of them, which it leaves as it is.
_ESCAPED = re.compile(rb"\\[bfru]")
_DELETE = b"\x7f"
_NUMBER_OR_NONE = frozenset((float, type(None)))


@dataclass(frozen=True, slots=True)
class Written:
    """An episode as it shall be kept, and what is reported of it.

    Attributes:
        id: Its id.
        line: Its record as one line of JSON, newline included.
        task: Its task.
        steps: How many steps it has.
        outcome: How it ended, and who says so.
        source: Where it was read.
        redactions: What was taken out of it.
    """

    id: str
    line: bytes
    task: str
    steps: int
    outcome: Outcome
    source: LogSource
    redactions: Redactions = NOTHING


def written(trajectory: Trajectory, source: LogSource, redactions: Redactions = NOTHING) -> Written:
    """An episode written out.

    Args:
        trajectory: The episode, admitted and redacted.
        source: Where it was read, as a report shall name it.
        redactions: What was taken out of it.
    """
    record = native.to_record(trajectory)
    return Written(
        id=str(record["id"]),
        line=orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE),
        task=trajectory.task,
        steps=len(trajectory.steps),
        outcome=trajectory.outcome,
        source=source,
        redactions=redactions,
    )


def read_at_once(log: Log, success_at: float, domain: str = "") -> Iterator[Reading | Written]:
    """The episodes of the project's own log, written out where that can be done at once.

    Args:
        log: The log.
        success_at: The reward from which on an episode is a success.
        domain: The domain of those that are written out and whose record names none.
    """
    for item in log.records():
        line = None
        if isinstance(item, Record):
            place = LogSource(log.name, item.position)
            line = written_at_once(item.value, place, success_at, log.limits, domain)
        if line is not None:
            yield line
        else:
            yield from readings_of(item, native.parsed, log)


def written_at_once(
    record: object, place: LogSource, success_at: float, limits: Limits, domain: str = ""
) -> Written | None:
    """A native record written out; None if it has to be looked at more closely.

    What is written is admitted, has a known outcome, and holds neither a secret nor an address.

    Args:
        record: A parsed JSON value.
        place: Where it was read, for a record that does not say where it came from.
        success_at: The reward from which on an episode is a success.
        limits: What an episode may hold.
        domain: The domain, if the record names none.
    """
    if not isinstance(record, dict):
        return None
    try:
        return _plain(record, place, success_at, limits, domain)
    except (
        TypeError,
        KeyError,
        AttributeError,
        ValueError,
        RecordError,
    ):  # not of the shape of an episode
        return None


def _plain(
    record: dict[str, object], place: LogSource, success_at: float, limits: Limits, domain: str
) -> Written | None:
    task, environment = native.text_of(record, "task"), native.text_of(record, "environment")
    rows = _rows(record["steps"])
    outcome = decided(native.outcome_of(record), success_at)
    whole = rows and task.strip() and outcome.known and 0.0 <= (outcome.reward or 0.0) <= 1.0
    text = identity(task, environment, rows)
    if not whole or b"@" in text or b";base64," in text or may_hold_secrets(text):
        return None
    source = native.source_of(record)
    if not source.file:
        source = LogSource(place.file, source.position or place.position)
    domain, agent = native.text_of(record, "domain") or domain, native.text_of(record, "agent")
    metadata = native.metadata_of(record)
    facts = (outcome.reason, domain, agent, source.file, source.position, source.format)
    if names_may_hold_secrets(notes_of(*facts, metadata=metadata)):
        return None
    kept = native.record_of(
        digest(text),
        task,
        environment,
        rows,
        outcome=outcome,
        source=source,
        domain=domain,
        agent=agent,
        metadata=metadata,
    )
    line = orjson.dumps(kept, option=orjson.OPT_APPEND_NEWLINE)
    if len(line) > limits.field_characters or not _is_clean(line):
        return None
    return Written(str(kept["id"]), line, task, len(rows), outcome, source)


def _is_clean(line: bytes) -> bool:
    """Whether `clean` would leave all text of a line of JSON as it is."""
    plain = line.isascii() and _DELETE not in line
    return plain and (b"\\" not in line or not _ESCAPED.search(line))


def _rows(steps: object) -> list[StepRow]:
    """The steps of a record as tuples.

    Raises:
        TypeError: A step is not as `to_record` writes it.
        ValueError: There is none, or one has no action or no finite reward.
    """
    if not isinstance(steps, list):
        raise TypeError("no list")
    rows = [
        (step.get("thought", ""), step["action"], step["observation"], step.get("reward"))
        for step in steps
    ]
    thoughts, actions, observations, rewards = zip(*rows, strict=True)
    # Each of these raises where something is not text, many times faster than `isinstance`.
    "".join(thoughts)
    "".join(observations)
    if not all(map(str.strip, actions)):
        raise ValueError("no action")
    if not _NUMBER_OR_NONE.issuperset(map(type, rewards)):
        raise TypeError("no float")
    if not math.isfinite(sum(filter(None, rewards))):
        raise ValueError("not finite")
    return rows
