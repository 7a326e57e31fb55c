"""What this browser changed by hand, and what only looks like it."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.journal import Commit
from deltamem_tui.memory import editing
from deltamem_tui.tui.core.job import BankChange, WorkPlan
from deltamem_tui.tui.core.session_edits import SessionEdits
from deltamem_tui.tui.jobs.undoing import redo_last, undo_last
from tests.tui.support import Person, browse, small_bank


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


def test_who_saved_what_was_there_already_has_not_made_what_another_wrote(folder: Path) -> None:
    """The handle then shows another's change, which is still asked about."""

    async def story(person: Person) -> None:
        def save_nothing(bank: Bank) -> str:
            relabelled(folder / "kitchen")
            bank.refresh()
            return "saved what was there already"

        person.trees.change("saving", save_nothing)
        await person.settle()
        assert person.said[-1] == "saved what was there already"
        await person.press("u")
        assert "which was not made here?" in person.screen
        await person.press("escape", "L", "u")
        assert person.said[-1].startswith("undone: relabel of ")

    browse(folder, story, "kitchen")


def test_a_change_whose_time_is_not_told_is_asked_about_without_one(tmp_path: Path) -> None:
    small_bank(tmp_path / "kitchen")
    bank, commit = relabelled(tmp_path / "kitchen")
    path = bank.journal.path
    path.write_bytes(path.read_bytes().replace(commit.time.encode(), b"noon"))
    asked = undo_last(bank.path, SessionEdits())
    assert isinstance(asked, WorkPlan)
    (section,) = asked.sections
    assert section.title == "Made by another program or before this browser was opened"


def test_a_deletion_that_is_redone_is_one_again(tmp_path: Path) -> None:
    bank = small_bank(tmp_path / "kitchen")
    editing.delete(bank, "task", next(iter(bank.tree("task"))))
    own = SessionEdits()
    own.note(bank)
    undo_last(bank.path, own)
    done = redo_last(bank.path, own)
    assert isinstance(done, BankChange)
    assert done.summary.endswith("; 3 nodes deleted again")
