"""What this browser changed by hand, and what only looks like it."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.journal import Commit
from deltamem_tui.memory import editing
from deltamem_tui.tui.core.bank_session import SessionEdits
from deltamem_tui.tui.core.work import BankChange, WorkPlan
from deltamem_tui.tui.jobs.outcomes import undo_last
from tests.tui.support import small_bank


def relabelled(path: Path) -> tuple[Bank, Commit]:
    bank = Bank.open(path)
    first, *_ = bank.tree("task").roots()
    editing.relabel(bank, "task", first, "success" if first.label == "failure" else "failure")
    return bank, bank.commit


def test_a_commit_is_known_by_bank_number_and_time(tmp_path: Path) -> None:
    small_bank(tmp_path / "kitchen")
    shutil.copytree(tmp_path / "kitchen", tmp_path / "copy")
    bank, commit = relabelled(tmp_path / "kitchen")
    own = SessionEdits()
    assert not own.has(bank, commit)
    own.note(bank)
    assert own.has(Bank.open(bank.path), commit)
    assert not own.has(Bank.open(tmp_path / "copy"), commit)
    assert not own.has(bank, replace(commit, sequence=commit.sequence + 1))
    assert not own.has(bank, replace(commit, time="2001-01-01T00:00:00Z"))


def test_ones_own_is_undone_unasked_and_not_what_another_bank_in_its_place_holds(
    tmp_path: Path,
) -> None:
    small_bank(tmp_path / "kitchen")
    bank, commit = relabelled(tmp_path / "kitchen")
    own = SessionEdits()
    own.note(bank)
    path = bank.journal.path
    text = path.read_bytes()
    path.write_bytes(text.replace(commit.time.encode(), b"2001-01-01T00:00:00Z"))
    assert isinstance(undo_last(bank.path, own), WorkPlan)
    path.write_bytes(text)
    assert isinstance(undo_last(bank.path, own), BankChange)
