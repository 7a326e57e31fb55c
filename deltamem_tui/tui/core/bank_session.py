"""The bank that is open: opening it, showing its screens, following its changes, leaving it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from textual.app import App
from textual.screen import ModalScreen, Screen

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.tui.core.notes import Notes
from deltamem_tui.tui.core.work import Attention, BankChange, UserPosition

Visit = tuple[str, tuple[str, ...]]
"""The origin of a followed link: a screen of the open bank, and what was looked at there."""

Stamp = tuple[int, ...]
"""The stamps of the files that every commit changes."""


@runtime_checkable
class VisitedScreen(Protocol):
    """A screen with places that the user can come back to."""

    def place(self) -> tuple[str, ...]:
        """Return what the user looks at; empty if nothing."""

    def return_to(self, place: tuple[str, ...]) -> None:
        """Show what the user looked at, once the screen shows the bank as it is."""


@dataclass
class OpenBank:
    """A bank from when it is opened until it is closed."""

    path: Path
    bank: Bank
    stamp: Stamp
    drafts: dict[tuple[str, str], Mapping[str, str]]
    screens: dict[str, Screen[Any]] = field(default_factory=dict)
    followers: list[Callable[[], None]] = field(default_factory=list)
    is_closed: bool = False

    @property
    def first_screen(self) -> str:
        """The screen to begin on: what was learnt, or what it could be learnt from."""
        return "memory" if any(map(len, self.bank.trees.values())) else "episodes"


def read_bank(path: Path) -> tuple[Bank, Stamp]:
    """Open the bank at `path` and read its indexes: five milliseconds for 100,000 nodes."""
    stamp = stamp_of(path)
    bank = Bank.open(path)
    for tree in bank.trees.values():
        len(tree)  # reads the index
        _ = tree.snapshot.text, tree.snapshot.vectors  # maps them: a file may have been cut short
    return bank, stamp


def stamp_of(path: Path) -> Stamp:
    """Return what the two files look like that every commit changes."""
    numbers: list[int] = []
    for name in ("journal.jsonl", "bank.json"):
        try:
            found = (path / name).stat()
        except OSError:
            continue
        numbers += [found.st_ino, found.st_mtime_ns, found.st_size]
    return tuple(numbers)


_SECONDS_BETWEEN_LOOKS = 1.0
_SECONDS_AT_WORK = 10.0


@dataclass
class BankSession:
    """One bank at a time."""

    app: App[None]
    attention: Attention
    notes: Notes
    make_screen: Callable[[str, OpenBank], Screen[Any]]
    list_screen: Callable[[Path | None], Screen[Any]]
    named: Path | None
    home: OpenBank | None = None
    new_bank: Path | None = None
    links: list[Visit] = field(default_factory=list)
    drafts: dict[Path, dict[tuple[str, str], Mapping[str, str]]] = field(default_factory=dict)

    def first_screen(self) -> Screen[Any]:
        """Return a screen of the bank that was named; the list of banks if it cannot be read."""
        if self.named is None:
            return self.list_screen(None)
        try:
            self.home = self._opened(self.named)
        except DeltaMemError as error:
            self.notes.report(error)
            return self.list_screen(self.named)
        return self._screen(self.home, self.home.first_screen)

    def _opened(self, path: Path) -> OpenBank:
        """Open a bank, with what could not be saved in it before."""
        return OpenBank(path, *read_bank(path), self.drafts.setdefault(path, {}))

    def begin(self, is_busy: Callable[[], bool]) -> None:
        """Look from time to time whether the open bank was written; seldom while work goes on.

        Each lesson is a commit. To read a big bank after each would keep the keys waiting.
        """
        look = self.look_for_changes
        self.app.set_interval(_SECONDS_BETWEEN_LOOKS, lambda: is_busy() or look())
        self.app.set_interval(_SECONDS_AT_WORK, look)

    # Reading

    def open(self, path: Path) -> None:
        """Open a bank from the list, unless the click was meant for a list that has gone."""
        if self.home is not None:
            return
        try:
            home = self.home = self._opened(path)
        except DeltaMemError as error:
            self.notes.report(error)
            return
        self.links.clear()
        self.app.push_screen(self._screen(home, home.first_screen))

    def look_for_changes(self) -> None:
        """Read the open bank again if it was written since this was last asked."""
        home = self.home
        if home is None or (stamp := stamp_of(home.path)) == home.stamp:
            return
        home.stamp = stamp
        try:
            home.bank, home.stamp = read_bank(home.path)
        except DeltaMemError as error:
            self.notes.report(error)
            return
        for follow in home.followers:
            follow()

    def follow(self, change: BankChange, position: UserPosition) -> bool:
        """Show the open bank after a change, the cursor on the node that was changed.

        Returns whether it was of the open bank. A user who went on keeps their place.
        """
        if self.home is None or self.home.path != change.path:
            return False
        self.look_for_changes()
        screen = self.home.screens.get("memory")
        if change.node and isinstance(screen, VisitedScreen) and self.attention.is_at(position):
            screen.return_to(change.node)
        return True

    # Its screens

    def _screen(self, home: OpenBank, name: str) -> Screen[Any]:
        """Return a screen of a bank. An installed one lives on while another is in front."""
        if name not in home.screens:
            home.screens[name] = self.make_screen(name, home)
            self.app.install_screen(home.screens[name], name)
        return home.screens[name]

    def show(self, name: str) -> bool:
        """Show a screen of the bank. Returns whether it is in front now."""
        self.links.clear()
        return self._switch(name)

    def _switch(self, name: str) -> bool:
        home, front = self.home, self.app.screen
        if home is None or front not in home.screens.values():
            return False
        screen = self._screen(home, name)
        if front is not screen:
            self.app.switch_screen(screen)
        return True

    def follow_link(self, screen: str, *place: str) -> None:
        """Show a node or an episode on its screen; a step back leads here again."""
        here = self._here
        if here is not None and self._switch(screen):
            self.links.append(here)
            self._look_at(screen, place)

    def back_by_link(self) -> bool:
        """Go back to where a link led here from. Returns whether one did."""
        if not self.links or not self._switch(self.links[-1][0]):
            return False
        self._look_at(*self.links.pop())
        return True

    @property
    def _here(self) -> Visit | None:
        """The part of the open bank that the user looks at."""
        front = self.app.screen
        names = self.home.screens.items() if self.home else ()
        name = next((name for name, each in names if each is front), None)
        if name is None:
            return None
        return name, front.place() if isinstance(front, VisitedScreen) else ()

    def _look_at(self, name: str, place: tuple[str, ...]) -> None:
        screen = self.home.screens[name] if self.home else None
        if place and isinstance(screen, VisitedScreen):
            self.app.call_after_refresh(screen.return_to, place)

    # Leaving

    async def close(self) -> None:
        """Go back to the banks, the cursor on the one that is left, whatever lies over it."""
        if (home := self.home) is None:
            return
        home.is_closed = True  # nothing that still comes in is shown
        self.home = None
        self.links.clear()
        app = self.app
        while isinstance(app.screen, ModalScreen):
            await app.pop_screen()
        if len(app.screen_stack) > 1:
            await app.pop_screen()
        else:
            await app.switch_screen(self.list_screen(home.path))
        for name, screen in home.screens.items():
            app.uninstall_screen(name)
            if screen.is_attached:
                await screen.remove()
