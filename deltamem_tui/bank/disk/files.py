"""A bank's files: read where they are, and changed by effects that can each be the last.

The path of a file in an archive is the archive's path with the file's name behind it, as if the
archive were a folder (`kitchen.deltamem/bank.json`), and only this module looks which it is. A
writer meets a file instead of a folder, and fails.

No other module of this room changes the disk: everything above is built from `write_at`,
`truncate`, `sync`, `replace`, `move` and `remove`, so that a test can stop a process at each, and
so that "disk full" and "permission denied" become one clear error in one place.
"""

from __future__ import annotations

import errno
import mmap
import os
import re
import secrets
import shutil
import stat
import sys
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO

import filelock

from deltamem_tui.bank.disk import archive
from deltamem_tui.errors import (
    BankBusyError,
    BankCorruptError,
    BankExistsError,
    Remedy,
    StorageError,
)

_HINTS = {
    errno.ENOSPC: "free some disk space and try again",
    errno.EDQUOT: "free some of your disk quota and try again",
    errno.EACCES: "check the permissions of the folder",
    errno.EPERM: "check the permissions of the folder",
    errno.EROFS: "choose a folder that can be written, or copy the bank to one",
    errno.ELOOP: "put the file itself in the link's place",
}
_AS_IT_WAS = "the bank is as it was"
_NOTHING_MADE = "nothing was made"
_REASONS = {errno.ELOOP: "a symbolic link stands in the file's place"}
_HERE = -100 if sys.platform == "linux" else -2  # paths are meant from the working folder
_EXCHANGE = 2
# A bank may come from a stranger: a link in it must not choose what is written.
_WRITE = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
_BLOCK = 64 * 1024
_DRAFT = re.compile(r"\..+\.[0-9a-f]{8}\.draft", re.DOTALL)
_DAY = 24 * 60 * 60  # seconds: no draft is written for so long


@contextmanager
def storage_errors(path: Path, consequence: str = _AS_IT_WAS) -> Iterator[None]:
    """Turn any operating-system error about `path` into a `StorageError`.

    Its hint ends with the consequence, if there is anything to be done.
    """
    try:
        yield
    except OSError as error:
        hint = _HINTS.get(error.errno or 0)
        reason = _REASONS.get(error.errno or 0) or error.strerror or str(error)
        raise StorageError(
            reason[:1].lower() + reason[1:],
            source=str(path),
            hint=f"{hint}; {consequence}" if hint else None,
        ) from error
    except zipfile.BadZipFile as error:
        hint = "get the archive again from where it came from"
        raise StorageError("was damaged", source=str(path), hint=hint) from error


def corrupt(path: Path, message: str, position: str | None = None) -> BankCorruptError:
    """Return the error for a file of a bank that breaks the format."""
    hint = "restore the file from a copy of the bank"
    return BankCorruptError(message, source=str(path), position=position, hint=hint)


@contextmanager
def _descriptor(path: Path, flags: int) -> Iterator[int]:
    descriptor = os.open(path, flags, 0o644)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class Region:
    """The location of a bank file's bytes: in the file itself, or somewhere in an archive."""

    path: Path
    start: int
    length: int


def is_archive(path: Path) -> bool:
    """Return whether a bank is a file, so an archive, and no folder."""
    with storage_errors(path):
        return path.is_file()


def find(path: Path) -> Region | None:
    """Return where a file's bytes are; None if there is no such file."""
    with storage_errors(path):
        try:
            found = path.stat()
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            with storage_errors(path.parent):
                place = archive.members(path.parent).get(path.name)
            return None if place is None else Region(path.parent, *place)
    if not stat.S_ISREG(found.st_mode):  # a pipe would wait for a writer
        raise StorageError("is not a plain file", source=str(path))
    return Region(path, 0, found.st_size)


def _found(path: Path) -> Region:
    region = find(path)
    if region is None:
        raise StorageError("no such file", source=str(path))
    return region


def exists(path: Path) -> bool:
    """Return whether there is such a file."""
    return find(path) is not None


def size(path: Path) -> int:
    """Return the file's length in bytes; 0 if there is none."""
    region = find(path)
    return region.length if region else 0


def names(folder: Path) -> list[str]:
    """Return the names of everything in a bank's folder or archive, sorted."""
    with storage_errors(folder):
        if folder.is_file():
            return sorted(archive.members(folder))
        return sorted(path.name for path in folder.iterdir())


def is_plain(path: Path) -> bool:
    """Return whether a file is one, and no link, folder or device."""
    try:
        return exists(path) and not path.is_symlink()
    except StorageError:
        return False


def opened(path: Path) -> IO[bytes]:
    """Return the file, to be read from its beginning."""
    region = _found(path)
    with storage_errors(path):
        if region.path == path:
            return path.open("rb")
        return archive.opened(region.path, path.name)


