"""Which commit an undo takes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.journal import Commit
from deltamem_tui.bank.undo import commits_since, last_not_undone
from tests.bank.support import manifest


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return Bank.create(tmp_path / "bank", manifest())


def log(bank: Bank, *commits: tuple[str, object]) -> None:
    for event, undoes in commits:
        with bank.writing() as batch:
            batch.log(event, {} if undoes is None else {"undoes": undoes})


def is_edit(commit: Commit) -> bool:
    return commit.event == "edit"


def last(bank: Bank) -> int | None:
    found = last_not_undone(bank, is_edit)
    return None if found is None else found.sequence


def test_each_undo_uncovers_the_one_before(bank: Bank) -> None:
    assert last(bank) is None
    log(bank, ("edit", None), ("learn", None), ("edit", None))
    assert last(bank) == 3
    log(bank, ("undo", 3), ("learn", None))
    assert last(bank) == 1
    log(bank, ("edit", None))
    assert last(bank) == 6
    log(bank, ("undo", 6), ("undo", 1))
    assert last(bank) is None


@pytest.mark.parametrize("undoes", [[], {}, "1", None, 99])
def test_an_undo_that_names_no_commit_takes_nothing_back(bank: Bank, undoes: object) -> None:
    log(bank, ("edit", None), ("undo", undoes))
    assert last(bank) == 1


def test_what_the_bank_does_not_show_yet_does_not_count(bank: Bank) -> None:
    log(bank, ("edit", None))
    log(Bank.open(bank.path), ("edit", None), ("undo", 1))
    assert last(bank) == 1
    assert [commit.sequence for commit in commits_since(bank, 0)] == [1]
    bank.refresh()
    assert last(bank) == 2
    assert [commit.sequence for commit in commits_since(bank, 1)] == [3, 2]


def test_a_bank_without_a_journal_has_nothing_to_undo(bank: Bank) -> None:
    bank.journal.path.unlink()
    assert last(Bank.open(bank.path)) is None
