"""The bank that is open: what was read of it, its screens, and how it was left.

One of these is made when a bank is opened, and dropped as a whole when it is closed. A screen, a
reading or a plan belongs to the open bank it was begun for, not to whichever is open when it
ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from textual.screen import Screen

from deltamem_tui.bank.bank import Bank
from deltamem_tui.tui.core import state
from deltamem_tui.tui.core.attention import NodeTarget
from deltamem_tui.tui.core.drafts import Drafts
from deltamem_tui.tui.core.state import BankState

Stamp = tuple[int, ...]
"""What the files look like that every commit changes."""


class TreesPage(Protocol):
    """What the screen of the trees does for the open bank."""

    def go_to(self, target: NodeTarget) -> None:
        """Puts the cursor on a node, once the outlines show the bank as it is."""

    def remembered(self) -> BankState:
        """Returns how the outlines are left."""


class OpenBank:
    """A bank from when it is opened until it is closed.

    Args:
        path: The bank.
        bank: A handle that shows one commit.
        stamp: What its files looked like before it was read.

    Attributes:
        path: The bank.
        bank: The bank as it was last read.
        left: How it was left the last time.
        drafts: What the user wrote and could not save.
        screens: The screens that were made for it, by name.
        followers: Called when the bank was read.
        trees: The screen of its trees, if it was made.
        is_reading: Whether it is being read again.
        is_closed: Whether it was closed: it shows nothing that still comes in.
        target: A node to look at once the bank was read again.
    """

    def __init__(self, path: Path, bank: Bank, stamp: Stamp) -> None:
        self.path = path
        self.bank = bank
        self.left = state.load(path)
        self.drafts = Drafts(path)
        self.screens: dict[str, Screen[Any]] = {}
        self.followers: list[Callable[[], None]] = []
        self.trees: TreesPage | None = None
        self.is_reading = False
        self.is_closed = False
        self.target: NodeTarget | None = None
        self._stamp = stamp

    def take(self, bank: Bank, stamp: Stamp) -> None:
        """Shows what the bank says now.

        Args:
            bank: A handle that shows one commit.
            stamp: What its files looked like before it was read.
        """
        self.is_reading = False
        self.bank, self._stamp = bank, stamp
        for follow in self.followers:
            follow()
        if self.target and self.trees:
            self.trees.go_to(self.target)
            self.target = None

    def was_written(self) -> bool:
        """Whether another process wrote the bank since this was last asked.

        A bank that cannot be read is reported once, not every second.
        """
        if self.is_closed or self.is_reading or (stamp := stamp_of(self.path)) == self._stamp:
            return False
        self._stamp = stamp
        return True

    def remember(self) -> None:
        """Saves for the next time how it is left."""
        if self.is_closed:
            return
        shown = next((name for name, each in self.screens.items() if each.is_current), "trees")
        left = self.trees.remembered() if self.trees else self.left
        state.save(self.path, replace(left, screen=shown))

    def close(self) -> None:
        """Shows nothing that still comes in."""
        self.remember()
        self.is_closed = True


def read_bank(path: Path) -> tuple[Bank, Stamp]:
    """Opens the bank at `path` and reads its indexes, so that the screen's thread need not.

    Raises:
        BankError: It cannot be opened.
    """
    stamp = stamp_of(path)
    bank = Bank.open(path)
    for tree in bank.trees.values():
        len(tree)  # reads the index
        _ = tree.snapshot.text, tree.snapshot.vectors  # maps them: a file may have been cut short
    return bank, stamp


def stamp_of(path: Path) -> Stamp:
    """Returns what the two files look like that every commit changes."""
    numbers: list[int] = []
    for name in ("journal.jsonl", "bank.json"):
        try:
            found = (path / name).stat()
        except OSError:
            continue
        numbers += [found.st_ino, found.st_mtime_ns, found.st_size]
    return tuple(numbers)
