"""Finding the files of an archive: where each lies, after the whole layout was checked.

An archive is a stranger's until it was installed, and a stranger's after that. Its bounds
are checked before anything is read through them; its contents are checked by whoever reads
them, as those of any bank.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from deltamem_tui.bank import formats
from deltamem_tui.bank.disk import archive, files
from deltamem_tui.bank.disk.archive import Entry, Layout
from deltamem_tui.bank.limits import LIMITS, Limits
from deltamem_tui.errors import BankCorruptError
from deltamem_tui.text import one_line

_NAME_BYTES = 64
_LINE_BYTES = archive.CENTRAL.size + _NAME_BYTES + archive.LARGE_CENTRAL.size
_END_BYTES = archive.LARGE_END.size + archive.LOCATOR.size + archive.END.size
_ENCRYPTED = 1
# What is read in place takes no room on the disk, and only that in memory which is looked at.
_IN_PLACE = replace(LIMITS, total=2**48)


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of the list of files, as it stands there."""

    name: bytes
    flags: int
    method: int
    crc: int
    size: int
    mode: int


def read_layout(path: Path, limits: Limits = LIMITS) -> Layout:
    """Check an archive's layout. Its files are not read.

    Raises:
        BankCorruptError: It is no archive of a bank, was cut short, holds what no bank
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
    """Where the files of an archive lie, as (start, length) by name.

    Raises:
        BankCorruptError: The archive is not one of a bank, or is not whole.
        StorageError: It cannot be read.
    """
    with files.storage_errors(path):
        found = path.stat()
    return _members(path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


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
        """The layout, of which every byte but the files' own was compared."""
        self._require_archive()
        listed = self._list()
        layout = Layout(tuple(self._entries(listed)))
        if layout.size > self._limits.total:
            raise self._too_large(layout.size)
        pieces = [*zip(self._header_starts(layout), layout.headers, strict=True)]
        pieces.append((layout.directory_start, layout.directory))
        same = all(self._read(at, len(piece)) == piece for at, piece in pieces)
        if layout.size != self._size or not same:
            raise self._badly_laid_out()
        return layout

    def _require_archive(self) -> None:
        if not self._read(0, 4).startswith(archive.LOCAL_SIGNATURE):
            raise self._wrong(
                "is not an archive of a bank", hint="`deltamem export` makes them, as FILE.deltamem"
            )

    def _list(self) -> Sequence[_Line]:
        """The list of files as it stands there."""
        text = self._read(max(self._size - archive.END.size, 0), archive.END.size)
        if len(text) < archive.END.size or not text.startswith(archive.END_SIGNATURE):
            raise self._wrong("was cut short, or something was added at its end")
        _, _, _, _, count, length, start, _ = archive.END.unpack(text)
        if count > self._limits.members or length > count * _LINE_BYTES:
            raise self._wrong(f"lists more than the {self._limits.members} files it may have")
        if start == archive.FULL:
            start = self._size - _END_BYTES - length
        return list(self._lines(self._read(max(start, 0), length), count))

    def _lines(self, text: bytes, count: int) -> Iterator[_Line]:
        position = 0
        for _ in range(count):
            try:
                fixed = archive.CENTRAL.unpack_from(text, position)
                signature, _, _, flags, method, _, _, crc, _, size = fixed[:10]
                name_length, field_length, comment_length, _, _, mode, _ = fixed[10:]
                position += archive.CENTRAL.size
                name = text[position : position + name_length]
                position += name_length
                if size == archive.FULL:
                    size = archive.LARGE_CENTRAL.unpack_from(text, position)[2]
                position += field_length + comment_length
            except struct.error as error:
                raise self._wrong("has a list of files that is damaged") from error
            if signature != archive.CENTRAL_SIGNATURE:
                raise self._wrong("has a list of files that is damaged")
            yield _Line(name, flags, method, crc, size, mode >> 16)

    def _entries(self, lines: Sequence[_Line]) -> Iterator[Entry]:
        """The files, if all are a bank's, each once and in order."""
        for line in lines:
            self._require_plain(line)
        names = [line.name.decode("ascii") for line in lines]
        if not names or names[0] != archive.MANIFEST:
            raise self._wrong(f"holds no {archive.MANIFEST!r}")
        known = self._known_names(lines[0])
        before = -1
        for name, line in zip(names, lines, strict=True):
            if name not in known:
                raise self._wrong(f"holds {name!r}, of a collection that its bank does not declare")
            place = known.index(name)
            if place <= before:
                raise self._wrong(f"holds {name!r} twice, or out of order")
            before = place
            yield Entry(name, line.size, line.crc)

    def _require_plain(self, line: _Line) -> None:
        name = line.name.decode("ascii", "replace")
        if not archive.FILE_NAME.fullmatch(name):
            raise self._wrong(f"holds {one_line(name, 80)!r}, and no file of a bank is called so")
        if stat.S_IFMT(line.mode) not in {0, stat.S_IFREG}:
            raise self._wrong(f"holds {name!r} as a link or device, not as a plain file")
        if line.flags & _ENCRYPTED:
            raise self._wrong(f"holds {name!r} encrypted")
        if line.method:
            raise self._wrong(f"holds {name!r} compressed")
        if name == archive.MANIFEST and line.size > self._limits.manifest:
            raise self._wrong(
                f"has a {name!r} of {line.size:,} bytes, more than {self._limits.manifest:,}"
            )
        if line.size > self._limits.total:  # as much as a list claims, no offset can hold
            raise self._too_large(line.size)

    def _known_names(self, first: _Line) -> Sequence[str]:
        """The files that the bank can consist of, as its manifest says, which comes first."""
        alone = Layout((Entry(archive.MANIFEST, first.size, first.crc),))
        if self._read(0, len(alone.headers[0])) != alone.headers[0]:
            raise self._badly_laid_out()
        text = self._read(alone.starts[0], first.size)
        declared = formats.read(text, str(self._path / archive.MANIFEST))
        return archive.member_names(declared["collections"])

    @staticmethod
    def _header_starts(layout: Layout) -> Iterator[int]:
        for start, header in zip(layout.starts, layout.headers, strict=True):
            yield start - len(header)

    def _read(self, position: int, length: int) -> bytes:
        return os.pread(self._descriptor, length, position)

    def _badly_laid_out(self) -> BankCorruptError:
        return self._wrong("is not laid out as `deltamem export` does it")

    def _too_large(self, size: int) -> BankCorruptError:
        return self._wrong(
            f"has {size:,} bytes, more than the {self._limits.total:,} it may have",
            hint="allow more with `--max-gigabytes`, if you trust where it comes from",
        )

    def _wrong(self, message: str, hint: str | None = None) -> BankCorruptError:
        return BankCorruptError(
            message,
            source=str(self._path),
            hint=hint or "get it again from where it came from; an archive is never repacked",
        )
