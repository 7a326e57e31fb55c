"""The ledger: what a run has paid for and the journal does not tell yet.

A model's answer is paid for when it comes, and the journal tells of it when its episode is
committed. Between the two the process may be killed. So each run keeps a ledger in the bank's
folder and writes every payment into it at once. When the journal has told all, the ledger goes.
One that was left behind tells whoever works with the bank next what is still to be told, and
that is written into the journal then, as `paid`.

A ledger is claimed by a lock on itself, which the system lets go of when its process ends,
however it ends: so a dead run's ledger is told from a living one's.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import orjson

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.journal import Commit
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.views.history import told_by, usage_in

EVENT = "paid"
# By this ending, a file is known to be no part of the bank.
_NAME = re.compile(r"\.paid-([0-9a-f]{16})\.draft")
_LARGEST = 64 * 1024 * 1024
_NEW = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Payer(Protocol):
    """Who pays, and says so: a client, or what asks through one."""

    def on_payment(self, told: Callable[[Usage], object]) -> Callable[[], None]:
        """Have every answer that is paid for told when it comes; see `Client.on_payment`."""
        ...


class Ledger:
    """One run's ledger. There is no file before the first payment.

    A disk that takes no ledger does not stop a run: its calls are told all the same, unless it
    is killed.
    """

    def __init__(self, bank: Bank, payer: Payer) -> None:
        """Listen to the payer from now on.

        Args:
            bank: The bank that the answers are for.
            payer: Who pays for them.
        """
        self._bank = bank
        self._path = bank.path / f".paid-{secrets.token_hex(8)}.draft"
        self._file: int | None = None
        self._given_up = False
        self._telling: dict[str, Any] | None = None
        self._left = Usage()
        self._lock = threading.Lock()
        self._deaf = payer.on_payment(self._paid)

    def telling(self, about: str) -> None:
        """Note what the next commits are about.

        Args:
            about: An episode, the last node of a chain, or an event.
        """
        with self._lock:
            self._telling = {"telling": about, "after": self._bank.commit.sequence}
            self._write(self._telling)

    def told(self, usage: Usage) -> None:
        """Note that the journal tells of something that was paid."""
        if not usage.calls:
            return
        with self._lock:
            self._left -= usage
            self._write({"told": asdict(usage)})

    def close(self) -> None:
        """Listen no more. The ledger goes, unless something was never told."""
        self._deaf()
        with self._lock:
            if self._file is None:
                return
            if self._left.calls <= 0:
                self._path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = None
            self._given_up = True

    def _paid(self, usage: Usage) -> None:
        with self._lock:
            self._left += usage
            if self._file is None and not self._given_up:
                self._open()
            self._write({"paid": asdict(usage)})

    def _open(self) -> None:
        """Make the file. It is claimed before it has the name by which others know it."""
        draft = self._path.with_suffix(".new.draft")
        try:
            file = os.open(draft, _NEW, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                draft.rename(self._path)
            except OSError:
                os.close(file)
                draft.unlink(missing_ok=True)
                raise
        except OSError:
            self._given_up = True
            return
        self._file = file
        if self._telling:
            self._write(self._telling)

    def _write(self, record: Mapping[str, Any]) -> None:
        if self._file is None:
            return
        try:
            os.write(self._file, orjson.dumps(record) + b"\n")
        except OSError:
            os.close(self._file)
            self._file, self._given_up = None, True
            self._path.unlink(missing_ok=True)


def tell_debts(bank: Bank) -> Usage:
    """Tell the journal what runs have paid that ended before they could tell it.

    Args:
        bank: The bank; its handle shows the new state afterwards.

    Returns:
        What was told now.

    Raises:
        BankFrozenError: Something is to be told, and the bank is frozen.
        StorageError: The disk refused; the ledgers stay.
    """
    return sum((_tell(bank, path) for path in _ledgers(bank.path)), Usage())


def debts(bank: Bank) -> Usage:
    """What runs have paid that ended before they could tell it. Nothing is written.

    Args:
        bank: The bank.
    """
    return sum((_debt(bank, path) for path in _ledgers(bank.path)), Usage())


def _ledgers(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name))
    except OSError:  # an archive, or gone
        return []


def _tell(bank: Bank, path: Path) -> Usage:
    """Tell what one ledger has left, and remove it. One whose run is alive is left alone."""
    try:
        with _claimed(path, fcntl.LOCK_EX) as book:
            with bank.writing() as batch:
                owed = _owed(book, bank, path.name)
                if owed.calls > 0:
                    call = {"purpose": EVENT, **asdict(owed)}
                    batch.log(EVENT, {"ledger": path.name, "calls": [call]})
            path.unlink(missing_ok=True)
    except OSError:
        return Usage()
    return owed


def _debt(bank: Bank, path: Path) -> Usage:
    try:
        with _claimed(path, fcntl.LOCK_SH) as book:
            return _owed(book, bank, path.name)
    except OSError:
        return Usage()


@contextmanager
def _claimed(path: Path, lock: int) -> Iterator[_Book]:
    """What a dead run's ledger says. Those who only look may look together.

    Raises:
        OSError: Its run is alive, somebody tells it already, or it is gone.
    """
    file = os.open(path, _LOOK)
    try:
        fcntl.flock(file, lock | fcntl.LOCK_NB)
        with open(file, "rb", closefd=False) as stream:
            yield _read(stream.read(_LARGEST))
    finally:
        os.close(file)


@dataclass(frozen=True, slots=True)
class _Book:
    """What a ledger says.

    Attributes:
        left: What was paid and not told, as far as the run came to note it.
        about: What it was telling when it ended; empty if nothing.
        after: The bank's commit before that.
    """

    left: Usage
    about: str = ""
    after: int = -1


def _read(data: bytes) -> _Book:
    left, about, after = Usage(), "", -1
    for line in data.split(b"\n"):
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue  # the last line may have been cut off
        if not isinstance(record, dict):
            continue
        left = left + usage_in(record.get("paid")) - usage_in(record.get("told"))
        if "told" in record:
            about = ""
        if isinstance(record.get("after"), int):
            about, after = str(record.get("telling")), record["after"]
    return _Book(left, about, after)


def _owed(book: _Book, bank: Bank, name: str) -> Usage:
    """What was paid and the journal tells nowhere."""
    owed = replace(book.left, cached=0)
    for number, commit in enumerate(bank.journal.commits() if bank.journal.exists else ()):
        if commit.event == EVENT and commit.detail.get("ledger") == name:
            return Usage()  # whoever told it was killed before the ledger was gone
        if not book.about:
            continue
        if not number and commit.sequence > book.after + 1:
            return Usage()  # the journal was folded: what it told cannot be found out any more
        # Killed while it told: the commit may be there although the ledger does not know it.
        if commit.sequence > book.after and book.about in _subjects(commit):
            owed = replace(owed - told_by(commit), cached=0)
    return owed


def _subjects(commit: Commit) -> Iterator[str]:
    """What a commit may be said to be about."""
    yield commit.event
    yield str(commit.detail.get("trajectory"))
    nodes = commit.detail.get("nodes")
    if isinstance(nodes, list) and nodes:
        yield str(nodes[-1])
