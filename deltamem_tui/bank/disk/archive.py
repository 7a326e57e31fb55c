"""Archives: all files of a bank in one.

An archive is a plain zip file, of which there is exactly one for given files: nothing compressed,
so that arrays can be mapped where they are, every file at a multiple of 64 bytes, order, times and
modes fixed. A reader refuses one that packing the listed files again would not give, byte for byte.
"""

from __future__ import annotations

import io
import os
import re
import stat
import struct
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO

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
    """Everything in the archive of some files, but for their bytes.

    Each file's local header comes before it, its bytes begin at its start, and the directory comes
    behind the last: the list of all, and the end.
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
    if names[:1] != [MANIFEST]:
        raise _wrong(path, f"does not begin with {MANIFEST!r}")
    return [Entry(each.filename, each.file_size, each.CRC) for each in listed]


def require_names(path: Path, collections: Iterable[str]) -> None:
    """See that an archive holds files of a bank with these collections only, in their order."""
    found = list(members(path))
    known = member_names(collections)
    if found != [name for name in known if name in found]:
        wrong = next((name for name in found if name not in known), "its files out of order")
        raise _wrong(path, f"holds {wrong}, which its bank does not declare")


def members(path: Path) -> dict[str, tuple[int, int]]:
    """Return where the files of an archive are, as (start, length) by name."""
    found = path.stat()
    return _read_members(path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=64)
def _read_members(path: Path, *_identity: int) -> dict[str, tuple[int, int]]:
    layout = read_layout(path)
    placed = zip(layout.entries, layout.starts, strict=True)
    return {entry.name: (start, entry.size) for entry, start in placed}


def opened(path: Path, name: str) -> IO[bytes]:
    """Return a file of an archive, to be read from its beginning."""
    try:
        return zipfile.ZipFile(path).open(name)
    except (KeyError, zipfile.BadZipFile) as error:  # another took its place just now
        raise StorageError("was changed while it was read", source=str(path)) from error


def _wrong(path: Path, message: str, hint: str | None = None) -> BankCorruptError:
    again = "get it again from where it came from; an archive is never repacked"
    return BankCorruptError(message, source=str(path), hint=hint or again)
