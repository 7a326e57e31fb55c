"""A bank is called otherwise, and deleted, in one step; never while another process writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank, writers_turn
from deltamem_tui.bank.place import contents, delete, rename
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import BankBusyError, BankError, BankExistsError, UsageError
from tests.tui.support import small_bank


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return small_bank(tmp_path / "kitchen").path


def test_a_frozen_bank_keeps_its_bytes_under_another_name(path: Path) -> None:
    Bank.open(path).freeze()
    before = Bank.open(path).manifest.digests
    renamed = rename(path, "galley")
    assert [each.name for each in path.parent.iterdir()] == ["galley"]
    assert (Bank.open(renamed).name, Bank.open(renamed).manifest.digests) == ("galley", before)
    assert verify(Bank.open(renamed)) == []
    (path.parent / "taken").mkdir()
    (path.parent / "taken" / "file").touch()
    with pytest.raises(BankExistsError):
        rename(renamed, "taken")
    with pytest.raises(UsageError):
        rename(renamed, "../galley")


def test_a_bank_is_deleted_with_all_that_lies_in_its_folder(path: Path) -> None:
    (path / "notes").mkdir()
    (path / "notes" / "mine.txt").write_text("beside it")
    found = contents(path)
    assert (found.nodes, found.episodes, found.frozen) == (9, 3, False)
    delete(path)
    assert list(path.parent.iterdir()) == []


def test_what_cannot_be_opened_can_be_deleted(path: Path) -> None:
    (path / "bank.json").write_text("{")
    assert contents(path).error
    delete(path)
    assert not path.exists()


def test_nothing_is_renamed_or_deleted_while_another_writes(path: Path) -> None:
    with writers_turn(path):
        for attempt in (lambda: rename(path, "galley"), lambda: delete(path)):
            with pytest.raises(BankBusyError):
                attempt()
    (path.parent / "link").symlink_to(path)
    with pytest.raises(BankError, match="a link to a bank"):
        delete(path.parent / "link")
    assert verify(Bank.open(path)) == []
