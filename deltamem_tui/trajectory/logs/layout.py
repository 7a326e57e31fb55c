"""How a log is laid out, told from its first bytes and never from its name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.json_text import parse_json
from deltamem_tui.trajectory.logs.record import Layout

_NUL = b"\x00"
_NOTEBOOK = re.compile(rb'\s*\{\s*"(?:cells|nbformat|metadata)"')
_NOTEBOOK_MARKS = (b'"cells"', b'"cell_type"')
_SNIFFED_LINES = 20
_OBJECT_START = re.compile(rb'\s*\{\s*["}]')
_ARRAY_START = re.compile(rb"\s*\[\s*[\[{\]]")
# Files that are not text, by their first bytes: what to report.
_ZIP = b"PK\x03\x04"
_BINARY_KINDS = (
    (b"\x1f\x8b", "gzip data inside gzip data; unpack it first"),
    (b"\xfd7zXZ", "xz data; unpack it first"),
    (b"BZh", "bzip2 data; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "zstandard data; unpack it first"),
    (b"PAR1", "a Parquet file; export it as JSONL"),
    (b"SQLite format 3", "an SQLite database; export it as JSONL"),
    (b"\x80", "perhaps a pickle, and those are never opened; export it as JSONL"),
)


def layout_of(head: bytes) -> Layout:
    """Return the layout of a log."""
    if not head.strip():
        return "empty"
    if head.startswith(_ZIP):
        return "zip"
    if head.startswith(tuple(magic for magic, _ in _BINARY_KINDS)):
        return "binary"
    if _NUL in head:
        # A crash leaves a hole of them in a log; among them a program's own data has no JSON.
        layout = layout_of(head.replace(_NUL, b""))
        return layout if layout in ("lines", "array", "values") else "binary"
    lines = [line for line in head.splitlines() if line.strip()][:_SNIFFED_LINES]
    if begins_array(head):
        more = len(lines) > 1 and lines[1].lstrip()[:1] in (b"{", b"[")
        return "lines" if more and _is_container(lines[0]) else "array"
    if _NOTEBOOK.match(head) and all(mark in head for mark in _NOTEBOOK_MARKS):
        return "notebook"
    if _OBJECT_START.match(head):
        return "lines" if any(map(_is_container, lines)) else "values"
    return _layout_after_garbage(lines)


def binary_kind(head: bytes) -> str:
    """Return what a log that is not text seems to be, and what to do about it."""
    unknown = "binary data; if it holds a log, export it as JSONL"
    return next((kind for magic, kind in _BINARY_KINDS if head.startswith(magic)), unknown)


def begins_array(data: bytes) -> bool:
    """Return True if the bytes are the beginning of a JSON array of records."""
    return _ARRAY_START.match(data) is not None


def output_lines(notebook: object) -> Iterator[tuple[int, int, str]]:
    """Yield the lines of a notebook's cells: numbers of cell and line, and the text."""
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    for number, cell in enumerate(cells if isinstance(cells, list) else (), 1):
        outputs = cell.get("outputs") if isinstance(cell, dict) else None
        printed = "".join(map(_printed, outputs if isinstance(outputs, list) else ()))
        for line, text in enumerate(printed.splitlines(), 1):
            yield number, line, text


def _printed(output: object) -> str:
    """Return an output's text; printing may be cut into many outputs, anywhere in a line."""
    if not isinstance(output, dict):
        return ""
    if output.get("output_type") == "stream" and output.get("name") == "stderr":
        return ""
    data = output.get("data")
    text = output.get("text") or (data.get("text/plain") if isinstance(data, dict) else None)
    parts = text if isinstance(text, list) else [text]
    return "".join(part for part in parts if isinstance(part, str))


def _layout_after_garbage(lines: list[bytes]) -> Layout:
    """Return the layout of JSON behind a few strange bytes or lines, or of plain text."""
    for index, line in enumerate(lines):
        start = line.find(b"{")
        if start < 0:
            continue
        rest = lines[index + 1 :]
        # The last line may be cut by the end of the head, so how it begins must do.
        if _is_container(line[start:]) and all(other.startswith(b"{") for other in rest):
            return "lines"
        if start == 0 and _are_records(rest):  # only this line is broken
            return "lines"
        opens = line[start:].strip() == b"{" and (start == 0 or index == 0)
        if opens and rest and rest[0].lstrip().startswith(b'"'):
            return "values"
        # The brace was the garbage's. After it, only whole lines up to the end are records.
        first = next((i for i, other in enumerate(rest) if other[:1] == b"{"), len(rest))
        return "lines" if _are_records(rest[first:]) or _are_records(rest[first + 1 :]) else "text"
    return "text"


def _are_records(lines: list[bytes]) -> bool:
    return bool(lines) and _is_container(lines[0]) and all(line.startswith(b"{") for line in lines)


def _is_container(line: bytes) -> bool:
    if line[:1] not in (b"{", b"["):
        return False
    try:
        value = parse_json(line.decode("utf-8", "replace").encode())
    except RecordError:
        return False
    return isinstance(value, dict | list) and bool(value)
