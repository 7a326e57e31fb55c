"""The bytes of a log, unpacked: how they begin, its lines, and its JSON values as they stand.

Nothing is parsed here. What cannot be read comes as an error in its place, and what follows it
after it, as far as the bytes can be told apart.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.trajectory.logs.json_text import ValueCutter
from deltamem_tui.trajectory.logs.layout import NUL
from deltamem_tui.trajectory.logs.record import LogLimits, ReadProgress, Value, human_size, located
from deltamem_tui.trajectory.logs.streams import open_utf8
from deltamem_tui.trajectory.secrets.redaction import quoted

HEAD_BYTES = 64 * 1024
"""How much of a log is looked at to tell what it is."""
_CHUNK = 1 << 20
_SHOWN_BYTES = 4096
_BLANK_RUN = 1000  # no text has more blank lines on end; those that follow are not reported


@dataclass(frozen=True)
class Content:
    """The content of a log, which can be read from its start any number of times.

    The attributes are those of the `Log`.
    """

    name: str
    path: Path
    limits: LogLimits
    progress: ReadProgress | None = None

    def head(self) -> bytes:
        """Return the first 64 KB, or the whole first line where that is longer.

        Compressed data that is cut short before is what there is; that it is cut is reported when
        it is read.

        Raises:
            TrajectoryError: The file cannot be opened, or its compression is damaged.
        """
        head = b""
        try:
            with open_utf8(self.path, self.name, self.limits) as stream:
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
        """Return all of it.

        Raises:
            RecordError: It is larger than a record may be.
        """
        with open_utf8(self.path, self.name, self.limits, self.progress) as stream:
            data = stream.read(self.limits.record_bytes + 1)
        if len(data) > self.limits.record_bytes:
            raise self._too_long(None)
        return data

    def lines(self) -> Iterator[tuple[int, bytes | RecordError]]:
        """Numbered lines without their line break; overlong ones are passed over unread."""
        most = self.limits.record_bytes
        number = blanks = 0
        try:
            with open_utf8(self.path, self.name, self.limits, self.progress) as stream:
                while data := stream.readline(most + 1):
                    number += 1
                    blanks = blanks + 1 if data.isspace() else 0
                    if blanks > _BLANK_RUN:
                        number += _pass_blank_lines(stream)
                        continue
                    if len(data) > most and not data.endswith(b"\n"):
                        while (rest := stream.readline(_CHUNK)) and not rest.endswith(b"\n"):
                            pass
                        yield number, self._too_long(f"line {number}")
                        continue
                    line = data.rstrip(b"\r\n")
                    told = line.strip(NUL)
                    if number > 1 and len(told) < len(line):
                        yield number, self._hole(f"line {number}")
                    yield number, told
        except (RecordError, OSError) as error:
            yield number + 1, self._stopped(error, f"line {number + 1}")

    def line_values(self) -> Iterator[Value | RecordError]:
        """Yield a value a line; blank lines hold none."""
        for number, data in self.lines():
            if isinstance(data, RecordError):
                yield data
            elif data and not data.isspace():
                yield Value(data, f"line {number}")

    def cut_values(self, *, in_array: bool) -> Iterator[Value | RecordError]:
        """Values one after another, however they are broken into lines."""
        count = 0
        cutter = ValueCutter(self.limits, in_array=in_array)
        try:
            with open_utf8(self.path, self.name, self.limits, self.progress) as stream:
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
                            error = RecordError(cut.reason, source=self.name, position=where)
                            yield self.refused(error) if ended else error
                        count += cut.kind != "junk"
        except (RecordError, OSError) as error:
            yield self._stopped(error, f"record {count + 1}")

    def no_values(self) -> Iterator[RecordError]:
        """Yield where text begins that was to be JSON."""
        for number, data in self.lines():
            if isinstance(data, RecordError):
                yield data
                return
            if data.strip():
                shown = quoted(data[:_SHOWN_BYTES].decode("utf-8", "replace"), 60)
                reason = f"not JSON: {shown}"
                yield RecordError(reason, source=self.name, position=f"line {number}")
                return

    @cached_property
    def size_before(self) -> int:
        """How long the file was when it was first looked at."""
        with suppress(OSError):
            return self.path.stat().st_size
        return 0

    def refused(self, error: RecordError) -> RecordError:
        """Return a refusal, with what is most likely behind it if the file is not what it was."""
        with suppress(OSError):
            if self.path.stat().st_size < self.size_before:
                error.hint = "the file became shorter while it was read: import it again"
        return error

    def _stopped(self, error: RecordError | OSError, position: str) -> RecordError:
        """Return why a log cannot be read on from here."""
        if isinstance(error, OSError):
            error = RecordError(f"cannot be read on: {error.strerror or error}")
        return located(error, self.name, position)

    def _hole(self, position: str) -> RecordError:
        return RecordError(
            "a hole of NUL bytes, as a crash leaves one: something may be lost here",
            source=self.name,
            position=position,
        )

    def _too_long(self, position: str | None) -> RecordError:
        return RecordError(
            f"a record of more than {human_size(self.limits.record_bytes)}",
            source=self.name,
            position=position,
            hint="split it, or leave out what will not be read",
        )


def _pass_blank_lines(stream: io.BufferedReader) -> int:
    """Read on to the next line that says something, and count the lines passed."""
    count = 0
    while ahead := stream.peek(1):
        blank = len(ahead) - len(ahead.lstrip())
        end = ahead.rfind(b"\n", 0, blank) + 1
        if not end:
            break
        count += stream.read(end).count(b"\n")
    return count
