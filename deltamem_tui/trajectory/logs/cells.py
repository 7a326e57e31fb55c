"""Tables as text: rows of cells between commas, semicolons or tabs."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import chain

from deltamem_tui.errors import RecordError
from deltamem_tui.text import one_line


def rows_of(lines: Iterable[str]) -> Iterator[tuple[list[str], str]]:
    """Yield the cells of each row that has some, and the line on which it ends.

    Raises:
        RecordError: The rest is no table.
    """
    plain = (line.replace("\r", " ").replace("\0", " ").lstrip("\ufeff") for line in lines)
    begun = []
    for line in plain:
        begun.append(line)
        if line.strip(",;\t "):  # the first row with something in it shows what is between cells
            break
    # A cell in quotation marks may have line breaks in it.
    text = (f"{line}\n" for line in chain(begun, plain))
    reader = csv.reader(text, delimiter=max(",;\t", key="".join(begun[-1:]).count))
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield cells, f"line {reader.line_num}"
    except csv.Error as error:
        raise RecordError(
            f"a row that is not a row of a table: {one_line(str(error), 120)}",
            position=f"line {reader.line_num}",
            hint="leave out long columns, and look for a quotation mark without its partner",
        ) from error
