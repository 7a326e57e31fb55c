"""The tables of an SQLite store: a stranger's file, opened where it lies and never written.

While its program runs SQLite notes in a file beside it (`-shm`) who reads.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.json_text import parse_json
from deltamem_tui.trajectory.logs.record import LogLimits, Record, human_size, located

MAGIC = b"SQLite format 3\x00"
"""How the file of a store begins."""
# How a journal begins that SQLite would roll back; an empty or zeroed one is none.
_JOURNAL = bytes.fromhex("d9d505f920a163d7")
ASIDE = ("-wal", "-shm", "-journal")
"""What stands behind a store's name in the names of the files beside it."""
# Work that a store may ask for: of a small one, and more for each 100,000 bytes.
_UNIT, _FREE_UNITS, _BYTES_A_UNIT = 1_000_000, 200, 100_000
_ERRORS = (sqlite3.Error, OSError, ValueError)  # names may not be text


class StoredTable(Struct, forbid_unknown_fields=True, frozen=True):
    """A table to be read.

    Attributes:
        within: The table in whose rows these rows are put, as a list under this table's name;
            empty for the one table whose rows are the records.
        by: The column that has the `id` of that row.
        table: The table of the store, if that is not this one's name.
        prefix: How the keys of the rows begin, in a store of keys and values; what is behind it
            is their `id`, and `{id}` in it is that of the row that they are within.
        order: The columns by which the rows are ordered.
        json: The columns that hold JSON; a row in which one does not is refused.
    """

    within: str = ""
    by: str = ""
    table: str = ""
    prefix: str = ""
    order: tuple[str, ...] = ()
    json: tuple[str, ...] = ()

    @property
    def columns(self) -> set[str]:
        """The columns that the table must have."""
        keys = ["key"] if self.prefix else [self.by] if self.within else []
        return {*self.order, *self.json, *keys}


def columns_in(path: Path, limits: LogLimits) -> dict[str, list[str]]:
    """Return the names of a store's tables and of their columns; none if it cannot be read."""
    with suppress(*_ERRORS, RecordError), _opened(path, limits) as store:
        return _columns(store)
    return {}


def rows_in(
    path: Path, tables: Mapping[str, StoredTable], limits: LogLimits
) -> Iterator[Record | RecordError]:
    """Yield the rows of the first table, in each the rows of others that belong to it."""
    position = ""
    try:
        if _is_being_changed(path):
            hint = "import it again when its program has written it"
            raise RecordError("the database is just being written", hint=hint)
        with _opened(path, limits) as store:
            present = _columns(store)
            for name, table in ((each.table or name, each) for name, each in tables.items()):
                if name not in present:
                    raise RecordError(f"no table `{name}` in it")
                # SQLite takes the name of a column that is not there for a text.
                if missing := sorted(table.columns - {*present[name]}):
                    raise RecordError(f"no column `{missing[0]}` in table `{name}`")
            rows = _Rows(store, tables, limits)
            top = next(name for name, table in tables.items() if not table.within)
            for number, row in enumerate(rows.of(top), 1):
                position, rows.held = f"row {number} of {top}", 0
                rows.fill(top, row)
                while rows.refused:
                    yield located(rows.refused.pop(0), "", position)
                yield Record(row, position)
    except _ERRORS as error:
        behind = f"; what stands behind {position} is left out" if position else ""
        yield RecordError(f"the database cannot be read: {error}{behind}")


@contextmanager
def _opened(path: Path, limits: LogLimits) -> Iterator[sqlite3.Connection]:
    """Open a store where it lies: with the rows beside it if its program runs, else as a file."""
    newest = path.with_name(f"{path.name}{ASIDE[0]}")
    more = newest.stat().st_size if newest.is_file() else 0
    address = f"{path.absolute().as_uri()}?{'mode=ro' if more else 'immutable=1'}"
    with closing(sqlite3.connect(address, uri=True)) as store:
        units = iter(range(_FREE_UNITS + (path.stat().st_size + more) // _BYTES_A_UNIT))
        store.set_progress_handler(lambda: next(units, None) is None, _UNIT)
        store.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, limits.record_bytes)
        store.text_factory = lambda data: data.decode("utf-8", "replace")
        store.execute("PRAGMA trusted_schema = OFF")
        store.execute("BEGIN")  # all of it as it is when first asked, whatever is written meanwhile
        yield store


def _is_being_changed(path: Path) -> bool:
    """Tell if the store itself has half of a change.

    Its journal could take that back, but may name other files, which SQLite then deletes.
    """
    journal = path.with_name(f"{path.name}{ASIDE[2]}")
    if not journal.is_file():
        return False
    with journal.open("rb") as stream:
        return stream.read(len(_JOURNAL)) == _JOURNAL


def _columns(store: sqlite3.Connection) -> dict[str, list[str]]:
    # Views and virtual tables have no page: they may run anything.
    asked = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
    names = [name for (name,) in store.execute(asked)]
    column = "SELECT name FROM pragma_table_info(?)"
    return {name: [each for (each,) in store.execute(column, (name,))] for name in names}


class _Rows:
    """Reads rows; counts how much of one record is `held`, and lists what of it is `refused`."""

    def __init__(
        self, store: sqlite3.Connection, tables: Mapping[str, StoredTable], limits: LogLimits
    ) -> None:
        self.held = 0
        self._store, self._tables, self._limits = store, tables, limits
        self.refused: list[RecordError] = []

    def of(self, name: str, owner: object = None) -> Iterator[dict[str, object]]:
        """Yield the rows of a table, those of one row of another if it is within that."""
        table = self._tables[name]
        where, given = (f" WHERE {_quoted(table.by)} = ?", [owner]) if table.within else ("", [])
        prefix = table.prefix.replace("{id}", str(owner))
        if prefix:
            where, given = " WHERE key >= ? AND key < ?", [prefix, f"{prefix}\U0010ffff"]
        order = f" ORDER BY {', '.join(map(_quoted, table.order))}" if table.order else ""
        asked = f"SELECT * FROM {_quoted(table.table or name)}{where}{order}"  # noqa: S608 — quoted
        found = self._store.execute(asked, given)
        names = [column[0] for column in found.description]
        for values in found:
            row = dict(zip(names, values, strict=True))
            self.held += sum(len(each) for each in values if isinstance(each, str | bytes))
            if self.held > self._limits.session_bytes:
                most = human_size(self._limits.session_bytes)
                raise RecordError(f"more than {most} of rows that belong together")
            try:
                parsed = {key: self._parsed(row[key]) for key in table.json}
            except RecordError as error:
                error.message = f"a row of {name}: {error.message}"
                self.refused.append(error)
            else:
                plain = {key: None if isinstance(row[key], bytes) else row[key] for key in row}
                own = {"id": str(row["key"])[len(prefix) :]} if prefix else {}
                yield plain | parsed | own

    def fill(self, name: str, row: dict[str, object]) -> None:
        """Put into a row the rows that belong to it."""
        for other, table in self._tables.items():
            if table.within == name:
                if "id" not in row:
                    raise RecordError(f"rows of {name} have no `id` by which those of {other} go")
                row[other] = found = [*self.of(other, row.get("id"))]
                for each in found:
                    self.fill(other, each)

    def _parsed(self, value: object) -> object:
        data = value.encode("utf-8", "replace") if isinstance(value, str) else value
        if not isinstance(data, bytes):
            return data
        return parse_json(data, self._limits.nesting)


def _quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))
