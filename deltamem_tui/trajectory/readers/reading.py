"""From what a person names to episodes: find the logs, tell their formats, read them in order.

Nothing is skipped in silence. Whatever a log holds that is no episode comes out as a
`RecordError` in its place, with file, position and reason, and the rest goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from deltamem_tui.errors import (
    ConfigurationError,
    LogFormatError,
    RecordError,
    TrajectoryError,
    UsageError,
)
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.admission import admitted
from deltamem_tui.trajectory.logs.limits import DEFAULT_LIMITS, Limits
from deltamem_tui.trajectory.logs.log import Log, Preview, located
from deltamem_tui.trajectory.logs.sources import FoundLog, find_logs
from deltamem_tui.trajectory.model import LogSource, Trajectory
from deltamem_tui.trajectory.outcomes import decided
from deltamem_tui.trajectory.readers.declared import declared_reader
from deltamem_tui.trajectory.readers.reader import Reader, Reading
from deltamem_tui.trajectory.readers.registry import READERS

# Two claims closer than this are a tie: no reader's sureness is finer.
_TIE = 1e-6


@dataclass(frozen=True, slots=True)
class Claim:
    """How sure a reader is of a log.

    Attributes:
        reader: The reader.
        sureness: Above 0, up to 1.
    """

    reader: Reader
    sureness: float


def readers() -> tuple[Reader, ...]:
    """All readers, in the order in which they are listed to people."""
    return READERS


def reader_named(name: str) -> Reader:
    """The reader of a format, or the one that a TOML file declares.

    Args:
        name: A format's name, or the path of a declaration (see `declared`).

    Raises:
        LogFormatError: There is no such format and no such file.
        ConfigurationError: The file declares no reader, or one under the name of another.
    """
    for reader in READERS:
        if reader.name == name:
            return reader
    if name.endswith(".toml") or Path(name).is_file():
        return _declared(Path(name))
    names = ", ".join(reader.name for reader in READERS)
    raise LogFormatError(
        f"unknown format {one_line(name, 60)}",
        hint=f"a TOML file that declares it, or one of {names}",
    )


def _declared(path: Path) -> Reader:
    reader = declared_reader(path)
    if any(reader.name == known.name for known in READERS):
        raise ConfigurationError(
            f"there is a format {reader.name} already",
            source=one_line(path.name, 200),
            position="name",
            hint="call yours something else",
        )
    return reader


def detect(log: Log) -> list[Claim]:
    """Every reader that claims a log, the surest first; empty if none does.

    Raises:
        TrajectoryError: The log cannot be opened.
    """
    return _claims(log.preview())


def _claims(preview: Preview) -> list[Claim]:
    claims = (Claim(reader, reader.claims(preview)) for reader in READERS)
    return sorted((claim for claim in claims if claim.sureness > 0), key=lambda c: -c.sureness)


def read_logs(
    paths: Iterable[str | Path],
    *,
    format: str | None = None,  # noqa: A002 — the word that people know it by
    success_at: float = 1.0,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Reading]:
    """Read the episodes of logs, one at a time.

    What a call can be told is wrong with it is told before the first episode: a path that
    does not exist, or a file named by itself that no reader knows. Files found in a folder
    or by a pattern are reported one by one instead.

    Args:
        paths: Files, folders, patterns, or `-` for standard input; read in this order, and
            folders by name.
        format: The format of all of them, or a TOML file that declares it; by content if None.
        success_at: The reward from which on an episode is a success, where the log states
            a reward and no verdict.
        limits: How much of each log is taken.

    Returns:
        Trajectories, and a `RecordError` for everything that is none.

    Raises:
        TrajectoryError: A path does not exist or cannot be opened.
        LogFormatError: The format is unknown, or a named log has no reader or several.
        UsageError: `success_at` is not in (0, 1], or a declaration is wrong.
    """
    if not 0.0 < success_at <= 1.0:
        raise UsageError(f"success is at a reward above 0 and up to 1, not at {success_at:g}")
    chosen = reader_named(format) if format else None
    found = list(find_logs(paths, limits))
    known = {index: chosen or reader_of(item.log) for index, item in enumerate(found) if item.named}
    return _read_all(found, known, chosen, success_at)


def read_log(log: Log, reader: Reader, *, success_at: float = 1.0) -> Iterator[Reading]:
    """Read one log with one reader.

    Args:
        log: The log.
        reader: Its reader.
        success_at: The reward from which on an episode is a success.
    """
    anything = False
    try:
        for reading in reader.read(log):
            anything = True
            yield _received(reading, log, reader, success_at)
    except TrajectoryError as error:
        anything = True
        yield _as_record_error(error, log)
    if not anything:
        yield RecordError(f"no episode in it (read as {reader.name})", source=log.name)


def _read_all(
    found: list[FoundLog], known: dict[int, Reader], chosen: Reader | None, success_at: float
) -> Iterator[Reading]:
    for index, item in enumerate(found):
        try:
            reader = known.get(index) or chosen or reader_of(item.log)
        except TrajectoryError as error:
            yield _as_record_error(error, item.log)
        else:
            yield from read_log(item.log, reader, success_at=success_at)


def reader_of(log: Log) -> Reader:
    """The one reader that is surest of a log.

    Raises:
        LogFormatError: There is none, or more than one.
        TrajectoryError: The log cannot be opened.
    """
    if problem := log.problem:
        raise LogFormatError(problem, source=log.name)
    preview = log.preview()
    claims = _claims(preview)
    if not claims and not preview.records and preview.refusal:
        refusal = preview.refusal
        raise LogFormatError(
            refusal.message, source=log.name, position=refusal.position, hint=refusal.hint
        )
    if not claims:
        raise LogFormatError(
            "no reader knows this format",
            source=log.name,
            hint="name the format if you know it, or a TOML file that declares it, with `--format`",
        )
    tied = [claim.reader.name for claim in claims if claims[0].sureness - claim.sureness < _TIE]
    if len(tied) > 1:
        raise LogFormatError(
            f"could be {' or '.join(tied)}", source=log.name, hint="name the format with `--format`"
        )
    return claims[0].reader


def _received(reading: Reading, log: Log, reader: Reader, success_at: float) -> Reading:
    """What a reader yields, checked and with all that the reader did not have to know."""
    if isinstance(reading, RecordError):
        return located(reading, log.name)
    source = reading.source
    if not source.file:
        source = LogSource(log.name, source.position, reader.name)
    try:
        trajectory = admitted(reading, log.limits)
    except RecordError as error:
        return located(error, log.name, reading.source.position)
    return _finished(trajectory, source, success_at)


def _finished(trajectory: Trajectory, source: LogSource, success_at: float) -> Trajectory:
    return replace(trajectory, source=source, outcome=decided(trajectory.outcome, success_at))


def _as_record_error(error: TrajectoryError, log: Log) -> RecordError:
    return RecordError(
        error.message, source=error.source or log.name, position=error.position, hint=error.hint
    )
