"""The browser: one bank at a time, its screens, and the work that goes on beside them."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import ClassVar

from textual.app import App, SuspendNotSupported
from textual.message import Message
from textual.theme import BUILTIN_THEMES
from textual.worker import Worker

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import TreeName
from deltamem_tui.config import Configuration
from deltamem_tui.errors import ConfigurationError, DeltaMemError, UsageError
from deltamem_tui.text import clean
from deltamem_tui.tui import programs, state
from deltamem_tui.tui.actions import bindings, checked_keys
from deltamem_tui.tui.background import Progress, do_work, look_up
from deltamem_tui.tui.clipboard import copy_locally
from deltamem_tui.tui.messages import (
    BankRead,
    BanksFound,
    Changed,
    Failed,
    Proposed,
    Told,
    WorkAdvanced,
)
from deltamem_tui.tui.models.banks import bank_lines
from deltamem_tui.tui.models.words import counted
from deltamem_tui.tui.palette import ActionProvider
from deltamem_tui.tui.screens.banks import BanksScreen
from deltamem_tui.tui.screens.base import BankScreen, BrowserScreen
from deltamem_tui.tui.screens.episodes import EpisodesScreen
from deltamem_tui.tui.screens.help import HelpScreen
from deltamem_tui.tui.screens.recall import RecallScreen
from deltamem_tui.tui.screens.statistics import StatisticsScreen
from deltamem_tui.tui.screens.trees import TreesScreen

_LOOK_SECONDS = 1.0

_SCREENS: dict[str, type[BankScreen]] = {
    "trees": TreesScreen,
    "recall": RecallScreen,
    "episodes": EpisodesScreen,
    "statistics": StatisticsScreen,
}


class DeltaMemApp(App[None]):
    """The program.

    Args:
        folder: The banks folder.
        bank: A bank to open at once; the list of banks if None.
        configuration: Theme, keys, and what a new bank is made with.

    Attributes:
        folder: The banks folder.
        configuration: The settings.
        debounce: Seconds of silence after which a typed question is asked; 0 asks at once.
        edited: Lets a person edit a text.
        paged: Lets a person read a text.
    """

    TITLE = "DeltaMem"
    COMMANDS: ClassVar = {ActionProvider}
    BINDINGS: ClassVar = [*bindings("app")]
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - textual reads it so
        (0, "-narrow"),
        (70, "-normal"),
        (150, "-wide"),
    ]
    CSS = """
    Toast { max-width: 90%; }
    """

    def __init__(
        self, folder: Path, bank: Path | None = None, configuration: Configuration | None = None
    ) -> None:
        super().__init__()
        self.folder = folder
        self.configuration = configuration or Configuration()
        self.debounce = 0.15
        self.edited: Callable[[str], str] = self._edited_in_terminal
        self.paged: Callable[[str], None] = self._paged_in_terminal
        self.animation_level = "none"
        self._first_bank = bank
        self._bank: Bank | None = None
        self._stamp: tuple[int, ...] = ()
        self._reading = False
        self._screens: dict[str, BankScreen] = {}
        self._work: Worker[None] | None = None
        self._work_state: WorkAdvanced | None = None
        self._changed_node: tuple[TreeName, str] | None = None
        self.theme = _checked_theme(self.configuration.theme)
        self.set_keymap(checked_keys(self.configuration.keys))

    @property
    def bank(self) -> Bank:
        """The bank that is open, as it was last read."""
        if self._bank is None:
            raise RuntimeError("no bank is open")
        return self._bank

    def on_mount(self) -> None:
        """Show the banks, or the one that was named."""
        self.push_screen(BanksScreen())
        if self._first_bank is not None:
            self.open_bank(self._first_bank)
        self.set_interval(_LOOK_SECONDS, self.look_for_changes)

    # What screens ask for

    def find_banks(self) -> None:
        """Look through the banks folder."""
        folder = self.folder
        look_up(self, "looking for banks", lambda _: BanksFound(folder, bank_lines(folder)))

    def open_bank(self, path: Path) -> None:
        """Open a bank, or read it again."""
        self._reading = True
        again = self._bank is not None and self._bank.path == path
        look_up(self, "opening the bank", lambda _: _read_bank(path, again=again))

    def show(self, name: str) -> None:
        """Show a screen of the open bank."""
        if isinstance(self.screen, BankScreen) and self.screen is not self._screens[name]:
            self.switch_screen(name)

    def show_node(self, tree: TreeName, node_id: str) -> None:
        """Show a node in its tree."""
        self.show("trees")
        trees = self._screens["trees"]
        if isinstance(trees, TreesScreen):
            self.call_after_refresh(trees.go_to, tree, node_id)

    async def close_bank(self) -> None:
        """Go back to the banks."""
        if not isinstance(self.screen, BankScreen):
            return
        self._remember()
        self._bank = None
        await self.pop_screen()
        for name, screen in self._screens.items():
            self.uninstall_screen(name)
            if screen.is_attached:
                await screen.remove()
        self._screens = {}

    def work(self, name: str, work: Callable[[Progress], Message]) -> None:
        """Do something long; one thing at a time."""
        if self._work is not None:
            self.tell("Something is going on already; x cancels it", warning=True)
            return
        self._show_work(WorkAdvanced(name, 0, None))
        self._work = do_work(self, name, work)

    def change(
        self,
        name: str,
        work: Callable[[Bank], str],
        node: tuple[TreeName, str] | None = None,
    ) -> None:
        """Write to the open bank, with a handle of its own.

        Args:
            name: What is being done.
            work: Does it, and says what was done.
            node: The node to look at afterwards.
        """
        path = self.bank.path
        self.work(name, lambda _: Changed(path, work(Bank.open(path)), node))

    def freeze(self, path: Path, *, frozen: bool) -> None:
        """Freeze a bank, or unfreeze it."""

        def work() -> Changed:
            bank = Bank.open(path)
            bank.freeze() if frozen else bank.unfreeze()
            return Changed(path, f"{'froze' if frozen else 'unfroze'} {bank.name}")

        self.work("freezing" if frozen else "unfreezing", lambda _: work())

    def verify(self, path: Path) -> None:
        """Check every file of a bank."""

        def work() -> Told:
            from deltamem_tui.bank.verify import verify

            bank = Bank.open(path)
            flaws = verify(bank)
            if not flaws:
                return Told(f"{bank.name}: every file keeps its promises")
            first = flaws[0]
            where = ", ".join(part for part in (first.source, first.position) if part)
            return Told(
                f"{bank.name}: {counted(len(flaws), 'flaw')}; {where}: {first.message}",
                warning=True,
            )

        self.work("verifying", lambda _: work())

    def tell(self, words: str, *, warning: bool = False) -> None:
        """Say something to the person."""
        self.notify(
            clean(words)[:2000], severity="warning" if warning else "information", markup=False
        )

    def tell_error(self, error: DeltaMemError) -> None:
        """Say what went wrong."""
        self.notify(clean(str(error))[:2000], severity="error", timeout=10, markup=False)

    def copy(self, text: str) -> None:
        """Copy text, by the terminal and by the local clipboard."""
        self.copy_to_clipboard(text)
        look_up(self, "copying", lambda _: _copied(text))

    def edit(self, text: str) -> str | None:
        """Let the person edit a text in an editor. None if that could not be done."""
        try:
            return self.edited(text)
        except SuspendNotSupported:
            self.tell_error(UsageError("this terminal cannot be handed to an editor"))
        except DeltaMemError as error:
            self.tell_error(error)
        return None

    def read(self, text: str) -> None:
        """Let the person read a text in a pager."""
        try:
            self.paged(text)
        except SuspendNotSupported:
            self.tell_error(UsageError("this terminal cannot be handed to a pager"))
        except DeltaMemError as error:
            self.tell_error(error)

    def _edited_in_terminal(self, text: str) -> str:
        with self.suspend():
            return programs.edited(text)

    def _paged_in_terminal(self, text: str) -> None:
        with self.suspend():
            programs.paged(text)

    def look_for_changes(self) -> None:
        """Read the open bank again if another process wrote it, one reading after another."""
        if self._bank is not None and not self._reading and _stamp(self._bank.path) != self._stamp:
            self.open_bank(self._bank.path)

    # What workers tell

    def on_banks_found(self, message: BanksFound) -> None:
        """Show the banks."""
        for screen in self.screen_stack:
            if isinstance(screen, BanksScreen):
                screen.show_banks(message)

    def on_bank_read(self, message: BankRead) -> None:
        """Show the bank, or what it says now."""
        self._reading = False
        known = self._bank is not None and self._bank.path == message.bank.path
        if message.again and not known:
            return
        self._bank, self._stamp = message.bank, message.stamp
        if not known:
            self._open_screens()
        for screen in self.screen_stack:
            if isinstance(screen, BankScreen):
                screen.catch_up()
        if self._changed_node and isinstance(trees := self._screens["trees"], TreesScreen):
            trees.expect(*self._changed_node)
            self._changed_node = None

    def _open_screens(self) -> None:
        left = state.load(self.bank.path)
        self._screens = {name: make() for name, make in _SCREENS.items()}
        trees = self._screens["trees"]
        if isinstance(trees, TreesScreen):
            trees.restore(left)
        for name, screen in self._screens.items():
            self.install_screen(screen, name)
        self.push_screen(left.screen)

    def on_work_advanced(self, message: WorkAdvanced) -> None:
        """Show how far the work is."""
        if self._work is not None:
            self._show_work(message)

    def on_work_ended(self) -> None:
        """Nothing is going on any more."""
        self._work = None
        self._show_work(None)

    def on_changed(self, message: Changed) -> None:
        """Say what was done, and show the new state."""
        self.tell(message.summary)
        if self._bank is not None and self._bank.path == message.path:
            self._changed_node = message.node
            self.open_bank(message.path)
        else:
            self.find_banks()

    def on_told(self, message: Told) -> None:
        """Say what was found."""
        self.tell(message.summary, warning=message.warning)

    def on_proposed(self, message: Proposed) -> None:
        """Show the scores."""
        statistics = self._screens.get("statistics")
        if isinstance(statistics, StatisticsScreen):
            statistics.show_proposals(message.proposals)

    def on_failed(self, message: Failed) -> None:
        """Say what went wrong."""
        self._reading = False
        self.tell_error(message.error)

    @property
    def work_state(self) -> WorkAdvanced | None:
        """How far the work is that is going on."""
        return self._work_state

    def _show_work(self, state: WorkAdvanced | None) -> None:
        self._work_state = state
        for screen in self.screen_stack:
            if isinstance(screen, BrowserScreen):
                screen.show_work(state)

    # What can be done everywhere

    def action_help(self) -> None:
        """Show the keys of the screen in front."""
        if isinstance(self.screen, BrowserScreen):
            self.push_screen(HelpScreen(self.screen.SCOPES, self.configuration.keys))

    def action_cancel_work(self) -> None:
        """Ask the work that is going on to stop."""
        if self._work is None:
            self.tell("nothing is going on")
        else:
            self._work.cancel()

    async def action_quit(self) -> None:
        """Remember how the bank was left, and go."""
        self._remember()
        self.exit()

    def _remember(self) -> None:
        trees = self._screens.get("trees")
        if self._bank is None or not isinstance(trees, TreesScreen):
            return
        shown = next((name for name, each in self._screens.items() if each.is_current), "trees")
        state.save(self._bank.path, trees.remembered(shown))


def _read_bank(path: Path, *, again: bool) -> BankRead:
    stamp = _stamp(path)
    bank = Bank.open(path)
    for tree in bank.trees.values():
        len(tree)  # reads the index here, not on the screen's thread
    return BankRead(bank, stamp, again)


def _stamp(path: Path) -> tuple[int, ...]:
    """What the two files look like that every commit changes."""
    numbers: list[int] = []
    for name in ("journal.jsonl", "bank.json"):
        try:
            found = (path / name).stat()
        except OSError:
            continue
        numbers += [found.st_ino, found.st_mtime_ns, found.st_size]
    return tuple(numbers)


def _copied(text: str) -> Told:
    place = "" if copy_locally(text) else " by the terminal (OSC 52)"
    return Told(f"copied {counted(len(text), 'character')}{place}")


def _checked_theme(name: str | None) -> str:
    if name is None:
        return "textual-dark"
    if name in BUILTIN_THEMES:
        return name
    near = get_close_matches(name, BUILTIN_THEMES, n=1, cutoff=0.0)[0]
    raise ConfigurationError(
        f"there is no theme {clean(name)!r}",
        hint=f"did you mean {near}? There are {', '.join(BUILTIN_THEMES)}",
    )


def run(folder: Path, bank: Path | None, configuration: Configuration) -> None:
    """Run the browser until the person leaves it.

    Args:
        folder: The banks folder.
        bank: A bank to open at once; the list of banks if None.
        configuration: The settings.

    Raises:
        ConfigurationError: A key or theme of the settings does not exist.
    """
    app: DeltaMemApp = DeltaMemApp(folder, bank, configuration)
    app.run()
