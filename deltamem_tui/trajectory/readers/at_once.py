"""The project's own log, straight into the lines that a bank keeps.

Most records of such a log are already what a bank would keep. To build an object for every
step, only to write it out again, would take longer than all the rest of an import. So a record
that can be seen at a glance to be plain, complete and free of secrets goes straight to its
line. One that is odd in any way takes the careful way, which also knows how to say why. Both
ways end in the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated

import msgspec

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.domains import chosen
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Value
from deltamem_tui.trajectory.model import LogSource, Outcome, StepRow, digest, identity
from deltamem_tui.trajectory.outcomes import decided, undisputed
from deltamem_tui.trajectory.readers import native
from deltamem_tui.trajectory.readers.reader import Reading, readings_of
from deltamem_tui.trajectory.readers.written import Written
from deltamem_tui.trajectory.redaction import notes_of
from deltamem_tui.trajectory.secrets.prefilter import may_hold_secrets, names_may_hold_secrets
from deltamem_tui.trajectory.validation import is_clean

_Word = Annotated[str, msgspec.Meta(min_length=1)]
# Of larger ones orjson writes the exponent with a plus sign, and msgspec without.
_Reward = Annotated[float, msgspec.Meta(gt=-1e15, lt=1e15)]


class _Part(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A JSON object of a record, its keys in the order in which `to_record` writes them.

    It is read and written again as such. What is empty is left out, but where it has a
    factory: that is there in every record. One with a key of a later version does not fit.
    """


class _Step(_Part, kw_only=True):
    """A step; a `StepRow` has the same order."""

    thought: str = ""
    action: _Word
    observation: str
    reward: _Reward | None = None


class _Outcome(_Part):
    success: bool | None = None
    reward: float | None = None
    source: str = ""
    reason: str = ""


class _Source(_Part):
    file: str = ""
    position: str = ""
    format: str = ""


class _Episode(_Part, kw_only=True):
    id: str = msgspec.field(default_factory=str)
    task: str
    environment: str = msgspec.field(default_factory=str)
    steps: Annotated[list[_Step], msgspec.Meta(min_length=1)]
    outcome: _Outcome
    source: _Source = msgspec.field(default_factory=_Source)
    domain: str = ""
    agent: str = ""
    metadata: dict[str, str] = msgspec.field(default_factory=dict)


_decode = msgspec.json.Decoder(_Episode).decode
_encode = msgspec.json.Encoder().encode_lines


def read_at_once(log: Log, success_at: float, domain: str = "") -> Iterator[Reading | Written]:
    """The episodes of the project's own log, written out where that can be done at once.

    Args:
        log: The log.
        success_at: The reward from which on an episode is a success.
        domain: The domain of those that are written out and whose record names none.
    """
    parse = native.episodes_of_log()
    for item in log.values():
        if isinstance(item, RecordError):
            yield item
            continue
        line = written_at_once(item, log, success_at, domain)
        if line is not None:
            yield line
            continue
        for record in log.parsed(item):
            yield from readings_of(record, parse, log)


def written_at_once(value: Value, log: Log, success_at: float, domain: str = "") -> Written | None:
    """A native record written out; None if it has to be looked at more closely.

    What is written is admitted, has a known outcome, and holds neither a secret nor an address.

    Args:
        value: A record, not parsed yet.
        log: The log that it stands in, for one that does not say where it came from.
        success_at: The reward from which on an episode is a success.
        domain: The domain, if the record names none.
    """
    try:
        return _plain(_decode(value.data), value.position, log, success_at, domain)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecordError):  # not of an episode's shape
        return None


def _plain(
    record: _Episode, position: str, log: Log, success_at: float, domain: str
) -> Written | None:
    rows: list[StepRow] = [*map(msgspec.structs.astuple, record.steps)]
    thoughts, actions, observations, _ = zip(*rows, strict=True)
    ending = _ending(success_at, *msgspec.structs.astuple(record.outcome))
    if ending is None or not record.task.strip() or any(map(str.isspace, actions)):
        return None
    outcome, record.outcome = ending
    texts = (record.task, record.environment, *thoughts, *actions, *observations)
    if not _is_plain("\n".join(texts)):
        return None
    record.metadata = native.with_own_id(record.metadata, record.id)
    record.id = digest(identity(record.task, record.environment, rows))
    named = record.domain
    record.domain = chosen(named, otherwise=domain)
    read = record.source
    if not read.file:  # whatever it was read from once, now it is read from here
        read.file, read.position, read.format = log.name, read.position or position, ""
    read.format = read.format or native.READER.name
    source = LogSource(read.file, read.position, read.format)
    if not _are_plain_names(named, record.domain, record.agent, read.file, read.format):
        return None
    if not all(map(_is_plain_note, notes_of(read.position, metadata=record.metadata))):
        return None
    line = _encode((record,))
    if len(line) > log.limits.field_characters:
        return None
    return Written(record.id, line, record.task, len(rows), outcome, source, record.domain)


def _is_plain(text: str) -> bool:
    """Whether nothing has to be done to a text."""
    # Of control characters, those of ASCII are among what the glance tells.
    clean = text.isascii() or is_clean(text)
    return clean and not _has_to_go(text) and not may_hold_secrets(text)


def _has_to_go(text: str) -> bool:
    """Whether a text may hold an address or a picture."""
    # A single byte is found far faster than a word, and seldom there.
    return "@" in text or (";" in text and ";base64," in text)


# The episodes of a log have their names in common, and most of their notes, and end in one of a
# few ways.
@lru_cache(maxsize=256)
def _are_plain_names(*names: str) -> bool:
    return all(map(_is_plain_note, names))


@lru_cache(maxsize=4096)
def _is_plain_note(note: str) -> bool:
    return is_clean(note) and not _has_to_go(note) and not names_may_hold_secrets((note,))


@lru_cache(maxsize=256)
def _ending(
    success_at: float, success: bool | None, reward: float | None, source: str, reason: str
) -> tuple[Outcome, _Outcome] | None:
    """How an episode ended, and as it is written.

    None if that is not known or cannot be, or something has to be done to the reason. It is
    looked at here, once for all that end alike: many a reason is a name such as `step_limit`,
    beside which every other text of the episode would be worth a closer look.

    Raises:
        RecordError: The record's outcome is not as `to_record` writes it.
    """
    stated = {"success": success, "reward": reward, "source": source, "reason": reason}
    outcome = decided(undisputed(native.outcome_of({"outcome": stated})), success_at)
    if not outcome.known or not 0.0 <= (outcome.reward or 0.0) <= 1.0:
        return None
    if not _is_plain(reason):
        return None
    return outcome, _Outcome(outcome.success, outcome.reward, outcome.source, outcome.reason)
