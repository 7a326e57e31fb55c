"""Notebooks: what their cells printed, as lines of text. Code and pictures are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BEGINNING = re.compile(rb'\s*\{\s*"(?:cells|nbformat|metadata)"')
_MARKS = (b'"cells"', b'"cell_type"')


def begins_notebook(head: bytes) -> bool:
    """Whether a log is a notebook, told from its beginning."""
    return _BEGINNING.match(head) is not None and all(mark in head for mark in _MARKS)


def output_lines(notebook: object) -> Iterator[tuple[int, int, str]]:
    """The lines that a notebook's cells printed.

    Args:
        notebook: The parsed notebook.

    Yields:
        The cell, counted from 1; the line in all that the cell printed, counted from 1;
        and the line.
    """
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    for number, cell in enumerate(cells if isinstance(cells, list) else (), 1):
        outputs = cell.get("outputs") if isinstance(cell, dict) else None
        printed = "".join(map(_printed, outputs if isinstance(outputs, list) else ()))
        for line, text in enumerate(printed.splitlines(), 1):
            yield number, line, text


def _printed(output: object) -> str:
    """An output's text; printing may be cut into many outputs, anywhere in a line."""
    if not isinstance(output, dict):
        return ""
    if output.get("output_type") == "stream" and output.get("name") == "stderr":
        return ""
    data = output.get("data")
    text = output.get("text") or (data.get("text/plain") if isinstance(data, dict) else None)
    if isinstance(text, list):
        return "".join(part for part in text if isinstance(part, str))
    return text if isinstance(text, str) else ""
