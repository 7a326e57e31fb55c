"""The bytes of a log, unpacked: its head, lines, JSON values, or an archive's members."""

from __future__ import annotations

import codecs
import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.json_text import ValueCutter
from deltamem_tui.trajectory.logs.record import (
    DEFAULT_LIMITS,
    LogLimits,
    ReadProgress,
    Value,
    human_size,
    located,
)
from deltamem_tui.trajectory.secrets.redaction import quoted

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

HEAD_BYTES = 64 * 1024
"""How much of a log is looked at to tell what it is."""
_CHUNK = 1 << 20
_BUFFER = 1 << 18
_SHOWN_BYTES = 4096
_MOST_NAMES = 1_000_000
_NUL = b"\x00"
_GZIP = b"\x1f\x8b"
_ARCHIVES = (b"PK\x03\x04", _GZIP, b"\xfd7zXZ", b"BZh", b"\x28\xb5\x2f\xfd")
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError),
    ValueError,
)
# The longer mark first: UTF-32's little-endian mark begins with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8"),
)


@dataclass(frozen=True)
class Content:
    """The bytes of a log, which can be read from the start any number of times.

    Attributes:
        name: What it is called in reports: a file name, or a path inside the folder given.
        path: Where its bytes are.
        limits: What it may hold.
        keep: Whatever must live as long as the log, such as the copy of standard input.
        progress: Notes how far its lines or records were read.
    """

    name: str
    path: Path
    limits: LogLimits = DEFAULT_LIMITS
    keep: object = field(default=None, repr=False, compare=False)
    progress: ReadProgress | None = field(default=None, repr=False, compare=False)

    def head(self) -> bytes:
        """Return the first 64 KB, or the whole first line where that is longer."""
        head = b""
        try:
            with self._open(None) as stream:
                while len(head) < HEAD_BYTES and (data := stream.read1(HEAD_BYTES - len(head))):
                    head += data
                if b"\n" not in head:
                    head += stream.readline(self.limits.record_bytes)
        except RecordError as error:
            if not head.strip():
                raise located(error, self.name) from error
        except OSError as error:
            reason = f"cannot be read: {error.strerror or error}"
            raise TrajectoryError(reason, source=self.name) from error
        return head

    def whole(self) -> bytes:
        """Return all of it."""
        with self._open(self.progress) as stream:
            data = stream.read(self.limits.record_bytes + 1)
        if len(data) > self.limits.record_bytes:
            raise self._too_long(None)
        return data

    def byte_lines(self) -> Iterator[tuple[int, bytes | RecordError]]:
        """Numbered lines without their line break; overlong ones are passed over unread."""
        most = self.limits.record_bytes
        number = 0
        try:
            with self._open(self.progress) as stream:
                while data := stream.readline(most + 1):
                    number += 1
                    if len(data) > most and not data.endswith(b"\n"):
                        while (rest := stream.readline(_CHUNK)) and not rest.endswith(b"\n"):
                            pass
                        yield number, self._too_long(f"line {number}")
                        continue
                    line = data.rstrip(b"\r\n")
                    if line[:1] == _NUL or line[-1:] == _NUL:
                        line = line.strip(_NUL)
                        if number > 1:
                            yield number, self._hole(f"line {number}")
                    yield number, line
        except (RecordError, OSError) as error:
            yield number + 1, self._stopped(error, f"line {number + 1}")

    def line_values(self) -> Iterator[Value | RecordError]:
        """Yield a value a line; blank lines hold none."""
        for number, data in self.byte_lines():
            if isinstance(data, RecordError):
                yield data
            elif data and not data.isspace():
                yield Value(data, f"line {number}")

    def cut_values(self, *, in_array: bool) -> Iterator[Value | RecordError]:
        """Values one after another, however they are broken into lines."""
        count = 0
        cutter = ValueCutter(self.limits, in_array=in_array)
        try:
            with self._open(self.progress) as stream:
                ended = False
                while not ended:
                    chunk = stream.read1(_CHUNK)
                    ended = not chunk
                    for cut in cutter.finish() if ended else cutter.feed(chunk):
                        position = f"record {count + 1}"
                        if cut.kind == "value":
                            yield Value(cut.data, position)
                        else:
                            where = position if cut.kind == "refused" else f"before {position}"
                            yield RecordError(cut.reason, source=self.name, position=where)
                        count += cut.kind != "junk"
        except (RecordError, OSError) as error:
            yield self._stopped(error, f"record {count + 1}")

    def no_values(self) -> Iterator[RecordError]:
        """Yield where text begins that was to be JSON."""
        for number, data in self.byte_lines():
            if isinstance(data, RecordError):
                yield data
                return
            if data.strip():
                shown = quoted(data[:_SHOWN_BYTES].decode("utf-8", "replace"), 60)
                yield RecordError(f"not JSON: {shown}", source=self.name, position=f"line {number}")
                return

    @property
    def is_gzip(self) -> bool:
        """True if a file that can be opened is gzip data."""
        with self.path.open("rb") as stream:
            return stream.read(2) == _GZIP

    def member_names(self) -> list[str]:
        """Return the names of all members of a zip archive, in the order of its directory."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                names = archive.namelist()
        except _DAMAGE as error:
            raise RecordError(f"a damaged zip archive: {one_line(str(error), 120)}") from error
        if len(names) > _MOST_NAMES:
            raise RecordError(f"a zip archive of more than {_MOST_NAMES:,} files")
        return names

    def member_values(self) -> Iterator[Value | RecordError]:
        """Yield each JSON file in a zip archive; of an evaluation's, each of its samples.

        Nothing is ever written to disk.
        """
        found = [name for name in self.member_names() if name.endswith(".json")]
        names = [name for name in found if name.startswith("samples/")] or found
        left = self._most_unpacked
        with zipfile.ZipFile(self.path) as archive:
            for name in names:
                position = quoted(name, 200)
                try:
                    with archive.open(name) as member:
                        data = member.read(self.limits.record_bytes + 1)
                except (*_DAMAGE, KeyError) as error:
                    reason = f"cannot be unpacked: {one_line(str(error), 120)}"
                    yield RecordError(reason, source=self.name, position=position)
                    continue
                left -= len(data)
                if left < 0:
                    reason = f"unpacks to more than {self.limits.expansion} times its size"
                    hint = "if you trust the archive, unpack it and import the folder"
                    yield RecordError(reason, source=self.name, position=position, hint=hint)
                    return
                if data.startswith(_ARCHIVES):
                    reason = "an archive inside the archive, which is not opened; unpack it first"
                    yield RecordError(reason, source=self.name, position=position)
                elif len(data) > self.limits.record_bytes:
                    yield self._too_long(position)
                else:
                    yield Value(data, position)

    @property
    def _most_unpacked(self) -> int:
        most = self.limits.expansion * self.path.stat().st_size
        return max(most, self.limits.expansion_free_bytes)

    def _open(self, progress: ReadProgress | None) -> io.BufferedReader:
        """Return the bytes, unpacked, as UTF-8 without a byte order mark."""
        try:
            raw = _ProgressFile(self.path, progress) if progress else io.FileIO(self.path)
            stream: io.BufferedReader = io.BufferedReader(raw, _BUFFER)
            if stream.peek(2)[:2] == _GZIP:
                stream = io.BufferedReader(_GzipStream(stream, self._most_unpacked), _CHUNK)
        except OSError as error:
            reason = f"cannot be read: {error.strerror or error}"
            raise TrajectoryError(reason, source=self.name) from error
        try:
            return self._as_utf8(stream)
        except RecordError:
            stream.close()
            raise

    def _as_utf8(self, stream: io.BufferedReader) -> io.BufferedReader:
        head = stream.peek(64)[:64]
        marked = ((mark, name) for mark, name in _MARKS if head.startswith(mark))
        mark, encoding = next(marked, (b"", "utf-8"))
        stream.read(len(mark))
        if encoding == "utf-8":
            return stream
        with stream:
            data = stream.read(self.limits.session_bytes + 1)
        if len(data) > self.limits.session_bytes:
            what = f"{encoding.upper()} text of more than {human_size(self.limits.session_bytes)}"
            raise RecordError(what, hint="save the log as UTF-8")
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as error:
            what = f"the text is not valid {encoding.upper()}"
            raise RecordError(what, hint="save the log as UTF-8") from error
        return io.BufferedReader(io.BytesIO(text.encode("utf-8", "replace")))

    def _stopped(self, error: RecordError | OSError, position: str) -> RecordError:
        if isinstance(error, OSError):
            error = RecordError(f"cannot be read on: {error.strerror or error}")
        return located(error, self.name, position)

    def _hole(self, position: str) -> RecordError:
        reason = "a hole of NUL bytes, as a crash leaves one: something may be lost here"
        return RecordError(reason, source=self.name, position=position)

    def _too_long(self, position: str | None) -> RecordError:
        reason = f"a record of more than {human_size(self.limits.record_bytes)}"
        hint = "split it, or leave out what will not be read"
        return RecordError(reason, source=self.name, position=position, hint=hint)


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
