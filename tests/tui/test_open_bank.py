"""The bank that is open: what it takes over while it is, and nothing once it is closed."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.memory import editing
from deltamem_tui.tui.core import state
from deltamem_tui.tui.core.bank_session import OpenBank, read_bank
from deltamem_tui.tui.screens.banks import BanksScreen
from tests.tui.support import Person, browse


def test_a_reading_that_comes_in_late_does_not_open_what_was_closed(folder: Path) -> None:
    here = OpenBank(folder / "kitchen", *read_bank(folder / "kitchen"))
    assert not here.is_closed
    here.close()
    assert here.is_closed
    here.take(*read_bank(here.path))
    assert here.is_closed


def test_how_it_was_left_is_kept_once(folder: Path) -> None:
    here = OpenBank(folder / "kitchen", *read_bank(folder / "kitchen"))
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
        real, go_on = editing.subtree, threading.Event()

        def slow(*values: Any) -> Any:
            assert go_on.wait(20)
            return real(*values)

        close = OpenBank.close

        def close_and_go_on(self: OpenBank) -> None:
            close(self)
            go_on.set()

        monkeypatch.setattr(editing, "subtree", slow)
        monkeypatch.setattr(OpenBank, "close", close_and_go_on)
        await person.pilot.press("D")
        await person.press("b")
        assert isinstance(person.app.screen, BanksScreen)
        assert person.app.work.plan is None
        assert person.said == []

    browse(folder, story, "kitchen")
