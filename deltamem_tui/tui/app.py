"""The browser: one bank at a time, its screens, and the work that goes on beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.message import Message
from textual.screen import Screen
from textual.worker import WorkerFailed

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import TreeName
from deltamem_tui.config import Configuration
from deltamem_tui.tui import state
from deltamem_tui.tui.actions import ACTIONS, bindings, checked_keys, key_names
from deltamem_tui.tui.background import Progress, do_work, look_up
from deltamem_tui.tui.bank_screens import BankScreens
from deltamem_tui.tui.jobs.reading import Stamp, read_bank, stamp_of
from deltamem_tui.tui.key_order import KeyOrder
from deltamem_tui.tui.messages import (
    BankRead,
    BanksFound,
    Broken,
    Changed,
    Failed,
    Planned,
    Proposed,
    Told,
    WorkAdvanced,
)
from deltamem_tui.tui.palette import ActionProvider, PaletteOpener
from deltamem_tui.tui.screens.base import BankScreen, BrowserScreen
from deltamem_tui.tui.screens.trees import TreesScreen
from deltamem_tui.tui.state import BankState
from deltamem_tui.tui.themes import checked_theme
from deltamem_tui.tui.voice import Voice

if TYPE_CHECKING:
    from textual.widget import Widget

_LOOK_SECONDS = 1.0


class DeltaMemApp(KeyOrder, PaletteOpener, Voice):
    """The program.

    Args:
        folder: The banks folder.
        bank: A bank to open at once; the list of banks if None.
        configuration: Theme, keys, and what a new bank is made with.

    Attributes:
        folder: The banks folder.
        configuration: The settings.
        debounce: Seconds of silence after which a typed question is asked; 0 asks at once.
        failure: The error that ended the browser, if one did.
    """

    TITLE = "DeltaMem"
    COMMANDS: ClassVar = {ActionProvider}
    BINDINGS: ClassVar = [*bindings("app")]
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - textual reads it so
        (0, "-narrow"),
        (70, "-normal"),
        (150, "-wide"),
    ]

    def __init__(
        self, folder: Path, bank: Path | None = None, configuration: Configuration | None = None
    ) -> None:
        super().__init__()
        self.folder = folder
        self.configuration = configuration or Configuration()
        self.debounce = 0.15
        self.animation_level = "none"
        self.failure: BaseException | None = None
        self._first_bank = bank
        self._bank: Bank | None = None
        self._stamp: Stamp = ()
        self._reading = False
        self._screens = BankScreens()
        self._left = BankState()
        self._work: Progress | None = None
        self._work_state: WorkAdvanced | None = None
        self._changed_node: tuple[TreeName, str] | None = None
        self.theme = checked_theme(self.configuration.theme)
        self.set_keymap(checked_keys(self.configuration.keys))

    @property
    def bank(self) -> Bank:
        """The bank that is open, as it was last read."""
        if self._bank is None:
            raise RuntimeError("no bank is open")
        return self._bank

    @property
    def opened(self) -> bool:
        """Whether a bank is open."""
        return self._bank is not None

    def get_default_screen(self) -> Screen[Any]:
        """The banks, or the bank that was named: it is read while its screen is laid out."""
        if self._first_bank is None:
            return _banks_screen()
        return self._screen_as_left(self._first_bank)

    def on_mount(self) -> None:
        """Read the bank that was named."""
        if self._first_bank is not None:
            self.open_bank(self._first_bank)
        self.set_interval(_LOOK_SECONDS, self.look_for_changes)

    # What screens ask for

    def find_banks(self) -> None:
        """Look through the banks folder."""
        folder = self.folder

        def work(_: object) -> BanksFound:
            from deltamem_tui.tui.models.banks import bank_lines

            return BanksFound(folder, bank_lines(folder))

        look_up(self, "looking for banks", work, keys_wait=True)

    def open_bank(self, path: Path) -> None:
        """Open a bank, or read it again."""
        self._reading = True
        again = self._bank is not None and self._bank.path == path
        look_up(
            self, "opening the bank", lambda _: read_bank(path, again=again), keys_wait=not again
        )

    def show(self, name: str) -> None:
        """Show a screen of the open bank."""
        shown = self.screen
        if isinstance(shown, BankScreen) and shown is not (wanted := self._bank_screen(name)):
            self.switch_screen(wanted)

    def show_node(self, tree: TreeName, node_id: str) -> None:
        """Show a node in its tree."""
        self.show("trees")
        trees = self._screens.get("trees")
        if isinstance(trees, TreesScreen):
            self.call_after_refresh(trees.go_to, tree, node_id)

    def _bank_screen(self, name: str) -> BankScreen:
        """A screen of the open bank. An installed one lives on while another is in front."""
        if found := self._screens.get(name):
            return found
        screen = self._screens.make(name)
        if isinstance(screen, TreesScreen):
            screen.restore(self._left)
        self.install_screen(screen, name)
        return screen

    def _screen_as_left(self, path: Path) -> BankScreen:
        """The screen that a bank was left on."""
        self._left = state.load(path)
        return self._bank_screen(self._left.screen)

    async def close_bank(self) -> None:
        """Go back to the banks."""
        if not isinstance(self.screen, BankScreen):
            return
        self._remember()
        self._bank = None
        if len(self.screen_stack) > 1:
            await self.pop_screen()
        else:
            await self.switch_screen(_banks_screen())
        screens, self._screens = self._screens, BankScreens()
        for name, screen in screens:
            self.uninstall_screen(name)
            if screen.is_attached:
                await screen.remove()

    def work(self, name: str, work: Callable[[Progress], Message]) -> None:
        """Do something long; one thing at a time."""
        if self.free_to_work():
            self._show_work(WorkAdvanced(name, 0, None))
            self._work = do_work(self, name, work)

    def free_to_work(self) -> bool:
        """Whether nothing long is going on; if something is, the person is told what."""
        if self._work is not None:
            self.tell(f"still {self._work.name}; x cancels it", warning=True)
        return self._work is None

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
        from deltamem_tui.tui.jobs import keeping

        name = "freezing" if frozen else "unfreezing"
        self.work(name, lambda _: keeping.freeze(path, frozen=frozen))

    def verify(self, path: Path) -> None:
        """Check every file of a bank."""
        from deltamem_tui.tui.jobs import keeping

        self.work("verifying", lambda _: keeping.verify(path))

    def look_for_changes(self) -> None:
        """Read the open bank again if another process wrote it, one reading after another."""
        if self._bank is None or self._reading:
            return
        if (stamp := stamp_of(self._bank.path)) != self._stamp:
            self._stamp = stamp  # what cannot be read is told once, not every second
            self.open_bank(self._bank.path)

    # What workers tell

    def on_banks_found(self, message: BanksFound) -> None:
        """Show the banks."""
        for screen in self.screen_stack:
            if isinstance(screen, BrowserScreen):
                screen.show_banks(message)

    def on_bank_read(self, message: BankRead) -> None:
        """Show the bank, or what it says now."""
        self._reading = False
        known = self._bank is not None and self._bank.path == message.bank.path
        if message.again and not known:
            return
        self._bank, self._stamp = message.bank, message.stamp
        if not any(isinstance(screen, BankScreen) for screen in self.screen_stack):
            self.push_screen(self._screen_as_left(message.bank.path))
        for screen in self.screen_stack:
            if isinstance(screen, BankScreen):
                screen.catch_up()
        trees = self._screens.get("trees")
        if self._changed_node and isinstance(trees, TreesScreen):
            trees.expect(*self._changed_node)
            self._changed_node = None

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

    def on_planned(self, message: Planned) -> None:
        """Show what would be done, and ask."""
        from deltamem_tui.tui.widgets.dialogs import ConfirmDialog

        def answer(sure: bool | None) -> None:
            if sure:
                self.work(message.name, message.then)

        self.push_screen(ConfirmDialog(message.question, message.sections), answer)

    def on_told(self, message: Told) -> None:
        """Say what was found."""
        self.tell(message.summary, warning=message.warning)

    def on_proposed(self, message: Proposed) -> None:
        """Show the scores, unless the bank that was asked is left by now."""
        shown = self._bank is not None and self._bank.path == message.path
        if not shown or self._screens.get("statistics") is None:
            self.tell(f"{message.path.name} was left while it was asked for its scores")
            return
        for _, screen in self._screens:
            screen.show_proposals(message.proposals)
        if any(each.proposed is not None for each in message.proposals):
            self.tell("thresholds are proposed; w saves them")

    async def on_failed(self, message: Failed) -> None:
        """Say what went wrong; if there is no bank to look at, show the banks."""
        self._reading = False
        if not self.opened:
            await self.close_bank()
        self.tell_error(message.error)

    def on_broken(self, message: Broken) -> None:
        """A defect ends the browser."""
        raise message.error

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
        from deltamem_tui.tui.screens.help import HelpScreen

        if isinstance(self.screen, BrowserScreen):
            self.push_screen(HelpScreen(self.screen.SCOPES, self.configuration.keys))

    def action_jump(self) -> None:
        """Show a letter on everything that can have the focus; the letter gives it."""
        from deltamem_tui.tui.screens.jump import JumpScreen, jump_targets

        below = self.screen
        if not isinstance(below, BrowserScreen):
            return

        def go(target: Widget | None) -> None:
            if target is not None and target.screen is below:
                target.focus()

        self.push_screen(JumpScreen(jump_targets(below)), go)

    def action_cancel_work(self) -> None:
        """Ask the work that is going on to stop."""
        if self._work is None:
            self.tell("nothing is going on")
        else:
            self._work.stop()

    def action_help_quit(self) -> None:
        """Who presses ctrl+c out of habit is told the key."""
        quitting = next(action for action in ACTIONS if action.name == "quit")
        self.tell(f"{key_names(quitting, self.configuration.keys)} quits")

    def _handle_exception(self, error: Exception) -> None:
        """Leave, and keep the error for who started the browser, where textual would print it."""
        if self.failure is None:
            self.failure = error.error if isinstance(error, WorkerFailed) else error
            self._exception = error  # as textual does it, for who drives the browser in a test
            self._exception_event.set()
        self._return_code = 1
        self._close_messages_no_wait()

    async def action_quit(self) -> None:
        """Remember how the bank was left, and go."""
        self._remember()
        self.exit()

    def _remember(self) -> None:
        if self._bank is None:
            return
        shown = next((name for name, each in self._screens if each.is_current), "trees")
        trees = self._screens.get("trees")
        left = trees.remembered() if isinstance(trees, TreesScreen) else self._left
        state.save(self._bank.path, replace(left, screen=shown))


def _banks_screen() -> Screen[Any]:
    """The list of banks; who named a bank may never see it."""
    from deltamem_tui.tui.screens.banks import BanksScreen

    return BanksScreen()


def run(folder: Path, bank: Path | None, configuration: Configuration) -> None:
    """Run the browser until the person leaves it.

    Args:
        folder: The banks folder.
        bank: A bank to open at once; the list of banks if None.
        configuration: The settings.

    Raises:
        ConfigurationError: A key or theme of the settings does not exist.
        BankCorruptError: A bank broke the rules of its format while it was looked at.
    """
    app: DeltaMemApp = DeltaMemApp(folder, bank, configuration)
    app.run()
    if app.failure is not None:
        raise app.failure
