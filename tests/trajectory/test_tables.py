"""Tables in text files, however a spreadsheet wrote them."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.outcome_file import Row, table_rows
from tests.effort import examples

KNOWN = frozenset({"id", "success", "reward"})
# What a log's text keeps as it is, and no cell is only space; commas, quotation marks and letters
# of all kinds among it.
CELLS = st.text(
    st.characters(min_codepoint=0x20, exclude_categories=["C", "Z"]) | st.sampled_from(',;\t" '),
    min_size=1,
    max_size=12,
).map(str.strip)


def read(tmp_path: Path, content: str | bytes, known: frozenset[str] = KNOWN) -> list[Row]:
    path = tmp_path / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(table_rows(Log(path.name, path), known))


def written(rows: Sequence[Sequence[str]], delimiter: str, **options: object) -> str:
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, **options).writerows(rows)  # type: ignore[arg-type]
    return stream.getvalue()


@examples(60, one_folder=True)
@given(
    rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5),
    delimiter=st.sampled_from(",;\t"),
    ending=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]),
)
def test_what_a_spreadsheet_writes_is_read_back(
    tmp_path: Path,
    rows: list[tuple[str, str]],
    delimiter: str,
    ending: str,
    quoting: int,
    encoding: str,
) -> None:
    header = delimiter.join(["id", "success"]) + ending
    text = header + written(rows, delimiter, lineterminator=ending, quoting=quoting)
    if encoding in ("utf-16-le", "utf-16-be"):
        text = "\ufeff" + text
    expected: list[Row] = [
        ({"id": first, "success": second}, f"row {number}")
        for number, (first, second) in enumerate(rows, 2)
        if first or second
    ]
    assert read(tmp_path, text.encode(encoding)) == expected


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_without_a_header_a_row_is_an_id_and_its_outcome(tmp_path: Path, delimiter: str) -> None:
    content = f"a{delimiter}true\nb{delimiter}0.5\n"
    assert read(tmp_path, content) == [
        ({"id": "a", "outcome": "true"}, "row 1"),
        ({"id": "b", "outcome": "0.5"}, "row 2"),
    ]


def test_a_list_of_ids_is_a_table_of_one_column(tmp_path: Path) -> None:
    assert read(tmp_path, "a\nb\n") == [({"id": "a"}, "row 1"), ({"id": "b"}, "row 2")]


def test_names_of_columns_in_any_letters_and_with_spaces(tmp_path: Path) -> None:
    ((cells, position),) = read(tmp_path, " ID , Success \n a , yes \n")
    assert (cells, position) == ({"id": "a", "success": "yes"}, "row 2")


def test_empty_rows_and_empty_cells_behind_the_last_column_are_nothing(tmp_path: Path) -> None:
    content = "id,success\n\n,\na,yes,,\n  \nb,no\n"
    assert [cells for cells, _ in read(tmp_path, content)] == [
        {"id": "a", "success": "yes"},
        {"id": "b", "success": "no"},
    ]


def test_a_row_that_is_too_short_lacks_the_last_columns(tmp_path: Path) -> None:
    assert read(tmp_path, "id,success\na\n") == [({"id": "a"}, "row 2")]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_spreadsheets_own_first_line_names_the_delimiter(tmp_path: Path, delimiter: str) -> None:
    content = f'sep={delimiter}\r\nid{delimiter}success\r\n"a,;\t"{delimiter}yes\r\n'
    assert read(tmp_path, content) == [({"id": "a,;", "success": "yes"}, "row 3")]


@pytest.mark.parametrize("before", ["\n", " \r\n\n", ",\n", "\nsep=,\n", "sep=,\n\n"])
def test_empty_lines_before_the_header_are_nothing(tmp_path: Path, before: str) -> None:
    row = f"row {before.count(chr(10)) + 2}"
    assert read(tmp_path, f"{before}id,success\na,yes\n") == [({"id": "a", "success": "yes"}, row)]


@pytest.mark.parametrize("content", ["\n,\n", " \n,,\n"])
def test_empty_lines_alone_have_no_rows(tmp_path: Path, content: str) -> None:
    assert read(tmp_path, content) == []


def test_a_table_of_a_spreadsheets_own_line_alone_has_no_rows(tmp_path: Path) -> None:
    assert read(tmp_path, "sep=;\n") == []


def test_a_cell_may_hold_the_delimiter_and_quotation_marks(tmp_path: Path) -> None:
    ((cells, _),) = read(tmp_path, 'id,success\n"a ""b"", c",true\n')
    assert cells == {"id": 'a "b", c', "success": "true"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("sep=|\nid|outcome\nb|failure\n", r"line 1: a table whose cells are parted by `\|`"),
        ("id,success,Success\na,1,1\n", "two columns success"),
        ("id,success\na,1,2\n", "3 cells, where 2 are expected"),
        ("a,1\nb,1,2\n", "row 2: 3 cells, where 2 are expected"),
        ("id,success\na," + "x" * 140_000 + "\n", "line 2: a row that is no row of a table"),
    ],
)
def test_tables_that_cannot_be_read(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(RecordError, match=words):
        read(tmp_path, content)
