"""The project's own log, straight into the lines that a bank keeps.

Most records of such a log are already what a bank would keep. To build an object for every
step, only to write it out again, would take longer than all the rest of an import. So a record
that can be seen at a glance to be plain, complete and free of secrets goes straight to its
line. One that is odd in any way takes the careful way, which also knows how to say why. Both
ways end in the same bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, repeat
from typing import Any

import orjson

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.limits import Limits
from deltamem_tui.trajectory.logs.log import Log, Record
from deltamem_tui.trajectory.model import LogSource, Outcome, StepRow, digest, identity
from deltamem_tui.trajectory.outcomes import decided
from deltamem_tui.trajectory.readers import native
from deltamem_tui.trajectory.readers.reader import Reading, readings_of
from deltamem_tui.trajectory.readers.shapes import as_mapping
from deltamem_tui.trajectory.readers.written import Written
from deltamem_tui.trajectory.redaction import may_hold_secrets, names_may_hold_secrets, notes_of

# How JSON writes control characters, but for the last of them, which it leaves as it is.
_ESCAPED = re.compile(rb"\\[bfru]")
_DELETE = b"\x7f"
_NUMBER_OR_NONE = frozenset((float, type(None)))
# The keys of a step as a native log writes them; a step of others is written anew.
_KEYS = ("action", "observation")
_SHAPES = frozenset((_KEYS, ("thought", *_KEYS), (*_KEYS, "reward"), ("thought", *_KEYS, "reward")))


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


def _is_clean(line: bytes) -> bool:
    """Whether `clean` would leave all text of a line of JSON as it is."""
    plain = line.isascii() and _DELETE not in line
    return plain and (b"\\" not in line or not _ESCAPED.search(line))


def _plain(
    record: dict[str, object], place: LogSource, success_at: float, limits: Limits, domain: str
) -> Written | None:
    task, environment = native.text_of(record, "task"), native.text_of(record, "environment")
    rows, steps = _steps(record["steps"])
    outcome = _outcome(record, success_at)
    if not (task.strip() and outcome.known and 0.0 <= (outcome.reward or 0.0) <= 1.0):
        return None
    text = identity(task, environment, rows)
    # A byte is found far faster than a word, and seldom there.
    if b"@" in text or (b";" in text and b";base64," in text) or may_hold_secrets(text):
        return None
    source = native.source_of(record)
    if not source.file:
        source = LogSource(place.file, source.position or place.position)
    domain, agent = native.text_of(record, "domain") or domain, native.text_of(record, "agent")
    metadata = native.metadata_of(record)
    facts = (outcome.reason, domain, agent, source.file, source.position, source.format)
    notes = notes_of(*facts, metadata=metadata)
    if any("@" in note for note in notes) or names_may_hold_secrets(notes):
        return None
    kept = native.record_of(
        digest(text),
        task,
        environment,
        steps,
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


def _outcome(record: dict[str, object], success_at: float) -> Outcome:
    """How a record's episode ended; most of a log's episodes end in one of a few ways.

    Raises:
        RecordError: It is not as `to_record` writes it.
        TypeError: The same.
    """
    stated = as_mapping(record["outcome"])
    values = (stated.get(key) for key in ("success", "reward", "source", "reason"))
    return _known_outcome(success_at, *values)


# 1, 1.0 and true are not the same here.
@lru_cache(maxsize=256, typed=True)
def _known_outcome(
    success_at: float, success: object, reward: object, source: object, reason: object
) -> Outcome:
    stated = {"success": success, "reward": reward, "source": source, "reason": reason}
    return decided(native.outcome_of({"outcome": stated}), success_at)


def _steps(steps: object) -> tuple[list[StepRow], list[dict[str, object]]]:
    """The steps of a record as tuples, and as they shall be kept.

    Raises:
        TypeError: A step is not as `to_record` writes it.
        ValueError: There is none, or one has no action or no finite reward.
    """
    if not isinstance(steps, list) or not steps:
        raise TypeError("no list of steps")
    keys = tuple(steps[0])
    # No step has a key twice, so there is only one way to cut all of their keys into steps.
    if keys in _SHAPES and [*chain.from_iterable(steps)] == [*keys] * len(steps):
        rows, whole = _rows_alike(keys, steps)
    else:
        rows, whole = _rows_mixed(steps)
    return rows, steps if whole else [native.step_record(*row) for row in rows]


def _rows_alike(keys: tuple[str, ...], steps: list[dict[str, Any]]) -> tuple[list[StepRow], bool]:
    """The rows of steps with the same keys, and whether none of their values is empty."""
    values = [*chain.from_iterable(map(dict.values, steps))]
    columns = {key: values[index :: len(keys)] for index, key in enumerate(keys)}
    thoughts, rewards = columns.get("thought"), columns.get("reward")
    _require_texts(columns["action"], columns["observation"], thoughts or ())
    _require_numbers(rewards or ())
    rows = zip(
        thoughts or repeat(""),
        columns["action"],
        columns["observation"],
        rewards or repeat(None),
        strict=False,
    )
    return [*rows], "" not in (thoughts or ()) and None not in (rewards or ())


def _rows_mixed(steps: list[dict[str, Any]]) -> tuple[list[StepRow], bool]:
    """The rows of any steps, and whether each step is as it is written."""
    rows = [
        (step.get("thought", ""), step["action"], step["observation"], step.get("reward"))
        for step in steps
    ]
    thoughts, actions, observations, rewards = zip(*rows, strict=True)
    _require_texts(actions, observations, thoughts)
    _require_numbers(rewards)
    # What is empty is left out when it is written; then there are no more keys than values.
    values = 4 * len(steps) - thoughts.count("") - rewards.count(None)
    whole = sum(map(len, steps)) == values and _SHAPES.issuperset(map(tuple, steps))
    return rows, whole


def _require_texts(actions: Sequence[str], *others: Sequence[str]) -> None:
    """See that everything is text and that no action is blank.

    Raises:
        TypeError: Something is no text.
        ValueError: An action is blank.
    """
    for texts in others:
        "".join(texts)  # raises where something is not text, many times faster than `isinstance`
    if "" in actions or any(map(str.isspace, actions)):
        raise ValueError("no action")


def _require_numbers(rewards: Sequence[float | None]) -> None:
    """See that rewards are finite floats, or none.

    Raises:
        TypeError: One is something else.
        ValueError: One is not finite.
    """
    if not _NUMBER_OR_NONE.issuperset(map(type, rewards)):
        raise TypeError("no float")
    if not math.isfinite(sum(filter(None, rewards))):
        raise ValueError("not finite")
