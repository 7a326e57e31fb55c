"""The bank that is open: what was read of it, its screens, and how it was left.

One of these is made when a bank is opened and given up as a whole when it is closed. What a
screen, a reading or a plan belongs to is the open bank it was begun for, not whichever is open
when it comes to its end.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.tui import state
from deltamem_tui.tui.arrivals import Sought
from deltamem_tui.tui.bank_screens import BankScreens
from deltamem_tui.tui.drafts import Drafts
from deltamem_tui.tui.jobs.reading import Stamp, stamp_of
from deltamem_tui.tui.messages import BankRead
from deltamem_tui.tui.screens.base import BankScreen
from deltamem_tui.tui.screens.trees import TreesScreen


class OpenBank:
    """A bank from when it is opened until it is closed.

    Args:
        path: The bank.

    Attributes:
        path: The bank.
        is_reading: Whether it is being read just now.
        expected: A node to look at once the bank was read again.
        drafts: What a person wrote and could not save.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_reading = False
        self.expected: Sought | None = None
        self.drafts = Drafts(path)
        self._bank: Bank | None = None
        self._stamp: Stamp = ()
        self._left = state.load(path)
        self._screens = BankScreens()
        self._closed = False

    @property
    def bank(self) -> Bank:
        """The bank as it was last read."""
        if self._bank is None:
            raise RuntimeError("the bank was not read yet")
        return self._bank

    @property
    def is_read(self) -> bool:
        """Whether there is something to be shown: it was read, and is not closed."""
        return self._bank is not None and not self._closed

    # Its screens

    def screen(self, name: str) -> tuple[BankScreen, bool]:
        """A screen, and whether it was made just now."""
        if found := self._screens.get(name):
            return found, False
        screen = self._screens.make(name)
        screen.home = self
        if isinstance(screen, TreesScreen):
            screen.restore(self._left)
        return screen, True

    @property
    def screens(self) -> BankScreens:
        """The screens that were made so far."""
        return self._screens

    @property
    def trees(self) -> TreesScreen | None:
        """The screen of the trees, if it was made."""
        found = self._screens.get("trees")
        return found if isinstance(found, TreesScreen) else None

    @property
    def left_on(self) -> str:
        """The name of the screen that a person left it on."""
        return self._left.screen

    # Its readings

    def was_read(self, message: BankRead) -> None:
        """Take over what the bank says now."""
        self.is_reading = False
        self._bank, self._stamp = message.bank, message.stamp

    def was_written(self) -> bool:
        """Whether another process wrote the bank since this was last asked.

        What cannot be read is told once, not every second. So each state is told of once.
        """
        if not self.is_read or self.is_reading or (stamp := stamp_of(self.path)) == self._stamp:
            return False
        self._stamp = stamp
        return True

    def look_where_expected(self) -> None:
        """Go to the node that a change was about, as soon as it is shown."""
        if self.expected and self.trees:
            self.trees.expect(self.expected)
            self.expected = None

    # Its end

    def remember(self) -> None:
        """Keep for the next time how it is left."""
        if not self.is_read:
            return
        shown = next((name for name, each in self._screens if each.is_current), "trees")
        left = self.trees.remembered() if self.trees else self._left
        state.save(self.path, replace(left, screen=shown))

    def close(self) -> None:
        """Let nothing that still comes in be shown."""
        self.remember()
        self._closed = True
