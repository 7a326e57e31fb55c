"""The files of a run, read again: each whole and of its kind, or one line says what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from deltamem_tui.bank.disk import files
from deltamem_tui.errors import UsageError
from deltamem_tui.text import one_line
from deltamem_tui.typed import decoded, decoder_of

_MOST_BYTES = 256 * 2**20
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

StructT = TypeVar("StructT", bound=Struct)


def read_object(path: Path, kind: type[StructT]) -> StructT:
    """What a file of JSON holds.

    Raises:
        UsageError: It is damaged.
        StorageError: It cannot be read.
    """
    data = _data(path)
    try:
        return decoded(data, kind)
    except _UNREADABLE as error:
        raise damaged(path, str(error)) from error


def read_lines(path: Path, kind: type[StructT]) -> Iterator[StructT]:
    """What a file of JSON lines holds; nothing if it is not there.

    The last line is left out if it does not end or cannot be read: a power failure may have cut
    it off.

    Raises:
        UsageError: Another line is damaged.
        StorageError: It cannot be read.
    """
    decoder = decoder_of(kind)
    lines = _data(path).split(b"\n")[:-1] if path.exists() else []
    for number, line in enumerate(lines, 1):
        try:
            yield decoder.decode(line)
        except _UNREADABLE as error:
            if number < len(lines):
                raise damaged(path, str(error), f"line {number}") from error


def cut_last_line(path: Path, kind: type[Struct]) -> None:
    """Take the last line of a file away if it is not whole, so that others can follow."""
    if not path.exists():
        return
    data = _data(path)
    whole = data[: data.rfind(b"\n") + 1]
    begin = whole.rfind(b"\n", 0, -1) + 1
    try:
        decoded(whole[begin:], kind)
    except _UNREADABLE:
        whole = whole[:begin]
    files.truncate(path, len(whole))


def damaged(path: Path, reason: str, position: str | None = None) -> UsageError:
    """The error of a file that is not as the run left it."""
    return UsageError(
        f"not the run of an evaluation: {one_line(reason, 120)}",
        source=one_line(str(path), 200),
        position=position,
        hint="put it back, or remove the run's folder to play it again",
    )


def _data(path: Path) -> bytes:
    with files.storage_errors(path):
        if path.stat().st_size > _MOST_BYTES:
            raise damaged(path, "it is too large")
        return path.read_bytes()
