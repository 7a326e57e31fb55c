"""Sessions that ended and wait: taken in with their receipts, and the user's word on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

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
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.trajectory.receipt import Receipt, parsed
from deltamem_tui.trajectory.receipt_file import ReceiptFile
from deltamem_tui.trajectory.user_outcomes import UserOutcomes


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
            if only is not None and bank.path.resolve() != only.resolve():
                continue
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
    if not session.path:
        raise TrajectoryError(
            f"{session.agent} does not say where the log of session "
            f"{one_line(session.session, 60)} lies",
            hint="import it by hand, as soon as it is known",
        )
    receipts = [*_receipts(session)]
    options: ImportOptions = {
        "receipts": ReceiptFile(
            by_name={session.session: receipts}, by_task={each.task: [each] for each in receipts}
        )
    }
    if session.outcome:
        said = Outcome(session.outcome == "success", None, "user")
        options["outcomes"] = UserOutcomes({session.session: said}, only_identified=True)
    job = LogImport(bank, [session.path], **options)
    job.run()
    return job.report


def _receipts(session: SessionFile) -> Iterator[Receipt]:
    for each in session.receipts:
        with suppress(RecordError, msgspec.ValidationError):
            yield parsed(each)