def read(path: Path, limit: int) -> bytes:
    """Read a whole small file."""
    if _found(path).length > limit:
        raise StorageError(f"larger than the {limit:,} bytes it may have", source=str(path))
    with storage_errors(path), opened(path) as stream:
        return stream.read(limit)


def mapped(path: Path, length: int) -> memoryview:
    """Return the first `length` bytes of a file, mapped and not read."""
    if not length:
        return memoryview(b"")
    region = _found(path)
    behind = region.start % mmap.ALLOCATIONGRANULARITY
    at = region.start - behind
    with storage_errors(path), region.path.open("rb") as stream:
        try:
            if region.length < length:
                raise ValueError
            access = mmap.ACCESS_READ
            mapping = mmap.mmap(stream.fileno(), behind + length, access=access, offset=at)
        except ValueError as error:
            raise StorageError("was cut short", source=str(path)) from error
    return memoryview(mapping)[behind:]


def forwards(path: Path, limit: int) -> Iterator[bytes]:
    """Yield the lines of a file, first first, each with its newline."""
    with storage_errors(path), opened(path) as stream:
        for number in count(1):
            line = stream.readline(limit)
            if not line.endswith(b"\n"):
                if len(line) == limit:
                    raise _too_long(path, limit, f"line {number}")
                return
            yield line


def backwards(path: Path, limit: int) -> Iterator[tuple[bytes, int]]:
    """Yield the lines of a file, last first, each with its newline and the byte behind that.

    Who stops early has read only the end of the file.
    """
    with storage_errors(path), opened(path) as stream:
        start = stream.seek(0, os.SEEK_END)
        text = b""  # from `start` to the end of what was not given yet
        while start:
            step = min(max(_BLOCK, len(text)), start)
            start -= step
            stream.seek(start)
            text = stream.read(step) + text
            end = text.rfind(b"\n") + 1
            while end:
                begin = text.rfind(b"\n", 0, end - 1) + 1
                if end - begin > limit:
                    raise _too_long(path, limit, f"before byte {start + end}")
                if start and not begin:
                    break  # the line may begin further ahead
                yield text[begin:end], start + end
                text, end = text[:begin], begin
            if not end and len(text) > limit:
                raise _too_long(path, limit, f"before byte {start + len(text)}")


def _too_long(path: Path, limit: int, position: str) -> BankCorruptError:
    return corrupt(path, f"the line has more than the {limit:,} bytes it may have", position)


def write_at(path: Path, position: int, data: bytes | memoryview) -> None:
    """Write `data` at byte `position`; what lies before stays. Not yet on the disk: see `sync`."""
    with storage_errors(path):
        view = memoryview(data)
        with _descriptor(path, _WRITE | os.O_CREAT) as descriptor:
            while view:
                written = os.pwrite(descriptor, view, position)
                position += written
                view = view[written:]


