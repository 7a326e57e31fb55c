"""Archives, and reading a bank's files where they are: in a folder, or all in one archive.

An archive is a plain zip file, of which there is exactly one for given files: nothing compressed,
so that arrays can be mapped where they are, every file at a multiple of 64 bytes, order, times and
modes fixed. A reader refuses one that packing the listed files again would not give, byte for byte.

The path of a file in an archive is the archive's path with the file's name behind it, as if the
archive were a folder (`kitchen.deltamem/bank.json`). So whoever reads builds the same paths for
both, and only this module looks which it is. A writer meets a file instead of a folder, and fails.
"""

from __future__ import annotations

import io
import mmap
import os
import re
import stat
import struct
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import IO

from deltamem_tui.bank.disk import files
from deltamem_tui.errors import BankCorruptError, StorageError
from deltamem_tui.text import one_line

MANIFEST_BYTES = 4 * 1024 * 1024
"""The most that a `bank.json` may take."""
TOTAL_BYTES = 2**32 - 1
"""The most that a bank that travels may take: where the files of an archive can begin."""
ALIGNMENT = 64

MANIFEST = "bank.json"
FILE_NAME = re.compile(
    r"bank\.json|(credit|journal|origins|trajectories|usage)\.jsonl|"
    r"[a-z][a-z0-9_]{0,31}\.(nodes\.jsonl|(embeddings|counts|states|index)\.npy)"
)
"""Valid names of a bank's files, whatever its collections."""

_MEMBERS = 80
_NAME_BYTES = 64
_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_PADDING = struct.Struct("<3H")
_PADDING_KIND = 0xD935  # the field by which other aligning zip tools say so too
_VERSION, _UNIX = 20, 3 << 8
_DATE = 1 << 5 | 1  # the first day that a zip file can name: 1 January 1980
_PLAIN_FILE = 0o100644 << 16
_BLOCK = 64 * 1024


def member_names(collections: Iterable[str]) -> tuple[str, ...]:
    """Return every file that a bank can consist of, in the order in which an archive holds them."""
    kinds = ("nodes.jsonl", "embeddings.npy", "counts.npy", "index.npy")
    return (
        MANIFEST,
        *(f"{name}.{kind}" for name in collections for kind in kinds),
        *("origins.jsonl", "origins.counts.npy", "origins.index.npy"),
        *("credit.jsonl", "credit.counts.npy", "credit.index.npy"),
        *("trajectories.jsonl", "trajectories.states.npy", "trajectories.index.npy"),
        "journal.jsonl",
        "usage.jsonl",
    )


@dataclass(frozen=True, slots=True)
class Entry:
    """An archive's entry for a file."""

    name: str
    size: int
    crc: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Offsets of everything in the archive of some files.

    Attributes:
        entries: The files.
        headers: What comes before each file: its local header.
        starts: Where each file's bytes begin.
        directory: What comes behind the last file: the list of all, and the end.
        size: The archive's length in bytes.
    """

    entries: Sequence[Entry]
    headers: Sequence[bytes]
    starts: Sequence[int]
    directory: bytes
    size: int


def layout_of(entries: Sequence[Entry], source: str) -> Layout:
    """Return the layout of the archive of some files; errors name their `source`."""
    size = sum(entry.size for entry in entries)
    if size > TOTAL_BYTES - 2 * _BLOCK:
        raise BankCorruptError(
            f"has {size:,} bytes, more than the {TOTAL_BYTES:,} of an archive",
            source=source,
            hint="copy the bank's folder instead",
        )
    headers, starts, listed, position = [], [], b"", 0
    for entry in entries:
        name = entry.name.encode("ascii")
        padding = -(position + _LOCAL.size + len(name) + _PADDING.size) % ALIGNMENT
        field = _PADDING.pack(_PADDING_KIND, 2 + padding, ALIGNMENT) + bytes(padding)
        # Version, no flags, not compressed, midnight, date; checksum and both sizes.
        shared = (_VERSION, 0, 0, 0, _DATE, entry.crc, entry.size, entry.size, len(name))
        header = _LOCAL.pack(b"PK\x03\x04", *shared, len(field)) + name + field
        # No extra field, comment, disk or hint; mode and place.
        rest = (0, 0, 0, 0, _PLAIN_FILE, position)
        listed += _CENTRAL.pack(b"PK\x01\x02", _UNIX | _VERSION, *shared, *rest) + name
        position += len(header)
        headers.append(header)
        starts.append(position)
        position += entry.size
    number = len(entries)
    end = _END.pack(b"PK\x05\x06", 0, 0, number, number, len(listed), position, 0)
    directory = listed + end
    return Layout(entries, headers, starts, directory, position + len(directory))


def read_layout(path: Path) -> Layout:
    """Check an archive's layout. Its files are not read."""
    with files.storage_errors(path):
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would wait for a writer
            raise _wrong(path, "is not a plain file")
        with path.open("rb") as stream:
            if stream.read(4) != b"PK\x03\x04":
                hint = "`deltamem bank export` makes them, as FILE.deltamem"
                raise _wrong(path, "is not an archive of a bank", hint)
            size = stream.seek(0, os.SEEK_END)
            layout = layout_of(_entries(path, stream, size), str(path))
            pieces = [(layout.size - len(layout.directory), layout.directory)]
            for start, header in zip(layout.starts, layout.headers, strict=True):
                pieces.append((start - len(header), header))
            same = all(os.pread(stream.fileno(), len(each), at) == each for at, each in pieces)
            if layout.size != size or not same:
                raise _wrong(path, "is not laid out as `deltamem bank export` does it")
            return layout


