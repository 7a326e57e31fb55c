"""Sessions that ended and wait: taken in with their receipts, and the user's word on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from deltamem_tui.agents.session_files import SessionFile, StateFolder
from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import (
    BankError,
    DeltaMemError,
    RecordError,
    StorageError,
    TrajectoryError,
)
from deltamem_tui.memory.episodes.import_report import ImportReport
from deltamem_tui.memory.episodes.importer import ImportOptions
from deltamem_tui.memory.episodes.log_import import LogImport
from deltamem_tui.memory.episodes.outcomes import give_outcome
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.receipt import Receipt, parsed
from deltamem_tui.trajectory.receipt_file import ReceiptFile


@dataclass(frozen=True, slots=True)
class QueuedImport:
    """What became of a session that waited.

    Attributes:
        report: What became of its records; None if there was nothing to be read.
        error: Why it was not taken in.
        waits: Whether it is tried again the next time.
    """

    session: SessionFile
    report: ImportReport | None = None
    error: DeltaMemError | None = None
    waits: bool = False


def take_queued(
    state: StateFolder, open_bank: Callable[[str], Bank], only: Path | None = None
) -> Iterator[QueuedImport]:
    """Import the sessions that wait, each by itself; those of one bank alone if it is given.

    A session whose bank cannot be written now waits on. One whose log is gone does not.
    """
    for path, session in [*state.queued()]:
        before = _bytes(path)
        try:
            bank = open_bank(session.bank)
        except DeltaMemError as error:
            if only is None:
                yield QueuedImport(session, error=error, waits=True)
            continue
        if only is not None and bank.path.resolve() != only.resolve():
            continue
        try:
            yield QueuedImport(session, _imported(bank, session))
        except (BankError, StorageError) as error:
            yield QueuedImport(session, error=error, waits=True)
            continue
        except DeltaMemError as error:
            yield QueuedImport(session, error=error)
        if _bytes(path) == before:  # else it ended once more meanwhile
            path.unlink(missing_ok=True)


def _bytes(path: Path) -> bytes:
    with suppress(OSError):
        return path.read_bytes()
    return b""


def _imported(bank: Bank, session: SessionFile) -> ImportReport:
    with _log_of(session) as log:
        return _imported_from(bank, session, log)


@contextmanager
def _log_of(session: SessionFile) -> Iterator[Path]:
    """Where a session's log lies. OpenHands keeps a folder with a file an event."""
    name = session.session.replace("-", "")
    folder = Path.home() / ".openhands" / "conversations" / name / "events"
    if session.path:
        log = Path(session.path)
        if not log.is_absolute() or (log.exists() and not log.is_file()):
            raise TrajectoryError(
                "not a plain file", source=one_line(session.path, 200), hint="it was left out"
            )
        yield log
    elif session.agent == "openhands" and name.isalnum() and folder.is_dir():
        with TemporaryDirectory(prefix="deltamem-") as room:
            events = b",".join(
                each.read_bytes() for each in sorted(folder.glob("*.json")) if each.is_file()
            )
            log = Path(room) / f"{name}.json"
            log.write_bytes(b'{"id":"%s","events":[%s]}' % (session.session.encode(), events))
            yield log
    else:
        raise TrajectoryError(
            f"{session.agent} does not say where the log of session "
            f"{one_line(session.session, 60)} lies",
            hint="import it by hand, as soon as it is known",
        )


def _imported_from(bank: Bank, session: SessionFile, log: Path) -> ImportReport:
    receipts = [*_receipts(session)]
    options: ImportOptions = {
        "receipts": ReceiptFile(
            by_name={session.session: receipts}, by_task={each.task: [each] for each in receipts}
        )
    }
    job = LogImport(bank, [str(log)], **options)
    job.run()
    if session.outcome:
        _note_outcome(bank, job.report, success=session.outcome == "success")
    return job.report


def _note_outcome(bank: Bank, report: ImportReport, *, success: bool) -> None:
    """Note what the user said of a session, also if it was learnt from by now."""
    for each in report.entries:
        known = episode(bank, each.arrival.id)
        if known and (known.outcome.success, known.outcome.source) != (success, "user"):
            give_outcome(bank, known.id, success=success)


def _receipts(session: SessionFile) -> Iterator[Receipt]:
    for each in session.receipts:
        with suppress(RecordError, msgspec.ValidationError):
            yield parsed(each)
