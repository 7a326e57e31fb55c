"""Sessions of agents: what hooks remember of them.

It is plain files in the user's state folder, replaced whole. `sessions/` has one for each session
and bank: what the agent was given, and the receipts; it goes after a month. `queue/` has one for
each that ended, until it is imported. `hook.log` has what failed, and what learning came to.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

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
        kept = (self.folder / "sessions").glob(f"{agent}-*.json")
        return max((each.stat().st_mtime for each in kept), default=None)

    def log(self, message: str) -> None:
        """Add a line to our own log, which is begun anew when it is long."""
        path = self.folder / "hook.log"
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            if path.exists() and path.stat().st_size > _LONGEST_LOG:
                path.replace(path.with_suffix(".log.old"))
            with path.open("a", encoding="utf-8", errors="replace") as stream:
                said = " ".join(message.split())[:500]
                stream.write(f"{time.strftime('%Y-%m-%d %H:%M')} {said}\n")

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
