"""The layout of an archive: a plain zip file, of which there is exactly one for given files.

Nothing is compressed, so that arrays can be mapped where they lie; every file begins at a
multiple of 64 bytes. Order, times and modes are fixed. A reader therefore needs no judgement
of what a zip file may contain: it works out what the archive of the listed files looks like,
byte for byte, and refuses one that looks otherwise. Hidden, overlapping, doubled, linked,
encrypted or compressed members have no place to be.
"""

from __future__ import annotations

import os
import re
import stat
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

from deltamem_tui.bank.disk import files
from deltamem_tui.errors import BankCorruptError, Remedy
from deltamem_tui.text import one_line

_MEGABYTE = 1024 * 1024
GIGABYTE = 1024 * _MEGABYTE


@dataclass(frozen=True, slots=True)
class Limits:
    """What a bank that comes from elsewhere may take.

    Attributes:
        members: Files.
        manifest: Bytes of `bank.json`.
        total: Bytes of all files together.
    """

    members: int = 80
    manifest: int = 4 * _MEGABYTE
    total: int = 8 * GIGABYTE


LIMITS = Limits()
"""What is taken in unless the caller says otherwise."""

ALIGNMENT = 64

MANIFEST = "bank.json"
FILE_NAME = re.compile(
    r"bank\.json|(credit|journal|origins|trajectories|usage)\.jsonl|"
    r"[a-z][a-z0-9_]{0,31}\.(nodes\.jsonl|(embeddings|counts|states|index)\.npy)"
)
"""What a file of a bank may be called, whatever its collections."""

LOCAL = struct.Struct("<4s5H3L2H")
CENTRAL = struct.Struct("<4s6H3L5H2L")
END = struct.Struct("<4s4H2LH")
LARGE_END = struct.Struct("<4sQ2H2L4Q")
LOCATOR = struct.Struct("<4sLQL")

LOCAL_SIGNATURE = b"PK\x03\x04"
CENTRAL_SIGNATURE = b"PK\x01\x02"
END_SIGNATURE = b"PK\x05\x06"
_LARGE_END_SIGNATURE = b"PK\x06\x06"
_LOCATOR_SIGNATURE = b"PK\x06\x07"

FULL = 0xFFFFFFFF
"""What stands in a field of 32 bits whose value is given by the zip64 field beside it."""
LARGE = struct.Struct("<2H2Q")
LARGE_CENTRAL = struct.Struct("<2H3Q")
_LARGE_KIND = 0x0001

_ALIGNMENT_KIND = 0xD935  # the field by which other aligning zip tools say so too
_ALIGNMENT_FIELD = struct.Struct("<3H")
_UNIX = 3 << 8
_PLAIN_FILE = 0o100644 << 16
_DATE = 1 << 5 | 1  # the first day that a zip file can name: 1 January 1980
_VERSION, _LARGE_VERSION = 20, 45


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
    """What an archive says of a file."""

    name: str
    size: int
    crc: int


@dataclass(frozen=True)
class Layout:
    """Where everything lies in the archive of some files."""

    entries: Sequence[Entry]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each file's bytes begin."""
        return tuple(start for _, start, _ in self._placed())

    @cached_property
    def headers(self) -> tuple[bytes, ...]:
        """What stands before each file, from the end of the one before: the local header."""
        return tuple(header for _, _, header in self._placed())

    @property
    def directory_start(self) -> int:
        """Where the last file ends and the list of all files begins."""
        return self.starts[-1] + self.entries[-1].size if self.entries else 0

    @cached_property
    def directory(self) -> bytes:
        """The list of all files, and the end of the archive."""
        listed = b"".join(_central(entry, offset) for entry, offset, _ in self._offsets())
        return listed + _end(len(self.entries), len(listed), self.directory_start)

    @property
    def size(self) -> int:
        """The archive's length in bytes."""
        return self.directory_start + len(self.directory)

    def _offsets(self) -> Iterator[tuple[Entry, int, bytes]]:
        for entry, start, header in self._placed():
            yield entry, start - len(header), header

    def _placed(self) -> Iterator[tuple[Entry, int, bytes]]:
        position = 0
        for entry in self.entries:
            header = _local(entry, position)
            position += len(header)
            yield entry, position, header
            position += entry.size


