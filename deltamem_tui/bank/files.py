"""The only place of this room that changes the disk, by four effects that can each be the last.

Everything above is built from `write_at`, `truncate`, `sync` and `replace`, so that a test
can stop a process at each of them in turn, and so that "disk full" and "permission
denied" become one clear error in one place.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from deltamem_tui.errors import BankExistsError, StorageError

_HINTS = {
    errno.ENOSPC: "free some disk space and try again; the bank is as it was",
    errno.EDQUOT: "free some of your disk quota and try again; the bank is as it was",
    errno.EACCES: "check the permissions of the folder; the bank is as it was",
    errno.EPERM: "check the permissions of the folder; the bank is as it was",
    errno.EROFS: "copy the bank to a folder that can be written",
}


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turn any operating-system error about `path` into a `StorageError`."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(
            reason[:1].lower() + reason[1:],
            source=str(path),
            hint=_HINTS.get(error.errno or 0),
        ) from error


def write_at(path: Path, position: int, data: bytes) -> None:
    """Write `data` at byte `position`; what lies before stays. Not yet on the disk: see `sync`."""
    with storage_errors(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            view = memoryview(data)
            while view:
                written = os.pwrite(descriptor, view, position)
                position += written
                view = view[written:]
        finally:
            os.close(descriptor)


def truncate(path: Path, length: int) -> None:
    """Cut the file to `length` bytes; a file that is not longer stays untouched."""
    with storage_errors(path):
        if path.stat().st_size > length:
            os.truncate(path, length)


def sync(path: Path) -> None:
    """Wait until the file, or the entries of a folder, are on the disk."""
    with storage_errors(path):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def replace(path: Path, data: bytes) -> None:
    """Write a whole file so that a reader sees the old content or the new, never a part."""
    with replacing(path, data):
        pass


@contextmanager
def replacing(path: Path, data: bytes) -> Iterator[None]:
    """Write a whole file beside `path`, and put it in its place if the block succeeds.

    All that may fail for want of space is done before the block.
    """
    draft = path.with_name(f".{path.name}.draft")
    try:
        truncate_or_create(draft)
        write_at(draft, 0, data)
        sync(draft)
        yield
        with storage_errors(path):
            os.replace(draft, path)  # noqa: PTH105 - every effect goes through `os`, by name
    except Exception:
        with suppress(OSError):
            draft.unlink()
        raise
    sync(path.parent)


def truncate_or_create(path: Path) -> None:
    """Make `path` an empty file."""
    with storage_errors(path):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644))


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which appears at `path` when the block ends, or not at all.

    Raises:
        BankExistsError: Something is at `path` already.
        StorageError: The folder cannot be made.
    """
    if path.is_symlink() or (path.exists() and not (path.is_dir() and not any(path.iterdir()))):
        raise BankExistsError("something is here already", source=str(path))
    with storage_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        yield draft
        with storage_errors(path):
            draft.chmod(0o755)
            draft.rename(path)
        sync(path.parent)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def read(path: Path, limit: int) -> bytes:
    """Read a whole small file.

    Raises:
        StorageError: It cannot be read, or is larger than `limit` bytes.
    """
    with storage_errors(path):
        if path.stat().st_size > limit:
            raise StorageError(f"larger than the {limit:,} bytes it may have", source=str(path))
        return path.read_bytes()


def size(path: Path) -> int:
    """The file's length in bytes; 0 if there is none."""
    try:
        with storage_errors(path):
            return path.stat().st_size
    except StorageError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return 0
        raise
