"""One process at a time: a lock on a file, which the system lets go of when its holder ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

from deltamem_tui.errors import BankBusyError, StorageError


@contextmanager
def held(path: Path, seconds: float, busy: BankBusyError) -> Iterator[None]:
    """Hold the lock for the length of the block.

    Args:
        path: The lock's file, in the bank's folder.
        seconds: How long to wait for another who holds it.
        busy: What to say if it was held for longer.

    Raises:
        BankBusyError: It was.
        StorageError: The folder cannot be written.
    """
    lock = filelock.FileLock(path, timeout=seconds)
    try:
        lock.acquire()
    except filelock.Timeout as error:
        raise busy from error
    except OSError as error:
        raise StorageError(
            "the bank cannot be locked for writing",
            source=str(path.parent),
            hint="check the permissions of the folder",
        ) from error
    try:
        yield
    finally:
        lock.release()