def _local(entry: Entry, offset: int) -> bytes:
    """Return a local header that begins at `offset`, padded so that the file behind it is
    aligned.
    """
    large = entry.size >= FULL
    field = LARGE.pack(_LARGE_KIND, 16, entry.size, entry.size) if large else b""
    name = entry.name.encode("ascii")
    before = offset + LOCAL.size + len(name) + len(field) + _ALIGNMENT_FIELD.size
    padding = -before % ALIGNMENT
    field += _ALIGNMENT_FIELD.pack(_ALIGNMENT_KIND, 2 + padding, ALIGNMENT) + bytes(padding)
    size = FULL if large else entry.size
    fixed = LOCAL.pack(
        LOCAL_SIGNATURE,
        _LARGE_VERSION if large else _VERSION,
        *(0, 0),  # no flags, not compressed
        *(0, _DATE),
        entry.crc,
        *(size, size),
        len(name),
        len(field),
    )
    return fixed + name + field


def _central(entry: Entry, offset: int) -> bytes:
    """Return a file's line in the list."""
    large = entry.size >= FULL or offset >= FULL
    field = b""
    if large:
        field = LARGE_CENTRAL.pack(_LARGE_KIND, 24, entry.size, entry.size, offset)
    version = _LARGE_VERSION if large else _VERSION
    size = FULL if large else entry.size
    name = entry.name.encode("ascii")
    fixed = CENTRAL.pack(
        CENTRAL_SIGNATURE,
        _UNIX | version,
        version,
        *(0, 0),
        *(0, _DATE),
        entry.crc,
        *(size, size),
        len(name),
        len(field),
        *(0, 0, 0),  # no comment, one disk, no text or binary hint
        _PLAIN_FILE,
        FULL if large else offset,
    )
    return fixed + name + field


def _end(count: int, length: int, start: int) -> bytes:
    """Return what stands behind the list."""
    if start < FULL:
        return END.pack(END_SIGNATURE, 0, 0, count, count, length, start, 0)
    large = LARGE_END.pack(
        _LARGE_END_SIGNATURE,
        LARGE_END.size - 12,
        _UNIX | _LARGE_VERSION,
        _LARGE_VERSION,
        *(0, 0),
        *(count, count),
        length,
        start,
    )
    locator = LOCATOR.pack(_LOCATOR_SIGNATURE, 0, start + length, 1)
    return large + locator + END.pack(END_SIGNATURE, 0, 0, count, count, length, FULL, 0)


_NAME_BYTES = 64
_LINE_BYTES = CENTRAL.size + _NAME_BYTES + LARGE_CENTRAL.size
_END_BYTES = LARGE_END.size + LOCATOR.size + END.size
# What is read in place takes no room on the disk, and only that in memory which is looked at.
_IN_PLACE = replace(LIMITS, total=2**48)


def read_layout(path: Path, limits: Limits = LIMITS) -> Layout:
    """Check an archive's layout. Its files are not read.

    Raises:
        BankCorruptError: It is not an archive of a bank, was cut short, holds what no bank
            consists of, or is not laid out as `deltamem export` does it.
        StorageError: It cannot be read.
    """
    with files.storage_errors(path):
        # A pipe would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            return _Reading(path, descriptor, limits).layout()
        finally:
            os.close(descriptor)


