"""The journal's end decides what counts, however the last writer was stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank import journal as journal_module
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import archive
from deltamem_tui.bank.journal import Commit, Extent, Journal, parse
from deltamem_tui.errors import BankCorruptError, BankError
from tests.bank.support import contents, learn_one, learnt, manifest, node, vector

COMMIT = Commit(
    sequence=4,
    event="learn",
    time="2026-01-01T00:00:00Z",
    detail={"why": ["ä", 1]},
    extents={"task": Extent(3, 900)},
    cells={"task": {0: [1, 2, 3]}},
)


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return learnt(tmp_path / "bank", 3)


def test_a_commit_comes_back_as_it_was_written() -> None:
    assert parse(COMMIT.line(), "journal.jsonl", "line 1") == COMMIT


@pytest.mark.parametrize("torn", [b'{"sequence": 4', b"\0" * 200_000, b"\xff", b" "])
def test_what_follows_the_last_newline_was_never_acknowledged(bank: Bank, torn: bytes) -> None:
    before = contents(bank)
    path = bank.journal.path
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    opened = Bank.open(bank.path)
    assert contents(opened) == before
    learn_one(opened, 3)
    assert path.read_bytes().startswith(whole)
    assert [commit.sequence for commit in opened.journal.commits()] == [0, 1, 2, 3, 4]


def test_a_last_line_that_lost_its_newline_is_taken_back(bank: Bank) -> None:
    learn_one(bank, 3)
    path = bank.journal.path
    path.write_bytes(path.read_bytes()[:-1])
    opened = Bank.open(bank.path)
    assert opened.commit.sequence == 3
    assert len(opened.tree("task")) == 3


@pytest.mark.parametrize(
    "text", [b"", b"\0" * 70_000, b"{}", b"\n", b"{}\n", b"nonsense\n", b'{"sequence": 1}\n']
)
def test_a_journal_without_a_last_commit_is_an_error_that_says_where(
    bank: Bank, text: bytes
) -> None:
    bank.journal.path.write_bytes(text)
    with pytest.raises(BankCorruptError, match=r"journal\.jsonl") as caught:
        Bank.open(bank.path)
    remedy = "`deltamem bank verify --repair`" if text.endswith(b"\n") else "restore the file"
    assert remedy in str(caught.value)


def edited(bank: Bank, **changes: Any) -> None:
    """Write other values into the last line."""
    lines = bank.journal.path.read_bytes().splitlines(keepends=True)
    record = json.loads(lines[-1]) | changes
    bank.journal.path.write_bytes(b"".join(lines[:-1]) + json.dumps(record).encode() + b"\n")


@pytest.mark.parametrize(
    "changes",
    [
        {"sequence": None},
        {"sequence": -1},
        {"sequence": "4"},
        {"sequence": 2**63},
        {"extents": {}, "cells": {"task": [[10**9, 1, 1, 1]]}},
        {"extents": {"task": [0, 0]}, "cells": {"task": [[0, 1, 1, 1]]}},
        {"detail": [1]},
        {"extents": []},
        {"extents": {"task": [1]}},
        {"extents": {"task": [-1, 0]}},
        {"extents": {"task": [2**80, 0]}},
        {"extents": {"task": [True, 0]}},
        {"extents": {"task": [10**15, 10]}},
        {"cells": {"task": [[0, 2**32, 0, 0]]}},
        {"cells": {"task": [[0, -1, 0, 0]]}},
        {"cells": {"task": [[0, 1]]}},
        {"cells": {"task": [[99, 1, 1, 1]]}},
        {"cells": {"task": [5]}},
        {"cells": {"task": [[]]}},
    ],
)
def test_a_last_line_that_cannot_be_true_is_an_error(bank: Bank, changes: dict[str, Any]) -> None:
    edited(bank, **changes)
    with pytest.raises(BankCorruptError):
        Bank.open(bank.path)


def test_a_damaged_middle_is_told_with_its_line_and_does_not_hinder_reading(bank: Bank) -> None:
    before = contents(bank)
    lines = bank.journal.path.read_bytes().splitlines(keepends=True)
    lines[1] = b"x" + lines[1][1:]
    bank.journal.path.write_bytes(b"".join(lines))
    assert contents(Bank.open(bank.path)) == before
    with pytest.raises(BankCorruptError, match="line 2: not a commit"):
        list(bank.journal.commits())


@pytest.mark.parametrize("torn", [b"", b'{"sequence": 9', b"\0" * 100])
@pytest.mark.parametrize("block", [1, 7, 64, 1000, 100_000])
def test_newest_first_is_the_same_history_the_other_way_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, torn: bytes
) -> None:
    monkeypatch.setattr(archive, "_BLOCK", block)
    journal, tail = Journal(tmp_path / "journal.jsonl"), None
    for number in range(9):
        detail = {"text": "x" * (number * 37 % 200)}
        tail = journal.append(tail, Commit(sequence=number, event="learn", detail=detail))
    with journal.path.open("ab") as stream:
        stream.write(torn)
    assert list(journal.newest_first()) == list(journal.commits())[::-1]
    assert journal.tail() == tail


def test_newest_first_reads_no_further_than_it_is_asked(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    line = Commit(sequence=1, event="learn", detail={"text": "x" * 70_000}).line()
    journal.path.write_bytes(b"no commit\n" + line * 3)
    commits = journal.newest_first()
    assert [next(commits).sequence for _ in range(3)] == [1, 1, 1]
    with pytest.raises(BankCorruptError, match="byte 0: not a commit"):
        next(commits)


def test_a_journal_of_no_whole_line_says_so(bank: Bank) -> None:
    bank.journal.path.write_bytes(b'{"sequence": 0')
    assert list(bank.journal.newest_first()) == []
    with pytest.raises(BankCorruptError, match="holds no whole line"):
        bank.journal.tail()


def test_a_line_that_nobody_could_read_again_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = Bank.create(tmp_path / "bank", manifest())
    learn_one(bank, 0)
    monkeypatch.setattr(journal_module, "_LINE_LIMIT", 1000)
    before = {path.name: path.read_bytes() for path in bank.path.iterdir()}

    def add(length: int) -> None:
        with bank.writing() as batch:
            batch.add_node("task", node(f"new {length}"), vector(5))
            batch.log("learn", {"why": "x" * length})

    with pytest.raises(BankError, match=r"`learn` would have 1,\d\d\d bytes, more than the 1,000"):
        add(1000)
    assert {path.name: path.read_bytes() for path in bank.path.iterdir()} == before
    line = len(bank.commit.line())
    add(1000 - line - 60)
    assert Bank.open(bank.path).commit.sequence == 2
    assert len(list(bank.journal.commits())) == 3


@pytest.mark.parametrize("name", ["task", "trajectories"])
@pytest.mark.parametrize("more", [-1, 1])
def test_lines_are_as_many_as_the_journal_states(bank: Bank, name: str, more: int) -> None:
    table, extent = bank.snapshots[name].table, bank.snapshots[name].extent
    with pytest.raises(BankCorruptError, match="lines"):
        table.build_index(table, table.lines(extent), extent.rows + more)
