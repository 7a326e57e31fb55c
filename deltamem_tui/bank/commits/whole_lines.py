"""The whole lines of a file that only grows, from its beginning or from its end.

What lies behind the last newline was never finished, and is no line.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

from deltamem_tui.bank.disk import archive_view, files
from deltamem_tui.errors import BankCorruptError

_BLOCK = 64 * 1024


def forwards(path: Path, limit: int) -> Iterator[bytes]:
    """The lines of a file, first first, each with its newline.

    Args:
        path: The file.
        limit: The most bytes that a line may have, newline included.

    Raises:
        BankCorruptError: A line is longer. The lines before it were given.
        StorageError: The disk refused.
    """
    with files.storage_errors(path), archive_view.opened(path) as stream:
        for number in count(1):
            line = stream.readline(limit)
            if len(line) == limit and not line.endswith(b"\n"):
                raise _too_long(path, limit, f"line {number}")
            if not line.endswith(b"\n"):
                return
            yield line


def backwards(path: Path, limit: int) -> Iterator[tuple[bytes, int]]:
    """The lines of a file, last first, each with its newline and the byte behind that.

    Who stops early has read only the end of the file.

    Args:
        path: The file.
        limit: The most bytes that a line may have, newline included.

    Raises:
        BankCorruptError: A line is longer, or what may be one. The lines behind it were given.
        StorageError: The disk refused.
    """
    with files.storage_errors(path), archive_view.opened(path) as stream:
        start = stream.seek(0, 2)
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
    return BankCorruptError(
        f"the line has more than the {limit:,} bytes it may have",
        source=str(path),
        position=position,
        hint="restore the file from a copy of the bank",
    )