def members(path: Path) -> dict[str, tuple[int, int]]:
    """Return where the files of an archive lie, as (start, length) by name."""
    with files.storage_errors(path):
        found = path.stat()
    return _members(path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def require_names(path: Path, collections: Iterable[str]) -> None:
    """See that an archive holds files of a bank with these collections only, in their order."""
    found = list(members(path))
    known = member_names(collections)
    if found != [name for name in known if name in found]:
        wrong = next((name for name in found if name not in known), "its files out of order")
        raise _wrong(path, f"holds {wrong}, which its bank does not declare")


@lru_cache(maxsize=64)
def _members(path: Path, *_identity: int) -> dict[str, tuple[int, int]]:
    layout = read_layout(path, _IN_PLACE)
    return {
        entry.name: (start, entry.size)
        for entry, start in zip(layout.entries, layout.starts, strict=True)
    }


class _Reading:
    """The reading of one archive's layout."""

    def __init__(self, path: Path, descriptor: int, limits: Limits) -> None:
        self._path = path
        self._descriptor = descriptor
        self._limits = limits
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise self._wrong("is not a plain file")
        self._size = found.st_size

    def layout(self) -> Layout:
        """Return the layout, of which every byte but the files' own was compared."""
        self._require_archive()
        layout = Layout(tuple(self._entries(self._list())))
        if not layout.entries:
            raise self._wrong("holds no files")
        if layout.size > self._limits.total:
            raise self._too_large(layout.size)
        pieces = [*zip(self._header_starts(layout), layout.headers, strict=True)]
        pieces.append((layout.directory_start, layout.directory))
        same = all(self._read(at, len(piece)) == piece for at, piece in pieces)
        if layout.size != self._size or not same:
            raise self._wrong("is not laid out as `deltamem export` does it")
        return layout

    def _require_archive(self) -> None:
        if not self._read(0, 4).startswith(LOCAL_SIGNATURE):
            raise self._wrong(
                "is not an archive of a bank", hint="`deltamem export` makes them, as FILE.deltamem"
            )

    def _list(self) -> Iterator[tuple[bytes, int, int]]:
        """Yield the list of files as it stands there: name, size, checksum."""
        text = self._read(max(self._size - END.size, 0), END.size)
        if len(text) < END.size or not text.startswith(END_SIGNATURE):
            raise self._wrong("was cut short, or something was added at its end")
        _, _, _, _, count, length, start, _ = END.unpack(text)
        if count > self._limits.members or length > count * _LINE_BYTES:
            raise self._wrong(f"lists more than the {self._limits.members} files it may have")
        if start == FULL:
            start = self._size - _END_BYTES - length
        yield from self._lines(self._read(max(start, 0), length), count)

    def _lines(self, text: bytes, count: int) -> Iterator[tuple[bytes, int, int]]:
        position = 0
        for _ in range(count):
            try:
                fixed = CENTRAL.unpack_from(text, position)
                signature, crc, size = fixed[0], fixed[7], fixed[9]
                name_length, field_length, comment_length = fixed[10:13]
                position += CENTRAL.size
                name = text[position : position + name_length]
                position += name_length
                if size == FULL:
                    size = LARGE_CENTRAL.unpack_from(text, position)[2]
                position += field_length + comment_length
            except struct.error as error:
                raise self._wrong("has a list of files that is damaged") from error
            if signature != CENTRAL_SIGNATURE:
                raise self._wrong("has a list of files that is damaged")
            yield name, size, crc

    def _entries(self, lines: Iterable[tuple[bytes, int, int]]) -> Iterator[Entry]:
        """Yield the files, if all are such as a bank has, each once. Else the layout decides."""
        names = set[str]()
        for line, size, crc in lines:
            name = line.decode("ascii", "replace")
            if not FILE_NAME.fullmatch(name):
                shown = one_line(name, 80)
                raise self._wrong(f"holds {shown!r}, and no file of a bank is called so")
            if name in names:
                raise self._wrong(f"holds {name!r} twice")
            if not names and name != MANIFEST:
                raise self._wrong(f"does not begin with {MANIFEST!r}")
            if name == MANIFEST and size > self._limits.manifest:
                raise self._wrong(
                    f"has a {name!r} of {size:,} bytes, more than {self._limits.manifest:,}"
                )
            if size > self._limits.total:  # as much as a list claims, no offset can hold
                raise self._too_large(size)
            names.add(name)
            yield Entry(name, size, crc)

    @staticmethod
    def _header_starts(layout: Layout) -> Iterator[int]:
        for start, header in zip(layout.starts, layout.headers, strict=True):
            yield start - len(header)

    def _read(self, position: int, length: int) -> bytes:
        return os.pread(self._descriptor, length, position)

    def _too_large(self, size: int) -> BankCorruptError:
        return self._wrong(
            f"has {size:,} bytes, more than the {self._limits.total:,} it may have",
            hint=Remedy.ALLOW_SIZE,
        )

    def _wrong(self, message: str, hint: str | None = None) -> BankCorruptError:
        return _wrong(self._path, message, hint)


def _wrong(path: Path, message: str, hint: str | None = None) -> BankCorruptError:
    return BankCorruptError(
        message,
        source=str(path),
        hint=hint or "get it again from where it came from; an archive is never repacked",
    )
