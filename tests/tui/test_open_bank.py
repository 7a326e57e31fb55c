"""The bank that is open: what it takes over while it is, and nothing once it is closed."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.tui import state
from deltamem_tui.tui.jobs.reading import read_bank
from deltamem_tui.tui.messages import SubtreeRead
from deltamem_tui.tui.open_bank import OpenBank
from deltamem_tui.tui.screens.banks import BanksScreen
from tests.tui.support import Person, browse


def test_a_reading_that_comes_in_late_does_not_open_what_was_closed(folder: Path) -> None:
    here = OpenBank(folder / "kitchen")
    assert not here.is_read
    here.was_read(read_bank(here.path))
    assert here.is_read
    here.close()
    assert not here.is_read
    here.was_read(read_bank(here.path))
    assert not here.is_read


def test_how_it_was_left_is_kept_once(folder: Path) -> None:
    here = OpenBank(folder / "kitchen")
    here.was_read(read_bank(here.path))
    here.close()
    kept = state.state_file(here.path)
    assert kept.exists()
    kept.unlink()
    here.remember()
    assert not kept.exists()


def test_what_comes_in_while_the_screens_go_asks_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A subtree that was read to be deleted: its bank is on its way out."""

    async def story(person: Person) -> None:
        shown, asked = person.trees, person.app.asked_here()
        nodes = [next(Bank.open(folder / "kitchen").tree("task").roots())]
        close = OpenBank.close

        def close_and_post(self: OpenBank) -> None:
            close(self)
            shown.on_subtree_read(SubtreeRead("task", nodes, asked))

        monkeypatch.setattr(OpenBank, "close", close_and_post)
        await person.press("b")
        assert isinstance(person.app.screen, BanksScreen)
        assert person.app.plan is None
        assert person.said == []

    browse(folder, story, "kitchen")
