"""The visit to a bank: it is opened, its screens are shown, it is kept up with, and it is left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textual.screen import Screen

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.text import one_line
from deltamem_tui.tui.arrivals import Asked, Sought
from deltamem_tui.tui.background import look_up
from deltamem_tui.tui.error_hints import if_gone, with_keys
from deltamem_tui.tui.jobs.reading import read_bank
from deltamem_tui.tui.messages import BankRead, Failed
from deltamem_tui.tui.open_bank import OpenBank
from deltamem_tui.tui.screens.base import BankScreen
from deltamem_tui.tui.screens.trees import TreesScreen
from deltamem_tui.tui.session_edits import OwnChanges
from deltamem_tui.tui.work import LongWork

_LOOK_SECONDS = 1.0
_READING = "opening the bank"


class Visiting(LongWork):
    """The part of the program that visits one bank at a time.

    Args:
        bank: A bank to open at once; the list of banks if None.

    Attributes:
        own_changes: What was written here, and by no other process.
    """

    def __init__(self, bank: Path | None) -> None:
        super().__init__()
        self._open = None if bank is None else OpenBank(bank)
        self._coming: tuple[Path, Asked] | None = None
        self.own_changes = OwnChanges()

    @property
    def bank(self) -> Bank:
        """The bank that is open, as it was last read."""
        if self._open is None:
            raise RuntimeError("no bank is open")
        return self._open.bank

    def get_default_screen(self) -> Screen[Any]:
        """The banks, or the bank that was named: it is read while its screen is laid out."""
        if self._open is None:
            return _banks_screen()
        return self._bank_screen(self._open, self._open.left_on)

    def on_mount(self) -> None:
        """Read the bank that was named, and look from time to time whether one is written."""
        if self._open is not None:
            self.open_bank(self._open.path)
        self.set_interval(_LOOK_SECONDS, self.look_for_changes)

    def tell_error(self, error: DeltaMemError) -> None:
        """Say what went wrong, in words that fit where the person stands."""
        here = self._open
        thaw = self.key_of("freeze_bank" if here is None else "freeze")
        told = with_keys(error, thaw, self.key_of("look_again"))
        if here is not None and here.is_read:
            told = if_gone(told, here.path, self.key_of("close_bank"))
        super().tell_error(told)

    # It is opened

    def open_bank(self, path: Path) -> None:
        """Open a bank from the list, or read the one that is open again."""
        here = self._open
        if here is None:
            self._coming = path, self.asked_here()
        elif here.path == path:
            here.is_reading = True
        else:  # the click was meant for a list that has gone
            return
        first = here is None or not here.is_read
        look_up(self, _READING, lambda _: read_bank(path), keys_wait=first)

    def on_bank_read(self, message: BankRead) -> None:
        """Show what the bank says now, or the bank that was asked for."""
        path = message.bank.path
        if self._open is None:
            self._come_up(message)
        elif self._open.path == path:
            self._catch_up(self._open, message)

    def _come_up(self, message: BankRead) -> None:
        """Show the bank that was asked for last, if the person still waits for it."""
        path = message.bank.path
        if self._coming is None or self._coming[0] != path:
            return
        (_, asked), self._coming = self._coming, None
        if not self.is_awaited(asked):
            self.tell(f"{one_line(path.name)} is read by now; {self.key_of('open_bank')} opens it")
            return
        here = self._open = OpenBank(path)
        self._catch_up(here, message)
        self.push_screen(self._bank_screen(here, here.left_on))

    async def after_failure(self, message: Failed) -> None:
        """If it could not be read, and there is nothing to look at, the banks are shown."""
        if message.name == _READING and self._open is not None:
            self._open.is_reading = False
            if not self._open.is_read:
                await self.close_bank()

    # It is kept up with

    def _catch_up(self, here: OpenBank, message: BankRead) -> None:
        here.was_read(message)
        for _, screen in here.screens:
            screen.catch_up()
        here.look_where_expected()

    def look_for_changes(self) -> None:
        """Read the open bank again if another process wrote it, one reading after another."""
        if self._open is not None and self._open.was_written():
            self.open_bank(self._open.path)

    # Its screens

    def _bank_screen(self, here: OpenBank, name: str) -> BankScreen:
        """A screen of a bank. An installed one lives on while another is in front."""
        screen, is_new = here.screen(name)
        if is_new:
            self.install_screen(screen, name)
        return screen

    def show(self, name: str) -> BankScreen | None:
        """Show a screen of the bank whose screen is in front, if one is."""
        shown = self.screen
        if not isinstance(shown, BankScreen) or not shown.home.is_read:
            return None
        wanted = self._bank_screen(shown.home, name)
        if shown is not wanted:
            self.switch_screen(wanted)
        return wanted

    def show_node(self, tree: str, node_id: str) -> None:
        """Show a node in its tree. What is typed from now on is meant for it, and waits."""
        if isinstance(trees := self.show("trees"), TreesScreen):
            sought, keys_go = Sought(tree, node_id, self.asked_here()), self.hold_keys()

            def go() -> None:
                trees.go_to(sought)
                keys_go()

            self.call_after_refresh(go)

    # It is left

    async def close_bank(self) -> None:
        """Go back to the banks, the cursor on the one that is left, whatever lies over it."""
        if (left := self._open) is None:
            return
        left.close()
        self._open = None
        while not isinstance(self.screen, BankScreen):
            await self.pop_screen()
        if len(self.screen_stack) > 1:
            await self.pop_screen()
        else:
            await self.switch_screen(_banks_screen(left.path))
        for name, screen in left.screens:
            self.uninstall_screen(name)
            if screen.is_attached:
                await screen.remove()


def _banks_screen(left: Path | None = None) -> Screen[Any]:
    """The list of banks, the cursor on the one that is left; who named it may never see others."""
    from deltamem_tui.tui.screens.banks import BanksScreen

    return BanksScreen(left)
