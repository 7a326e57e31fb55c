"""Sessions of agents: what hooks remember of them, and how those that ended are taken in.

What is remembered is plain files in the user's state folder, replaced whole. `sessions/` has one
for each session and bank: what the agent was given, and the receipts; it goes after a month.
`queue/` has one for each that ended, until it is imported. `hook.log` has a line for each failure
of ours. What an import needs is loaded only there: hooks wait for nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltamem_tui.errors import BankError, DeltaMemError, RecordError, StorageError, TrajectoryError
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.episodes.import_report import ImportReport
    from deltamem_tui.trajectory.receipt import Receipt

_DAYS = 30
_LOCK_SECONDS = 5.0
_LONGEST_LOG = 256 * 1024
_MOST_BYTES = 4 * 1024 * 1024
_PLAIN = re.compile(r"[\w-]{1,40}")


@dataclass(frozen=True, slots=True)
class SessionFile:
    """One session, and what it was given out of one bank.

    Attributes:
        bank: The path of the bank that was asked; its name if it was not found.
        path: Where its log lies; empty if it is not known.
        task: The last prompt.
        given: The nodes that it was shown, as `collection/id`.
        texts: What it was given, in order.
        receipts: The receipts, as JSON has them.
        outcome: `success` or `failure`, if the user said how it ended.
    """

    agent: str
    session: str
    bank: str
    path: str = ""
    task: str = ""
    given: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    receipts: tuple[dict[str, Any], ...] = field(default_factory=tuple)
    outcome: str = ""


class StateFolder:
    """The folder; it is made when something is first kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def turn(self, agent: str, session: str, seconds: float = _LOCK_SECONDS) -> Iterator[None]:
        """Let one hook at a time work on a session: agents call several tools at once.

        Raises:
            TimeoutError: Another one holds it for too long.
        """
        import filelock

        path = self._place("sessions", SessionFile(agent, session, "")).with_suffix(".lock")
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with filelock.FileLock(path, timeout=seconds):
            yield

    def session(self, agent: str, session: str, bank: str) -> SessionFile:
        """Return a session as it was kept; a new one if it was not, or cannot be read."""
        new = SessionFile(agent, session, bank)
        found = _read(self._place("sessions", new))
        return replace(found, bank=bank) if found else new

    def keep(self, session: SessionFile) -> None:
        """Keep a session; one that its agent does not name is every other, too, and is not kept."""
        if session.session:
            _replace(self._place("sessions", session), session)

    def enqueue(self, session: SessionFile) -> None:
        """Let a session wait to be imported; one that waits already is replaced."""
        if session.session:
            _replace(self._place("queue", session), replace(session, texts=(), given=()))
        self._clean()

    def queued(self) -> Iterator[tuple[Path, SessionFile]]:
        """Yield the sessions that wait, in order of their files' names."""
        for path in sorted((self.folder / "queue").glob("*.json")):
            if found := _read(path):
                yield path, found

    def waiting(self) -> int:
        """Count the sessions that wait."""
        return len([*(self.folder / "queue").glob("*.json")])

    def last_run(self, agent: str) -> float | None:
        """Return when a hook of an agent last remembered something, in seconds of the clock."""
        times = [
            each.stat().st_mtime for each in (self.folder / "sessions").glob(f"{agent}-*.json")
        ]
        return max(times, default=None)

    def log(self, message: str) -> None:
        """Add a line to our own log, which is begun anew when it is long."""
        path = self.folder / "hook.log"
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            if path.exists() and path.stat().st_size > _LONGEST_LOG:
                path.replace(path.with_suffix(".log.old"))
            with path.open("a", encoding="utf-8", errors="replace") as stream:
                stream.write(" ".join(message.split())[:500] + "\n")

    def _place(self, kind: str, session: SessionFile) -> Path:
        # Settings of a user and of a project may name different banks: each hears of the session.
        names = f"{session.session}\n{session.bank}".encode(errors="replace")
        digest = hashlib.sha256(names).hexdigest()[:16]
        agent = session.agent if _PLAIN.fullmatch(session.agent) else "agent"
        return self.folder / kind / f"{agent}-{digest}.json"

    def _clean(self) -> None:
        oldest = time.time() - _DAYS * 24 * 3600
        with suppress(OSError), os.scandir(self.folder / "sessions") as entries:
            for entry in entries:
                if entry.stat().st_mtime < oldest:
                    Path(entry.path).unlink(missing_ok=True)


def _read(path: Path) -> SessionFile | None:
    try:
        with path.open("rb") as stream:
            record = json.loads(stream.read(_MOST_BYTES))
        lists = {name: tuple(record[name]) for name in ("given", "texts", "receipts")}
        return SessionFile(**(record | lists))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _replace(path: Path, session: SessionFile) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    # A prompt may be private.
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
        json.dump(asdict(session), stream)
    draft.replace(path)


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
    import subprocess
    from tempfile import TemporaryDirectory

    name = session.session.replace("-", "")
    plain = re.fullmatch(r"[\w-]+", session.session) is not None
    of_copilot = Path.home() / ".copilot" / "session-state" / session.session / "events.jsonl"
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
    from deltamem_tui.memory.episodes.importer import import_of
    from deltamem_tui.memory.runs.judging import note_signs
    from deltamem_tui.trajectory.receipt_file import ReceiptFile

    receipts = [*_receipts(session)]
    by_task = {each.task: [each] for each in receipts}
    known = ReceiptFile(by_name={session.session: receipts}, by_task=by_task)
    with _log_of(session) as log:
        job = import_of(bank, [str(log)], receipts=known)
        job.run()
    if session.outcome:
        _note_outcome(bank, job.report, success=session.outcome == "success")
    found = (each.id for each in job.report.entries)
    present = [each for each in found if bank.episodes.state(each) is not None]
    return job.report, tuple(each.outcome.reason for each in note_signs(bank, present))


def _note_outcome(bank: Bank, report: ImportReport, *, success: bool) -> None:
    """Note what the user said of a session, also if it was learnt from by now."""
    from deltamem_tui.memory.episodes.outcomes import give_outcome
    from deltamem_tui.memory.episodes.stored_episodes import episode

    for each in report.entries:
        known = episode(bank, each.id)
        if known and (known.outcome.success, known.outcome.source) != (success, "user"):
            give_outcome(bank, known.id, success=success)


def _receipts(session: SessionFile) -> Iterator[Receipt]:
    from msgspec import ValidationError

    from deltamem_tui.trajectory.receipt import parsed

    for each in session.receipts:
        with suppress(RecordError, ValidationError):
            yield parsed(each)
