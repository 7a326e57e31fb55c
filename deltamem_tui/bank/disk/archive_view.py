"""Reading a bank's files where they lie: each by itself in a folder, or all in one archive.

The path of a file in an archive is the archive's path with the file's name behind it, as if
the archive were a folder (`kitchen.deltamem/bank.json`). So whoever reads builds the same
paths for both, and only what is here looks which it is. Whoever writes meets a file in the
place of a folder, and cannot.
"""

from __future__ import annotations

import io
import mmap
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

from deltamem_tui.bank.disk import archive, files
from deltamem_tui.errors import BankCorruptError, StorageError


@dataclass(frozen=True, slots=True)
class Region:
    """Where the bytes of a bank's file lie: in the file itself, or somewhere in an archive."""

    path: Path
    start: int
    length: int


def is_archive(path: Path) -> bool:
    """Return whether a bank's place is a file, so an archive, and no folder."""
    with files.storage_errors(path):
        return path.is_file()


def find(path: Path) -> Region | None:
    """Return where a file's bytes lie; None if there is no such file.

    Raises:
        BankCorruptError: It would lie in an archive that is not whole.
        StorageError: The disk refused, or it is a folder, pipe or device.
    """
    with files.storage_errors(path):
        try:
            found = path.stat()
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            return _in_archive(path)
    if not stat.S_ISREG(found.st_mode):  # a pipe would wait for a writer
        raise StorageError("is not a plain file", source=str(path))
    return Region(path, 0, found.st_size)


def _in_archive(path: Path) -> Region | None:
    place = archive.members(path.parent).get(path.name)
    return None if place is None else Region(path.parent, *place)


def exists(path: Path) -> bool:
    """Return whether there is such a file."""
    return find(path) is not None


def size(path: Path) -> int:
    """Return the file's length in bytes; 0 if there is none."""
    region = find(path)
    return region.length if region else 0


def opened(path: Path) -> io.BufferedReader:
    """Return the file, to be read from its beginning."""
    region = _found(path)
    with files.storage_errors(path):
        raw = region.path.open("rb")
        if region.path == path:
            return raw
        return io.BufferedReader(_Part(raw, region.start, region.length))


def read(path: Path, limit: int) -> bytes:
    """Read a whole small file.

    Raises:
        StorageError: It cannot be read, or is larger than `limit` bytes.
    """
    if _found(path).length > limit:
        raise StorageError(f"larger than the {limit:,} bytes it may have", source=str(path))
    with files.storage_errors(path), opened(path) as stream:
        return stream.read(limit)


def mapped(path: Path, length: int) -> memoryview:
    """Return the first `length` bytes of a file, mapped and not read."""
    if not length:
        return memoryview(b"")
    region = _found(path)
    if region.length < length:
        raise StorageError("was cut short", source=str(path))
    behind = region.start % mmap.ALLOCATIONGRANULARITY
    with files.storage_errors(path), region.path.open("rb") as stream:
        try:
            mapping = mmap.mmap(
                stream.fileno(),
                behind + length,
                access=mmap.ACCESS_READ,
                offset=region.start - behind,
            )
        except ValueError as error:  # a shorter file took its place since the look above
            raise StorageError("was cut short", source=str(path)) from error
    return memoryview(mapping)[behind:]


def names(folder: Path) -> list[str]:
    """Return the names of everything that lies in a bank's folder or archive, sorted."""
    if is_archive(folder):
        return sorted(archive.members(folder))
    with files.storage_errors(folder):
        return sorted(path.name for path in folder.iterdir())


def is_plain(path: Path) -> bool:
    """Return whether a file is one, and no link, folder or device."""
    try:
        return exists(path) and not path.is_symlink()
    except StorageError:
        return False


def _found(path: Path) -> Region:
    region = find(path)
    if region is None:
        raise StorageError("no such file", source=str(path))
    return region


class _Part(io.RawIOBase):
    """A part of a file, to be read as if it were a file."""

    def __init__(self, whole: BinaryIO, start: int, length: int) -> None:
        super().__init__()
        self._whole = whole
        self._start = start
        self._length = length
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a byte, from the beginning, from here, or from the end."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._length}[whence]
        self._position = max(base + offset, 0)
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` as far as there is something left."""
        wanted = min(len(buffer), max(self._length - self._position, 0))
        found = os.preadv(
            self._whole.fileno(), [memoryview(buffer)[:wanted]], self._start + self._position
        )
        self._position += found
        return found

    def close(self) -> None:
        """Close the file too."""
        self._whole.close()
        super().close()


def pieces(view: memoryview, length: int) -> Iterator[memoryview]:
    """Yield a view in pieces of `length` bytes."""
    for start in range(0, len(view), length):
        yield view[start : start + length]


_BLOCK = 64 * 1024


def forwards(path: Path, limit: int) -> Iterator[bytes]:
    """Yield the lines of a file, first first, each with its newline.

    Raises:
        BankCorruptError: A line is longer. The lines before it were given.
        StorageError: The disk refused.
    """
    with files.storage_errors(path), opened(path) as stream:
        for number in count(1):
            line = stream.readline(limit)
            if len(line) == limit and not line.endswith(b"\n"):
                raise _too_long(path, limit, f"line {number}")
            if not line.endswith(b"\n"):
                return
            yield line


def backwards(path: Path, limit: int) -> Iterator[tuple[bytes, int]]:
    """Yield the lines of a file, last first, each with its newline and the byte behind that.

    Who stops early has read only the end of the file.

    Raises:
        BankCorruptError: A line is longer, or what may be one. The lines behind it were given.
        StorageError: The disk refused.
    """
    with files.storage_errors(path), opened(path) as stream:
        start = stream.seek(0, 2)
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
    return BankCorruptError(
        f"the line has more than the {limit:,} bytes it may have",
        source=str(path),
        position=position,
        hint="restore the file from a copy of the bank",
    )