def _entries(path: Path, stream: io.BufferedReader, size: int) -> list[Entry]:
    """Return the listed files, if all are such as a bank has, each once."""
    stream.seek(max(size - _END.size, 0))
    end = stream.read()
    if not end.startswith(b"PK\x05\x06"):
        raise _wrong(path, "was cut short, or something was added at its end")
    number, length = _END.unpack(end)[4:6]
    if number > _MEMBERS or length > number * (_CENTRAL.size + _NAME_BYTES):
        raise _wrong(path, f"lists more than the {_MEMBERS} files it may have")
    try:
        listed = zipfile.ZipFile(stream).infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise _wrong(path, "has a list of files that is damaged") from error
    names = [each.filename for each in listed]
    for at, name in enumerate(names):
        if not FILE_NAME.fullmatch(name):
            raise _wrong(path, f"unexpected file {one_line(name, 80)!r}")
        if name in names[:at]:
            raise _wrong(path, f"holds {name!r} twice")
    if not names or names[0] != MANIFEST:
        raise _wrong(path, f"does not begin with {MANIFEST!r}")
    if (size := listed[0].file_size) > MANIFEST_BYTES:
        raise _wrong(path, f"has a {MANIFEST!r} of {size:,} bytes, more than {MANIFEST_BYTES:,}")
    return [Entry(each.filename, each.file_size, each.CRC) for each in listed]


def require_names(path: Path, collections: Iterable[str]) -> None:
    """See that an archive holds files of a bank with these collections only, in their order."""
    found = list(_members(path))
    known = member_names(collections)
    if found != [name for name in known if name in found]:
        wrong = next((name for name in found if name not in known), "its files out of order")
        raise _wrong(path, f"holds {wrong}, which its bank does not declare")


def _members(path: Path) -> dict[str, tuple[int, int]]:
    """Return where the files of an archive are, as (start, length) by name."""
    with files.storage_errors(path):
        found = path.stat()
    return _read_members(path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=64)
def _read_members(path: Path, *_identity: int) -> dict[str, tuple[int, int]]:
    layout = read_layout(path)
    placed = zip(layout.entries, layout.starts, strict=True)
    return {entry.name: (start, entry.size) for entry, start in placed}


def _wrong(path: Path, message: str, hint: str | None = None) -> BankCorruptError:
    again = "get it again from where it came from; an archive is never repacked"
    return BankCorruptError(message, source=str(path), hint=hint or again)


@dataclass(frozen=True, slots=True)
class Region:
    """The location of a bank file's bytes: in the file itself, or somewhere in an archive."""

    path: Path
    start: int
    length: int


def is_archive(path: Path) -> bool:
    """Return whether a bank is a file, so an archive, and no folder."""
    with files.storage_errors(path):
        return path.is_file()


def find(path: Path) -> Region | None:
    """Return where a file's bytes are; None if there is no such file."""
    with files.storage_errors(path):
        try:
            found = path.stat()
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            place = _members(path.parent).get(path.name)
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
    if is_archive(folder):
        return sorted(_members(folder))
    with files.storage_errors(folder):
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
    with files.storage_errors(path):
        if region.path == path:
            return path.open("rb")
        try:
            return zipfile.ZipFile(region.path).open(path.name)
        except (KeyError, zipfile.BadZipFile) as error:  # another took its place just now
            raise StorageError("was changed while it was read", source=str(region.path)) from error


def read(path: Path, limit: int) -> bytes:
    """Read a whole small file."""
    if _found(path).length > limit:
        raise StorageError(f"larger than the {limit:,} bytes it may have", source=str(path))
    with files.storage_errors(path), opened(path) as stream:
        return stream.read(limit)


def mapped(path: Path, length: int) -> memoryview:
    """Return the first `length` bytes of a file, mapped and not read."""
    if not length:
        return memoryview(b"")
    region = _found(path)
    behind = region.start % mmap.ALLOCATIONGRANULARITY
    at = region.start - behind
    with files.storage_errors(path), region.path.open("rb") as stream:
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
    with files.storage_errors(path), opened(path) as stream:
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
    with files.storage_errors(path), opened(path) as stream:
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
    return files.corrupt(path, f"the line has more than the {limit:,} bytes it may have", position)
