"""One file of a bank as text that people, and programs that compare lines, can read.

Nodes come as paragraphs, each as its last line has it; counters as one row a line; vectors,
which say nothing to anybody, as a digest a row. What a file is, is seen by its content: a
program that compares versions hands over copies with other names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from deltamem_tui.bank.collection import LINE_KEYS, RARE_KEYS
from deltamem_tui.bank.disk import files
from deltamem_tui.errors import BankCorruptError
from deltamem_tui.text import clean, one_line

_MAGIC = b"\x93NUMPY"


def readable(path: Path) -> Iterator[str]:
    """The lines of a file's text form, cleaned.

    Raises:
        BankCorruptError: It is an array that numpy does not open without pickle.
        StorageError: It cannot be read.
    """
    with files.storage_errors(path), path.open("rb") as stream:
        begin = stream.read(len(_MAGIC))
    if begin == _MAGIC:
        yield from _array(path)
    elif _is_nodes(path):
        yield from _nodes(path)
    else:
        yield from _text(path)


def _array(path: Path) -> Iterator[str]:
    try:
        values = np.atleast_1d(np.load(path, mmap_mode="r", allow_pickle=False))
    except (ValueError, OSError, EOFError) as error:
        raise BankCorruptError(f"not an array: {one_line(str(error))}", source=str(path)) from error
    if values.dtype.names:
        yield f"an index of {len(values)} lines"
        return
    yield f"{values.dtype} [{', '.join(map(str, values.shape))}]"
    for row, value in enumerate(values):
        if values.dtype.kind == "f":
            yield f"{row}: {hashlib.sha256(value.tobytes()).hexdigest()[:16]}"
        else:
            yield f"{row}: {' '.join(map(str, np.atleast_1d(value).tolist()))}"


def _is_nodes(path: Path) -> bool:
    with files.storage_errors(path), path.open("rb") as stream:
        record = _record(stream.readline())
    return record is not None and record.keys() >= {"id", "kind", "label"}


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return record if isinstance(record, dict) else None


def _nodes(path: Path) -> Iterator[str]:
    last: dict[str, bytes] = {}
    with files.storage_errors(path), path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            record = _record(line)
            # A line that cannot be read is still a difference to be seen.
            last[str(record.get("id")) if record else f"line {number}"] = line
    for name, line in last.items():
        record = _record(line)
        yield from [f"{name} cannot be read"] if record is None else _paragraph(record)
        yield ""


def _paragraph(record: dict[str, Any]) -> Iterator[str]:
    marks = [one_line(str(record.get(key))) for key in ("kind", "label")]
    marks += [mark for mark in ("consolidated", "deleted") if record.get(mark)]
    yield f"{one_line(str(record.get('id')))} {' '.join(marks)}, revision {record.get('revision')}"
    if record.get("parent"):
        yield f"  below {one_line(str(record['parent']))}"
    for key, value in record.items():
        if key not in (*LINE_KEYS, *RARE_KEYS):
            for line in clean(str(value or "")).splitlines():
                yield f"  {one_line(key)}: {line}"


def _text(path: Path) -> Iterator[str]:
    with files.storage_errors(path), path.open("rb") as stream:
        for line in stream:
            yield clean(line.decode(errors="replace").rstrip("\n"))
