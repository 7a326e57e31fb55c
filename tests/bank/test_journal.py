"""The journal's end decides what counts, however the last writer was stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank import journal as journal_module
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.disk.files import backwards, forwards
from deltamem_tui.bank.journal import Commit, Journal
from deltamem_tui.errors import BankCorruptError, BankError
from tests.bank.support import contents, learn_one, learnt, manifest, node, vector


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return learnt(tmp_path / "bank", 3)


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
    monkeypatch.setattr(files, "_BLOCK", block)
    journal, tail = Journal(tmp_path / "journal.jsonl"), None
    for number in range(9):
        detail = {"text": "x" * (number * 37 % 200)}
        tail = journal.append(tail, Commit(sequence=number, event="learn", detail=detail))
    with journal.path.open("ab") as stream:
        stream.write(torn)
    assert list(journal.newest_first()) == list(journal.commits())[::-1]
    assert journal.tail() == tail


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


LIMIT = 100


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_BLOCK", 16)


@pytest.mark.parametrize("torn", [0, 1, 99])
@pytest.mark.parametrize("length", [1, 15, 16, 17, 99, 100])
def test_a_line_of_every_length_that_it_may_have_is_found_from_both_ends(
    tmp_path: Path, length: int, torn: int
) -> None:
    path = tmp_path / "lines"
    lines = [b"x" * (length - 1) + b"\n", b"\n", b"y" * (length - 1) + b"\n"]
    path.write_bytes(b"".join(lines) + b"z" * torn)
    assert list(forwards(path, LIMIT)) == lines
    assert [line for line, _ in backwards(path, LIMIT)] == lines[::-1]
    ends = [end for _, end in backwards(path, LIMIT)]
    assert ends == [2 * length + 1, length + 1, length]


@pytest.mark.parametrize("length", [101, 102, 130, 1000])
def test_a_longer_one_is_refused_from_both_ends_behind_what_could_be_read(
    tmp_path: Path, length: int
) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"a\n" + b"x" * (length - 1) + b"\nb\n")
    for lines, first in (
        (forwards(path, LIMIT), b"a\n"),
        (backwards(path, LIMIT), (b"b\n", length + 4)),
    ):
        assert next(lines) == first
        with pytest.raises(BankCorruptError, match="more than the 100 bytes"):
            next(lines)


def test_what_has_no_newline_is_no_line_and_is_not_all_read(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"x" * 99)
    assert not list(forwards(path, LIMIT))
    assert not list(backwards(path, LIMIT))
    path.write_bytes(b"x" * 10_000)
    for lines in (forwards(path, LIMIT), backwards(path, LIMIT)):
        with pytest.raises(BankCorruptError, match="more than the 100 bytes"):
            next(lines)
