"""From what a person names to episodes: find the logs, read them in order.

Nothing is skipped silently: what is not an episode comes out as a `RecordError` in its place, with
file, position and reason, or as a `Notice` if it is left out by design, and the rest goes on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from deltamem_tui.errors import (
    LogFormatError,
    RecordError,
    Remedy,
    TrajectoryError,
    UsageError,
    wrong_argument,
)
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import (
    DEFAULT_LIMITS,
    LogLimits,
    Notice,
    ReadProgress,
    located,
)
from deltamem_tui.trajectory.logs.sources import FoundLog, find_logs
from deltamem_tui.trajectory.model import LogSource, Trajectory
from deltamem_tui.trajectory.outcomes import decided
from deltamem_tui.trajectory.readers.reader import Reader, Reading, without_copied
from deltamem_tui.trajectory.readers.registry import (
    Claim,
    detect,
    is_no_log,
    reader_named,
    reader_of,
)
from deltamem_tui.trajectory.readers.shapes import without_pictures
from deltamem_tui.trajectory.secrets.redaction import without_secrets
from deltamem_tui.trajectory.validation import admitted, redact

_FORKED = re.compile(rb'"(?:forked_from_id|forkedFrom"\s*:\s*{"sessionId)"\s*:\s*"([^"]{1,100})"')


def read_logs(
    paths: Iterable[str | Path | FoundLog] | str | Path,
    *,
    format: str | None = None,  # noqa: A002 — the word that people know it by
    success_at: float = 1.0,
    limits: LogLimits = DEFAULT_LIMITS,
    progress: ReadProgress | None = None,
) -> Iterator[Reading]:
    """Read the episodes of logs, one at a time.

    What is wrong with a call is reported before the first episode; files found in a folder or by a
    pattern are reported one by one instead.

    Args:
        paths: Files, folders, patterns, or `-` for standard input, one or several; read in
            this order; of a folder the files written first, by the minute, then by name. Also
            what `find_logs` found.
        format: The format of all of them, or a TOML file that declares it; by content if None.
        success_at: The reward from which on an episode is a success, where the log states
            a reward and no verdict.
        limits: How much of each log is taken.
        progress: Notes what there is to read, and then how far that has come.

    Raises:
        TrajectoryError: A path does not exist or cannot be opened, or no file is there.
        LogFormatError: A named log has no reader or several.
        UsageError: The format is unknown, `success_at` is not in (0, 1], a declaration is
            wrong, or `paths` are none.
    """
    if not 0.0 < success_at <= 1.0:
        raise UsageError(f"success is at a reward above 0 and up to 1, not at {success_at:g}")
    chosen = reader_named(format) if format else None
    found = list(find_logs(_several(paths), limits))
    # Of what was named by itself, the reader is known before the first episode.
    logs = [(each.log, chosen or (reader_of(each.log) if each.named else None)) for each in found]
    if progress:
        progress.expect(sum(_size(log) for log, _ in logs))
    return without_copied(_read_all(logs, success_at, progress), _copied_sessions(logs))


def read_log(log: Log, reader: Reader, *, success_at: float = 1.0) -> Iterator[Reading]:
    """Read one log with one reader; from a reward of `success_at` on, an episode is a success."""
    anything = False
    strays = 0
    try:
        for item in reader.read(log):
            anything = True
            found = (
                _received(item, log, reader, success_at) if isinstance(item, Trajectory) else item
            )
            strays += isinstance(found, RecordError) and found.hint == Remedy.SPLIT_LOG
            yield _told(found, log, reader)
        if strays > 2:
            yield from (_told(each, log, reader) for each in _other_format(log, reader, strays))
    except TrajectoryError as error:
        anything = True
        yield _told(error, log, reader)
    except RecursionError:  # JSON inside a text inside JSON has a depth of its own
        anything = True
        yield _told(RecordError("JSON nested too deep to be read"), log, reader)
    if not anything:
        yield _told(RecordError(f"no episode in it (read as {reader.name})"), log, reader)


def _other_format(log: Log, reader: Reader, strays: int) -> Iterator[RecordError]:
    """Yield which format a log probably has, if a third of its records do not fit."""
    if sum(1 for _ in islice(log.noting(None).values(), 3 * strays + 1)) > 3 * strays:
        return
    others = (claim.reader for claim in detect(log) if claim.reader.name != reader.name)
    for other in islice(others, 1):
        looks = f"because it looks like {other.description}"
        yield RecordError(
            f"probably another format: {other.name}, {looks}", hint=Remedy.NAME_FORMAT
        )


def _told(reading: Reading | TrajectoryError, log: Log, reader: Reader) -> Reading:
    """Return a reading as it is reported: a refusal and a notice may quote the log."""
    if isinstance(reading, Trajectory):
        return reading
    if isinstance(reading, Notice):
        found = located(reading, log.name)
        return replace(found, message=without_secrets(found.message))
    refusal = _as_record_error(reading, log)
    refusal.message = without_secrets(refusal.message)
    refusal.format = reader.name
    return refusal


def _several(paths: object) -> list[str | Path | FoundLog]:
    single = isinstance(paths, str | Path) or not isinstance(paths, Iterable)
    several: list[str | Path | FoundLog] = []
    for path in [paths] if single else paths:  # type: ignore[attr-defined]
        if not isinstance(path, str | Path | FoundLog):
            raise wrong_argument("paths", "a path or several", path)
        several.append(path)
    return several


def _size(log: Log) -> int:
    try:
        return log.path.stat().st_size
    except OSError:  # gone meanwhile, which is reported when it is read
        return 0


def _read_all(
    logs: list[tuple[Log, Reader | None]], success_at: float, progress: ReadProgress | None
) -> Iterator[Reading]:
    skipped: list[RecordError] = []
    is_any_read = False
    for log, known in logs:
        if progress:
            progress.begin(_size(log))
        try:
            reader = known or reader_of(log)
        except TrajectoryError as error:
            refusal = _as_record_error(error, log)
            if isinstance(error, LogFormatError) and is_no_log(log):
                skipped.append(refusal)
            else:
                yield refusal
        else:
            is_any_read = True
            yield from read_log(log.noting(progress), reader, success_at=success_at)
        if progress:
            progress.finish()
    for each in skipped:  # unless there is no log at all, they only lay beside those
        note = Notice(f"skipped, not a log: {each.message}", each.source, each.position)
        yield note if is_any_read else each


def _copied_sessions(logs: list[tuple[Log, Reader | None]]) -> set[str]:
    """Return the sessions that a log says, where it begins, to have been forked from."""
    found: set[str] = set()
    for log, _ in logs if len(logs) > 1 else ():
        with suppress(TrajectoryError):  # is told when it is read
            found |= {name.decode("utf-8", "replace") for name in _FORKED.findall(log.head())}
    return found


def _received(reading: Trajectory, log: Log, reader: Reader, success_at: float) -> Reading:
    """Return an episode that a reader yields, with all that the reader did not have to know."""
    try:
        trajectory = admitted(without_pictures(reading), log.limits)
    except RecordError as error:
        return located(error, log.name, reading.source.position)
    source, outcome = trajectory.source, decided(trajectory.outcome, success_at)
    if source.file and outcome is trajectory.outcome:
        return trajectory
    if not source.file:
        source = LogSource(log.name, source.position, reader.name)
    return trajectory.with_facts(source=source, outcome=outcome)


def _as_record_error(error: TrajectoryError, log: Log) -> RecordError:
    return RecordError(
        error.message, source=error.source or log.name, position=error.position, hint=error.hint
    )


@dataclass(slots=True)
class Trial:
    """One reader's reading of a log."""

    format: str
    sureness: float
    episodes: int = 0
    steps: int = 0
    successes: int = 0
    failures: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    rejected: int = 0
    first_task: str = ""
    first_rejection: RecordError | None = None

    @property
    def unknown(self) -> int:
        """How many episodes have no outcome."""
        return self.episodes - self.successes - self.failures

    def add(self, episode: Trajectory) -> None:
        """Count one more episode that it finds."""
        outcome = episode.outcome
        self.episodes += 1
        self.steps += len(episode.steps)
        self.successes += outcome.success is True
        self.failures += outcome.success is False
        if not self.first_task:  # people show it around, so it goes the way of an import
            self.first_task = redact(episode)[0].task
        if outcome.success is None and outcome.reason:
            self.reasons[without_secrets(outcome.reason)] += 1


def try_readers(log: Log, named: Reader | None = None) -> Iterator[Trial]:
    """Let every reader that claims a log read it: the one `named`, then the surest first."""
    claims = [claim for claim in detect(log) if named is None or claim.reader.name != named.name]
    if named is not None:
        claims.insert(0, Claim(named, named.claims(log.preview())))
    for claim in claims:
        trial = Trial(claim.reader.name, claim.sureness)
        for reading in read_log(log, claim.reader):
            if isinstance(reading, RecordError):
                trial.rejected += 1
                trial.first_rejection = trial.first_rejection or reading
            elif isinstance(reading, Trajectory):
                trial.add(reading)
        yield trial
