"""The bytes of a log, unpacked and as UTF-8."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.trajectory.logs.record import LogLimits, ReadProgress, human_size

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 1 << 20
"""How much is read at a time."""
_BUFFER = 1 << 18
_GZIP = b"\x1f\x8b"
# Windows' shell writes UTF-16.
_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def opened(
    path: Path, name: str, limits: LogLimits, progress: ReadProgress | None
) -> io.BufferedReader:
    """Return the bytes of a file, unpacked, as UTF-8 without a byte order mark."""
    try:
        raw = _ProgressFile(path, progress) if progress else io.FileIO(path)
        stream: io.BufferedReader = io.BufferedReader(raw, _BUFFER)
        if stream.peek(2)[:2] == _GZIP:
            most = max(limits.expansion * path.stat().st_size, limits.expansion_free_bytes)
            stream = io.BufferedReader(_GzipStream(stream, most), CHUNK)
    except OSError as error:
        raise unreadable(error, name) from error
    try:
        return _as_utf8(stream, limits)
    except RecordError:
        stream.close()
        raise


def unreadable(error: OSError, name: str) -> TrajectoryError:
    """Return why a log cannot be read."""
    return TrajectoryError(f"cannot be read: {error.strerror or error}", source=name)


def held(stream: io.BufferedReader, limits: LogLimits) -> Iterator[bytes]:
    """Yield the bytes of a stream up to as many as are held of records that belong together."""
    left = limits.session_bytes
    while chunk := stream.read1(CHUNK):
        left -= len(chunk)
        if left < 0:
            reason = f"more than {human_size(limits.session_bytes)} in one piece"
            raise RecordError(reason, hint="write it as UTF-8, a record a line")
        yield chunk


def _as_utf8(stream: io.BufferedReader, limits: LogLimits) -> io.BufferedReader:
    head = stream.peek(3)[:3]
    if head == codecs.BOM_UTF8:
        stream.read(3)
    encoding = _MARKS.get(head[:2])
    if encoding is None:
        return stream
    with stream:
        text = b"".join(held(stream, limits))[2:].decode(encoding, "replace")
    return io.BufferedReader(io.BytesIO(text.encode("utf-8", "replace")))


def too_long(limits: LogLimits, position: str | None) -> RecordError:
    """Return the refusal of a record that is longer than one may be."""
    reason = f"a record of more than {human_size(limits.record_bytes)}"
    hint = "split it, or leave out what will not be read"
    return RecordError(reason, position=position, hint=hint)


class _ProgressFile(io.FileIO):
    def __init__(self, path: Path, progress: ReadProgress) -> None:
        super().__init__(path)
        self._progress = progress

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        count = super().readinto(buffer)
        self._progress.read(count)
        return count


class _GzipStream(io.RawIOBase):
    """The contents of a gzip file, as long as they stay in proportion to its size."""

    def __init__(self, packed: io.BufferedReader, most: int) -> None:
        self._file = packed
        self._unpacked = gzip.GzipFile(fileobj=packed)
        self._most = most
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        place = f"byte {self._count} of the unpacked data"
        try:
            # read1 hands over what is there, so that lines before a cut are not lost with it.
            data = self._unpacked.read1(len(view))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            read = "whole records before that place are read; " if self._count else ""
            raise RecordError(
                f"the gzip data is damaged or cut short: {error}",
                position=place,
                hint=f"{read}fetch the file again",
            ) from error
        self._count += len(data)
        if self._count > self._most:
            raise RecordError(
                f"unpacks to more than {human_size(self._most)}, out of proportion to the file",
                position=place,
                hint="if you trust the file, unpack it and import the result",
            )
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()
