"""A stream of lines of which none fills the memory."""

from __future__ import annotations

import io
from typing import BinaryIO


class BoundedLines(io.RawIOBase):
    """A stream whose lines are cut off behind a number of bytes, so that none fills the memory.

    A message that is cut is not JSON any more, and is treated like other noise.
    """

    def __init__(self, stream: BinaryIO, longest: int) -> None:
        self._stream = stream
        self._longest = longest
        self._length = 0

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        """Read some bytes; 0 if the stream has ended."""
        while read := self._stream.read1(len(buffer)):  # type: ignore[attr-defined]
            if kept := self._bounded(read):
                buffer[: len(kept)] = kept
                return len(kept)
        return 0

    def _bounded(self, read: bytes) -> bytes:
        lines = []
        for line in read.splitlines(keepends=True):
            ended = line.endswith(b"\n")
            room = max(self._longest - self._length, 0)
            lines.append(line if len(line) <= room else line[:room] + b"\n" * ended)
            self._length = 0 if ended else self._length + len(line)
        return b"".join(lines)
