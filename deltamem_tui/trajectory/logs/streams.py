"""A file as a stream of UTF-8 bytes, whatever it is wrapped in: gzip, a byte order mark, UTF-16."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from typing import TYPE_CHECKING

from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.trajectory.logs.record import LogLimits, ReadProgress, human_size

if TYPE_CHECKING:
    from pathlib import Path

    from _typeshed import WriteableBuffer

_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 20
_BUFFER = 1 << 18
# The longer mark first: UTF-32's little-endian mark begins with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8"),
)


def open_utf8(
    path: Path, name: str, limits: LogLimits, progress: ReadProgress | None = None
) -> io.BufferedReader:
    """Return a regular file's bytes, unpacked, as UTF-8 without a byte order mark.

    The stream raises `RecordError` where compressed or UTF-16 data is damaged.

    Raises:
        TrajectoryError: The file cannot be opened.
    """
    try:
        raw = _ProgressFile(path, progress) if progress else io.FileIO(path)
        stream: io.BufferedReader = io.BufferedReader(raw, _BUFFER)
        if stream.peek(2)[:2] == _GZIP:
            stream = io.BufferedReader(_GzipStream(stream, path.stat().st_size, limits), _CHUNK)
    except OSError as error:
        raise TrajectoryError(f"cannot be read: {error.strerror or error}", source=name) from error
    try:
        return _as_utf8(stream)
    except RecordError:
        stream.close()
        raise


def is_gzip(path: Path) -> bool:
    """Return True if a file that can be opened is gzip data."""
    with path.open("rb") as stream:
        return stream.read(2) == _GZIP


def _as_utf8(stream: io.BufferedReader) -> io.BufferedReader:
    head = stream.peek(64)[:64]
    marked = ((mark, name) for mark, name in _MARKS if head.startswith(mark))
    mark, encoding = next(marked, (b"", _encoding_without_mark(head)))
    stream.read(len(mark))
    if encoding == "utf-8":
        return stream
    return io.BufferedReader(_Transcoder(stream, encoding), _CHUNK)


def _encoding_without_mark(head: bytes) -> str:
    # Logs begin with ASCII, which has a zero in every second byte of UTF-16.
    if len(head) >= 4 and head[1] == head[3] == 0 and head[0] and head[2]:
        return "utf-16-le"
    if len(head) >= 4 and head[0] == head[2] == 0 and head[1] and head[3]:
        return "utf-16-be"
    return "utf-8"


class _ProgressFile(io.FileIO):
    """A file that tells how much of it was read."""

    def __init__(self, path: Path, progress: ReadProgress) -> None:
        super().__init__(path)
        self._progress = progress

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        count = super().readinto(buffer)
        self._progress.read(count)
        return count


class _GzipStream(io.RawIOBase):
    """What comes out of a gzip file, as long as it stays in proportion to what went in."""

    def __init__(self, packed: io.BufferedReader, packed_size: int, limits: LogLimits) -> None:
        self._file = packed
        self._unpacked = gzip.GzipFile(fileobj=packed)
        self._most = max(limits.expansion * packed_size, limits.expansion_free_bytes)
        self._packed_size = packed_size
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        try:
            # read1 hands over what is there, so that lines before a cut are not lost with it.
            data = self._unpacked.read1(len(view))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            read = "whole records before that place are read; " if self._count else ""
            raise RecordError(
                f"the gzip data is damaged or cut short: {error}",
                position=f"byte {self._count} of the unpacked data",
                hint=f"{read}fetch the file again",
            ) from error
        self._count += len(data)
        if self._count > self._most:
            raise RecordError(
                f"unpacks to more than {human_size(self._most)}, "
                f"from {human_size(self._packed_size)}",
                position=f"byte {self._count} of the unpacked data",
                hint="if you trust the file, unpack it and import the result",
            )
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


class _Transcoder(io.RawIOBase):
    """Text of another encoding as UTF-8 bytes."""

    def __init__(self, stream: io.BufferedReader, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)("strict")
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        while not self._ready:
            data = self._stream.read1(_CHUNK)
            try:
                text = self._decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                raise RecordError(
                    f"the text is not valid {error.encoding.upper()}", hint="save the log as UTF-8"
                ) from error
            self._ready = text.encode()
            if not data:
                break
        part = self._ready[: len(view)]
        self._ready = self._ready[len(view) :]
        view[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._stream.close()
        super().close()
