"""The bank that is open: what it takes over while it is, and nothing once it is closed."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.memory import editing
from deltamem_tui.tui.core.bank_session import OpenBank
from deltamem_tui.tui.screens.banks import BanksScreen
from tests.tui.support import Person, browse


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
