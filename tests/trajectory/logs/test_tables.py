from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib import resources
from pathlib import Path

import orjson
import pytest

from deltamem_tui.errors import LogFormatError, RecordError
from deltamem_tui.trajectory.logs import tables
from deltamem_tui.trajectory.logs.record import LogLimits, Notice
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.reading import read_logs
from tests.trajectory.readers.samples import first_logs


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A database of opencode's, in a folder of its own."""
    path = tmp_path / "opencode" / "opencode.db"
    path.parent.mkdir()
    path.write_bytes(first_logs()["opencode-store"][1])
    return path


def files(folder: Path) -> dict[str, bytes]:
    """The files of a folder without that in which SQLite notes who is reading."""
    kept = (path for path in folder.iterdir() if not path.name.endswith("-shm"))
    return {path.name: path.read_bytes() for path in kept}


@pytest.fixture
def running(store: Path) -> Iterator[Path]:
    """The same while its program runs: the last session lies in the file beside it."""
    with closing(sqlite3.connect(store)) as program:
        program.execute("PRAGMA journal_mode = WAL")
        program.execute("PRAGMA wal_autocheckpoint = 0")
        said = [("m8", {"role": "user"}, "Sort it"), ("m9", {"role": "assistant"}, "Sorted.")]
        for name, data, text in said:
            row = (name, orjson.dumps(data).decode())
            program.execute("INSERT INTO message VALUES (?1, 's3', 9, ?2)", row)
            part = (name, orjson.dumps({"type": "text", "text": text}).decode())
            program.execute("INSERT INTO part VALUES ('p' || ?1, ?1, ?2)", part)
        program.commit()
        yield store


def test_a_store_is_read_while_its_program_writes_and_never_touched(running: Path) -> None:
    before = files(running.parent)
    found = [each for each in read_logs(running.parent) if isinstance(each, Trajectory)]
    assert [each.task for each in found] == ["Fix the sum", "Sort it"]
    assert files(running.parent) == before
    assert "opencode.db-wal" in before


def test_what_is_written_while_a_store_is_read_is_not_half_seen(running: Path) -> None:
    reading = read_logs(running)
    first = next(reading)
    with closing(sqlite3.connect(running)) as program:
        program.execute("DELETE FROM part WHERE message_id = 'm9'")
        program.commit()
        program.execute("PRAGMA wal_checkpoint")
        found = [each for each in (first, *reading) if isinstance(each, Trajectory)]
    assert found[-1].steps[-1].action == "Sorted."


def test_a_store_that_is_no_log_is_skipped_beside_logs_and_refused_by_name(store: Path) -> None:
    other = store.with_name("state.db")
    with closing(sqlite3.connect(other)) as made:
        made.execute("CREATE TABLE settings (name, value)")
    told = [each for each in read_logs(store.parent) if isinstance(each, Notice)]
    assert told[-1].source == "state.db"
    with pytest.raises(LogFormatError):
        list(read_logs(other))


@pytest.mark.parametrize(
    ("limits", "units", "reason"),
    [
        (LogLimits(session_bytes=300), 200, "rows that belong together"),
        (LogLimits(record_bytes=40), 200, "the database cannot be read"),
        (LogLimits(), 0, "the database cannot be read: interrupted"),
    ],
)
def test_a_store_that_asks_for_too_much_is_refused(
    store: Path, monkeypatch: pytest.MonkeyPatch, limits: LogLimits, units: int, reason: str
) -> None:
    monkeypatch.setattr(tables, "_FREE_UNITS", units)
    monkeypatch.setattr(tables, "_UNIT", 50)
    found = list(read_logs(store, format="opencode-store", limits=limits))
    assert isinstance(found[-1], RecordError)
    assert reason in str(found[-1])


@pytest.mark.parametrize("column", ["session_id", "data"])
def test_a_column_that_is_not_there_is_told(store: Path, column: str) -> None:
    with closing(sqlite3.connect(store)) as program:
        program.execute(f"ALTER TABLE message RENAME COLUMN {column} TO other")
        program.commit()
    (found,) = read_logs(store, format="opencode-store")
    assert isinstance(found, RecordError)
    assert f"no column `{column}` in table `message`" in str(found)


def test_rows_without_an_id_that_others_go_by_are_told(store: Path) -> None:
    own = resources.files("deltamem_tui.trajectory.readers.formats").joinpath("opencode-store.toml")
    declared = store.with_name("mine.toml")
    text = own.read_text().replace('"time_created", "id"', '"time_created"')
    declared.write_text(text.replace("opencode-store", "mine"))
    with closing(sqlite3.connect(store)) as program:
        program.execute("ALTER TABLE message RENAME COLUMN id TO other")
        program.commit()
    found = list(read_logs(store, format=str(declared)))
    assert "rows of message have no `id`" in str(found[0])


def test_a_store_with_half_of_a_change_is_refused(store: Path) -> None:
    with closing(sqlite3.connect(store)) as program:
        program.execute("PRAGMA cache_spill = 1")
        program.execute("PRAGMA cache_size = 1")
        program.execute("BEGIN")
        program.execute("CREATE TABLE other AS SELECT randomblob(100000) FROM message")
        program.execute("UPDATE message SET data = 'half'")
        (found,) = read_logs(store, format="opencode-store")
    assert isinstance(found, RecordError)
    assert "being written" in str(found)
