"""Tables in a text file: rows of cells, with a header or without."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator

from deltamem_tui.errors import RecordError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Line

# Spreadsheets begin a table so, that others of their kind may know.
_SEPARATOR = re.compile(r"sep=(?P<delimiter>.)\s*")
_DELIMITERS = ",;\t"

Row = tuple[object, str]
"""A row, and where it stands."""


def table_rows(log: Log, known: Collection[str]) -> Iterator[Row]:
    """The rows of a table, as mappings from column to cell.

    Args:
        log: The table, its cells parted by commas, semicolons or tabs.
        known: Names of columns. A first line that has none of them is a row like the others,
            of an id and, if there is a second column, its outcome.

    Raises:
        RecordError: A line cannot be read, a row has more cells than the table has columns,
            two columns have one name, or something else parts its cells.
    """
    all_lines = _readable_lines(log)
    lines, delimiter = _begun(all_lines)
    if not lines:
        return
    first = len(all_lines) - len(lines) + 1
    header, *rows = _cells(lines, delimiter)
    names = [name.strip().lower() for name in header]
    headed = not set(names).isdisjoint(known)
    if not headed:
        rows, names = [header, *rows], ["id", "outcome"]
    twins = [name for name in names if names.count(name) > 1 and name]
    if twins:
        raise RecordError(f"two columns {one_line(twins[0], 60)}", position=f"row {first}")
    for number, row in enumerate(rows, first + headed):
        if any(cell.strip() for cell in row):
            if any(cell.strip() for cell in row[len(names) :]):
                raise RecordError(
                    f"{len(row)} cells, where {len(names)} are expected", position=f"row {number}"
                )
            cells = {name: cell.strip() for name, cell in zip(names, row, strict=False)}
            yield cells, f"row {number}"


def _begun(lines: list[Line]) -> tuple[list[Line], str]:
    """A table's lines from its first row on, and what parts its cells.

    Raises:
        RecordError: It says itself that something else parts them.
    """
    lines = _from_first_row(lines)
    if not lines or not (named := _SEPARATOR.fullmatch(lines[0].text)):
        return lines, max(_DELIMITERS, key=lines[0].text.count) if lines else ""
    if named["delimiter"] not in _DELIMITERS:
        raise RecordError(
            f"a table whose cells are parted by `{one_line(named['delimiter'], 10)}`",
            position=lines[0].position,
            hint="save it with commas, semicolons or tabs between them",
        )
    return _from_first_row(lines[1:]), named["delimiter"]


def _from_first_row(lines: list[Line]) -> list[Line]:
    rows = (i for i, line in enumerate(lines) if line.text.strip(_DELIMITERS + " "))
    return lines[next(rows, len(lines)) :]


def _readable_lines(log: Log) -> list[Line]:
    """All lines of a side file; bytes replaced in one of them are no matter.

    Raises:
        RecordError: A line is missing, since it cannot be read or is too long.
    """
    items = list(log.lines())
    lines = [item for item in items if isinstance(item, Line)]
    there = {line.position for line in lines}
    for item in items:
        if isinstance(item, RecordError) and item.position not in there:
            raise item
    return lines


def _cells(lines: list[Line], delimiter: str) -> list[list[str]]:
    """The cells of a table, row by row.

    Raises:
        RecordError: A cell is longer than the parser takes.
    """
    rows = csv.reader((line.text for line in lines), delimiter=delimiter)
    try:
        return list(rows)
    except csv.Error as error:
        raise RecordError(
            f"a row that is no row of a table: {one_line(str(error), 120)}",
            position=lines[rows.line_num - 1].position,
            hint="leave out long columns, and look for a quotation mark without its partner",
        ) from error
