"""All log formats, and which of them a log has: the one that was named, or the surest reader's.

A new format is a TOML file in `formats`, or a module beside this one and two lines here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from deltamem_tui.errors import ConfigurationError, LogFormatError, Remedy, UsageError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.readers import chat_logs, coding_agents, events, native, texts
from deltamem_tui.trajectory.readers.declared import declared_reader, shipped_readers
from deltamem_tui.trajectory.readers.reader import UNDISPUTED, Reader
from deltamem_tui.trajectory.readers.shapes import as_mapping

READERS: tuple[Reader, ...] = (
    native.READER,
    *coding_agents.READERS,
    *texts.READERS,
    chat_logs.READER,
    *events.READERS,
    *shipped_readers(),
)
"""All readers, in the order in which they are listed to people."""

# Two claims closer than this are a tie: no reader's sureness is finer.
_TIE = 1e-6


@dataclass(frozen=True, slots=True)
class Claim:
    """How sure a reader is of a log, above 0 and up to 1."""

    reader: Reader
    sureness: float


def reader_named(name: str) -> Reader:
    """Return the reader of a format, or the one that a TOML file declares (see `declared`).

    Raises:
        UsageError: There is no such format and no such file.
        ConfigurationError: The file declares no reader, or one under the name of another.
    """
    for reader in READERS:
        if reader.name == name:
            return reader
    if not (name.endswith(".toml") or Path(name).is_file()):
        names = ", ".join(reader.name for reader in READERS)
        raise UsageError(
            f"unknown format {one_line(name, 60)}",
            hint=f"a TOML file that declares it, or one of {names}",
        )
    declared = declared_reader(Path(name))
    if any(declared.name == known.name for known in READERS):
        raise ConfigurationError(
            f"there is a format {declared.name} already",
            source=one_line(Path(name).name, 200),
            position="name",
            hint="call yours something else",
        )
    return declared


def detect(log: Log) -> list[Claim]:
    """Return every reader that claims a log, the surest first; empty if none does."""
    return _claims(log.preview(), at_most=2.0)


def _claims(preview: Preview, at_most: float) -> list[Claim]:
    """Return the claims, the surest first; the last that is looked for is one of `at_most`."""
    claims: list[Claim] = []
    for reader in READERS:
        claims.append(Claim(reader, reader.claims(preview)))
        if claims[-1].sureness >= at_most:
            break
    return sorted((claim for claim in claims if claim.sureness > 0), key=lambda c: -c.sureness)


def reader_of(log: Log) -> Reader:
    """Return the one reader that is surest of a log.

    Raises:
        LogFormatError: There is none, or more than one.
        TrajectoryError: The log cannot be opened.
    """
    if problem := log.problem:
        raise LogFormatError(problem, source=log.name)
    preview = log.preview()
    claims = _claims(preview, at_most=UNDISPUTED)
    if not claims:
        raise _unknown(log.name, preview)
    tied = [claim.reader.name for claim in claims if claims[0].sureness - claim.sureness < _TIE]
    if len(tied) > 1:
        raise LogFormatError(
            f"could be {' or '.join(tied)}", source=log.name, hint=Remedy.NAME_FORMAT
        )
    return claims[0].reader


def _unknown(name: str, preview: Preview) -> LogFormatError:
    """Return why no reader claims a log: what cannot be read in it, or what it looks like."""
    if not preview.records and preview.refusals:
        refusal, *others = preview.refusals
        where = ", ".join(filter(None, (each.position for each in others)))
        reason = f"{refusal.message}; nor can {where} be read" if where else refusal.message
        return LogFormatError(reason, source=name, position=refusal.position, hint=refusal.hint)
    if preview.layout == "array" and not preview.records:
        return LogFormatError("a list with no record in it", source=name)
    return LogFormatError("no reader knows this format", source=name, hint=Remedy.DECLARE_FORMAT)


def is_no_log(log: Log) -> bool:
    """Return True if a file that no reader knows holds no list of things that happened."""
    if log.layout in ("text", "tables", "empty"):
        return True
    records = log.preview().records if log.layout in ("lines", "array", "values") else ()
    return len(records) == 1 and not _has_rows(records[0])


def _has_rows(record: object) -> bool:
    """Return True if there is a list of objects somewhere in a record, as all logs have one."""
    inner = record if isinstance(record, list) else [*as_mapping(record).values()]
    if isinstance(record, list) and any(isinstance(each, dict) for each in inner):
        return True
    return any(_has_rows(value) for value in inner if isinstance(value, dict | list))
