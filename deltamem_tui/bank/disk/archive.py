"""The layout of an archive: a plain zip file, of which there is exactly one for given files.

Nothing is compressed, so that arrays can be mapped where they lie; every file begins at a
multiple of 64 bytes. Order, times and modes are fixed. A reader therefore needs no judgement
of what a zip file may contain: it works out what the archive of the listed files looks like,
byte for byte, and refuses one that looks otherwise. Hidden, overlapping, doubled, linked,
encrypted or compressed members have no place to be.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

ALIGNMENT = 64

MANIFEST = "bank.json"
FILE_NAME = re.compile(
    r"bank\.json|(journal|origins|trajectories)\.jsonl|"
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
    """Every file that a bank can consist of, in the order in which an archive holds them.

    Args:
        collections: The names of the bank's collections, in the manifest's order.
    """
    kinds = ("nodes.jsonl", "embeddings.npy", "counts.npy", "index.npy")
    return (
        MANIFEST,
        *(f"{name}.{kind}" for name in collections for kind in kinds),
        *("origins.jsonl", "origins.counts.npy", "origins.index.npy"),
        *("trajectories.jsonl", "trajectories.states.npy", "trajectories.index.npy"),
        "journal.jsonl",
    )


@dataclass(frozen=True, slots=True)
class Entry:
    """What an archive says of a file.

    Attributes:
        name: The file's name.
        size: Its length in bytes.
        crc: Its CRC-32.
    """

    name: str
    size: int
    crc: int


@dataclass(frozen=True)
class Layout:
    """Where everything lies in the archive of some files.

    Attributes:
        entries: The files, in the order of `member_names`.
    """

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
    """A local header that begins at `offset`, padded so that the file behind it is aligned."""
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
    """A file's line in the list."""
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
    """What stands behind the list."""
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
