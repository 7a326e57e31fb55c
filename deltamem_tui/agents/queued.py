"""Sessions that ended and wait, taken into their banks with their receipts and outcomes."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import ValidationError

from deltamem_tui.agents.sessions import SessionFile, StateFolder
from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import BankError, DeltaMemError, RecordError, StorageError, TrajectoryError
from deltamem_tui.memory.episodes.import_report import ImportReport
from deltamem_tui.memory.episodes.importer import import_of
from deltamem_tui.memory.episodes.outcomes import give_outcome
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.memory.runs.judging import note_signs
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.receipt import Receipt, parsed
from deltamem_tui.trajectory.receipt_file import ReceiptFile


@dataclass(frozen=True, slots=True)
class QueuedImport:
    """The result of importing a session that waited.

    Attributes:
        report: What became of its records; None if there was nothing to be read.
        signs: What weak signs say of the ends that neither the log nor the user states.
        error: Why it was not taken in.
        waits: Whether it is tried again the next time.
    """

    session: SessionFile
    report: ImportReport | None = None
    signs: tuple[str, ...] = ()
    error: DeltaMemError | None = None
    waits: bool = False


def take_queued(
    state: StateFolder, open_bank: Callable[[str], Bank], only: Path | None = None
) -> Iterator[QueuedImport]:
    """Import the sessions that wait, each by itself; those of one bank alone if it is given.

    A session whose bank cannot be written now waits on. One whose log is gone does not.
    """
    for path, session in [*state.queued()]:
        before = path.read_bytes() if path.exists() else b""
        try:
            bank = open_bank(session.bank)
        except DeltaMemError as error:
            if only is None:
                yield QueuedImport(session, error=error, waits=True)
            continue
        if only is not None and bank.path.resolve() != only.resolve():
            continue
        try:
            yield QueuedImport(session, *_imported(bank, session))
        except (BankError, StorageError) as error:
            yield QueuedImport(session, error=error, waits=True)
            continue
        except DeltaMemError as error:
            yield QueuedImport(session, error=error)
        with suppress(FileNotFoundError):
            if path.read_bytes() == before:  # else it ended once more meanwhile
                path.unlink()


@contextmanager
def _log_of(session: SessionFile) -> Iterator[Path]:
    """Find a session's log. OpenHands keeps a folder with a file an event, opencode a database."""
    name = session.session.replace("-", "")
    plain = re.fullmatch(r"[\w-]+", session.session) is not None
    of_copilot = Path.home() / ".copilot" / "session-state" / session.session / "events.jsonl"
    folder = Path.home() / ".openhands" / "conversations" / name / "events"
    if session.path:
        log = Path(session.path)
        if not log.is_absolute() or (log.exists() and not log.is_file()):
            source = one_line(session.path, 200)
            raise TrajectoryError("not a plain file", source=source, hint="it was left out")
        yield log
    elif session.agent == "openhands" and name.isalnum() and folder.is_dir():
        with TemporaryDirectory(prefix="deltamem-") as room:
            found = filter(Path.is_file, sorted(folder.glob("*.json")))
            events = b",".join(map(Path.read_bytes, found))
            log = Path(room) / f"{name}.json"
            log.write_bytes(b'{"id":"%s","events":[%s]}' % (session.session.encode(), events))
            yield log
    elif session.agent == "copilot" and plain and of_copilot.is_file():
        yield of_copilot
    elif session.agent == "opencode" and plain and (program := shutil.which("opencode")):
        with TemporaryDirectory(prefix="deltamem-") as room:
            log = Path(room) / f"{name}.json"
            with log.open("wb") as stream, suppress(subprocess.TimeoutExpired):
                command = [program, "export", session.session]
                subprocess.run(
                    command, stdin=subprocess.DEVNULL, stdout=stream, timeout=60, check=False
                )
            yield log
    else:
        raise TrajectoryError(
            f"{session.agent} does not say where the log of session "
            f"{one_line(session.session, 60)} lies",
            hint="import it by hand, as soon as it is known",
        )


def _imported(bank: Bank, session: SessionFile) -> tuple[ImportReport, tuple[str, ...]]:
    receipts = list[Receipt]()
    for each in session.receipts:
        with suppress(RecordError, ValidationError):
            receipts.append(parsed(each))
    by_task = {each.task: [each] for each in receipts}
    known = ReceiptFile(by_name={session.session: receipts}, by_task=by_task)
    with _log_of(session) as log:
        job = import_of(bank, [str(log)], receipts=known)
        job.run()
    found = [each["id"] for each in job.report.entries]
    said = session.outcome == "success"
    for each in found if session.outcome else ():  # also if it was learnt from by now
        kept = episode(bank, each)
        if kept and (kept.outcome.success, kept.outcome.source) != (said, "user"):
            give_outcome(bank, kept.id, success=said)
    present = [each for each in found if bank.episodes.state(each) is not None]
    return job.report, tuple(each.outcome.reason for each in note_signs(bank, present))