def write_parts(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write parts one behind the other, from the beginning of the file."""
    position = 0
    for part in parts:
        write_at(path, position, part)
        position += len(part)


def append_line(path: Path, line: bytes) -> None:
    """Write a line behind whatever is there, in one go and onto the disk, without any lock.

    A line that an earlier writer left unfinished gets its end first.
    """
    flags = _WRITE | os.O_APPEND | os.O_CREAT
    with storage_errors(path), _descriptor(path, flags) as descriptor:
        length = os.fstat(descriptor).st_size
        torn = bool(length) and os.pread(descriptor, 1, length - 1) != b"\n"
        data = b"\n" * torn + line + b"\n"
        if os.write(descriptor, data) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(descriptor)
    sync(path.parent)  # whoever made the file may have been killed before the name was synced


def truncate(path: Path, length: int) -> None:
    """Cut the file to `length` bytes; a file that is not longer stays untouched."""
    with storage_errors(path):
        if not path.is_symlink() and path.stat().st_size <= length:
            return
        with _descriptor(path, _WRITE) as descriptor:
            os.truncate(descriptor, length)


def sync(path: Path) -> None:
    """Wait until the file, or the entries of a folder, are on the disk."""
    with storage_errors(path), _descriptor(path, os.O_RDONLY | os.O_CLOEXEC) as descriptor:
        os.fsync(descriptor)


def move(draft: Path, path: Path) -> None:
    """Put a file that was written beside `path` in its place; see `sync` for the folder."""
    with storage_errors(path):
        os.replace(draft, path)  # noqa: PTH105 - every effect goes through `os`, by name


def remove(path: Path) -> None:
    """Remove a file, or the link that lies there; it may be gone already."""
    with storage_errors(path), suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108 - every effect goes through `os`, by name


def replace(path: Path, data: bytes) -> None:
    """Write a whole file so that a reader sees the old content or the new, never a part."""
    draft = path.with_name(f".{path.name}.draft")
    try:
        create_anew(draft)
        write_at(draft, 0, data)
        sync(draft)
        move(draft, path)
    except Exception:
        with suppress(OSError):
            draft.unlink()
        raise
    sync(path.parent)


def create_anew(path: Path) -> None:
    """Make `path` a new, empty file; a file or link that was left there goes."""
    with storage_errors(path):
        path.unlink(missing_ok=True)
        os.close(os.open(path, _WRITE | os.O_CREAT | os.O_EXCL, 0o644))


def make_folders(path: Path) -> None:
    """Make a folder and those above it that are missing, each on the disk when this returns."""
    if path.is_dir():
        return
    make_folders(path.parent)
    path.mkdir(exist_ok=True)
    sync(path.parent)


def require_free(path: Path) -> None:
    """See that a new folder may appear at `path`: nothing is there, or an empty folder."""
    if path.is_symlink() or (path.exists() and not (path.is_dir() and not any(path.iterdir()))):
        raise BankExistsError(
            "something is here already",
            source=str(path),
            hint="choose another folder, or open the bank if it is one",
        )


@contextmanager
def new_folder(path: Path, *, replacing: bool = False) -> Iterator[Path]:
    """Provide a folder to fill, which appears at `path` when the block ends, or not at all.

    If it is `replacing` the folder there, the two change places in one step.
    """
    consequence = _AS_IT_WAS if replacing else _NOTHING_MADE
    if not replacing:
        require_free(path)
    with ExitStack() as stack:
        with storage_errors(path, consequence):
            make_folders(path.parent)
            # Not a temporary folder of the library: its mode would be its own, not the user's.
            draft = stack.enter_context(_draft_beside(path, Path.mkdir))
        yield draft
        with storage_errors(path, consequence):
            exchange(draft, path) if replacing else draft.rename(path)
        sync(path.parent)


def remove_folder(path: Path) -> None:
    """Remove a folder, or a file, with all that is in it. It is gone from its place in one step."""
    with storage_errors(path), _draft_beside(path, path.rename):
        sync(path.parent)


def exchange(one: Path, other: Path) -> None:
    """Let two folders of one file system change places, in one step."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    here = ctypes.c_int(_HERE)
    names = os.fsencode(one), os.fsencode(other)
    if hasattr(library, "renameat2"):  # Linux
        failed = library.renameat2(here, names[0], here, names[1], ctypes.c_uint(_EXCHANGE))
    elif hasattr(library, "renamex_np"):  # macOS
        failed = library.renamex_np(*names, ctypes.c_uint(_EXCHANGE))
    else:
        failed = True
        ctypes.set_errno(errno.ENOSYS)
    if failed:
        number = ctypes.get_errno()
        raise StorageError(
            f"two folders cannot be swapped here in one step: {os.strerror(number).lower()}",
            source=str(other),
            hint="move the old folder away first; it is as it was",
        )


@contextmanager
def new_file(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """Provide a file to fill, which appears at `path` when the block ends, or not at all."""
    _require_room(path, replace=replace)
    with storage_errors(path):
        make_folders(path.parent)
    with ExitStack() as stack:
        with storage_errors(path):
            draft = stack.enter_context(_draft_beside(path, create_anew))
        yield draft
        sync(draft)
        _require_room(path, replace=replace)
        move(draft, path)
        sync(path.parent)


@contextmanager
def _draft_beside(path: Path, make: Callable[[Path], object]) -> Iterator[Path]:
    """Provide a draft beside `path`, made by `make`; gone at the end, unless it was moved away.

    What a killed process left behind is cleared away when it is a day old.
    """
    for entry in path.parent.iterdir():
        with suppress(OSError):
            if _DRAFT.fullmatch(entry.name) and entry.lstat().st_mtime < time.time() - _DAY:
                _discard(entry)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.draft")
    make(draft)
    try:
        yield draft
    finally:
        _discard(draft)


def _discard(draft: Path) -> None:
    if draft.is_dir():
        shutil.rmtree(draft, ignore_errors=True)
    else:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _require_room(path: Path, *, replace: bool) -> None:
    """See that a new file may take its place at `path`."""
    there = path.is_symlink() or path.exists()
    if there and not (replace and path.is_file() and not path.is_symlink()):
        hint = "choose another name, or move it away first"
        if path.is_file() and not replace:
            hint = Remedy.REPLACE
        raise BankExistsError("something is here already", source=str(path), hint=hint)


@contextmanager
def locked(
    path: Path, seconds: float, busy: str, hint: str = "try again when it is done"
) -> Iterator[None]:
    """Hold the lock on a folder's lock file for the length of the block.

    Raises:
        BankBusyError: Another process holds it; `busy` says what that does.
    """
    lock = filelock.FileLock(path, timeout=seconds)
    try:
        lock.acquire()
    except filelock.Timeout as error:
        raise BankBusyError(busy, source=str(path.parent), hint=hint) from error
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
