"""The browser: one bank at a time, its screens, and what workers tell of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.screen import Screen
from textual.theme import Theme

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import TreeName
from deltamem_tui.config import Configuration
from deltamem_tui.errors import BankFrozenError
from deltamem_tui.paths import is_shipped
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui import state
from deltamem_tui.tui.actions import bindings, key_of
from deltamem_tui.tui.arrivals import Asked
from deltamem_tui.tui.background import look_up
from deltamem_tui.tui.jobs.numbers import grounds_of
from deltamem_tui.tui.jobs.reading import read_bank
from deltamem_tui.tui.leaving import see_off
from deltamem_tui.tui.messages import BankRead, BanksFound, Changed, Failed, Proposed, Told
from deltamem_tui.tui.open_bank import OpenBank
from deltamem_tui.tui.own_keys import checked_keys
from deltamem_tui.tui.palette import ActionProvider, PaletteOpener
from deltamem_tui.tui.screens.base import BankScreen, BrowserScreen
from deltamem_tui.tui.screens.trees import TreesScreen
from deltamem_tui.tui.seams import FailureKeeper
from deltamem_tui.tui.themes import checked_theme
from deltamem_tui.tui.work import LongWork

if TYPE_CHECKING:
    from textual.widget import Widget

_LOOK_SECONDS = 1.0


class DeltaMemApp(LongWork, PaletteOpener, FailureKeeper):
    """The program.

    Args:
        folder: The banks folder.
        bank: A bank to open at once; the list of banks if None.
        configuration: Theme, keys, and what a new bank is made with.

    Attributes:
        folder: The banks folder.
        configuration: The settings.
        debounce: Seconds of silence after which a typed question is asked; 0 asks at once.
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
        settings = configuration or Configuration()
        self.configuration = replace(settings, keys=checked_keys(settings.keys))
        self.debounce = 0.15
        self.animation_level = "none"
        self._open = None if bank is None else OpenBank(bank)
        self._coming: tuple[Path, Asked] | None = None
        self.theme = checked_theme(self.configuration.theme)
        self.set_keymap(self.configuration.keys)

    @property
    def bank(self) -> Bank:
        """The bank that is open, as it was last read."""
        if self._open is None:
            raise RuntimeError("no bank is open")
        return self._open.bank

    @property
    def opened(self) -> bool:
        """Whether a bank is open and was read."""
        return self._open is not None and self._open.is_read

    def typed(self) -> None:
        """Whatever is typed, what was said before is read."""
        self.note_was_seen()

    def forgot(self, keys: int) -> None:
        """Who typed ahead for too long learns that it was in vain."""
        self.tell(f"{counted(keys, 'key')} typed meanwhile did nothing", warning=True)

    def key_of(self, action: str) -> str:
        """The first key of an action, for a person."""
        return key_of(action, self.configuration.keys)

    def get_default_screen(self) -> Screen[Any]:
        """The banks, or the bank that was named: it is read while its screen is laid out."""
        if self._open is None:
            return _banks_screen()
        return self._bank_screen(self._open, self._open.left_on)

    def on_mount(self) -> None:
        """Read the bank that was named."""
        if self._open is not None:
            self.open_bank(self._open.path)
        self.set_interval(_LOOK_SECONDS, self.look_for_changes)
        self.theme_changed_signal.subscribe(self, self._remember_theme)

    def _remember_theme(self, theme: Theme) -> None:
        """Keep the theme that a person chose, unless the settings name one."""
        if self.configuration.theme is None:
            state.save_theme(theme.name)
        else:
            self.tell(f"{theme.name} until you leave: deltamem.toml names the theme")

    # The bank that is open

    def find_banks(self) -> None:
        """Look through the banks folder."""
        folder = self.folder

        def work(_: object) -> BanksFound:
            from deltamem_tui.tui.models.banks import bank_lines

            return BanksFound(folder, bank_lines(folder))

        look_up(self, "looking for banks", work, keys_wait=True)

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
        look_up(self, "opening the bank", lambda _: read_bank(path), keys_wait=first)

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

    def _catch_up(self, here: OpenBank, message: BankRead) -> None:
        here.was_read(message)
        for _, screen in here.screens:
            screen.catch_up()
        here.look_where_expected()

    def look_for_changes(self) -> None:
        """Read the open bank again if another process wrote it, one reading after another."""
        if self._open is not None and self._open.was_written():
            self.open_bank(self._open.path)

    async def close_bank(self) -> None:
        """Go back to the banks."""
        if (left := self._open) is None:
            return
        left.close()
        self._open = None
        if len(self.screen_stack) > 1:
            await self.pop_screen()
        else:
            await self.switch_screen(_banks_screen())
        for name, screen in left.screens:
            self.uninstall_screen(name)
            if screen.is_attached:
                await screen.remove()

    def show(self, name: str) -> BankScreen | None:
        """Show a screen of the bank whose screen is in front, if one is."""
        shown = self.screen
        if not isinstance(shown, BankScreen) or not shown.home.is_read:
            return None
        wanted = self._bank_screen(shown.home, name)
        if shown is not wanted:
            self.switch_screen(wanted)
        return wanted

    def show_node(self, tree: TreeName, node_id: str) -> None:
        """Show a node in its tree."""
        if isinstance(trees := self.show("trees"), TreesScreen):
            self.call_after_refresh(trees.go_to, tree, node_id)

    def _bank_screen(self, here: OpenBank, name: str) -> BankScreen:
        """A screen of a bank. An installed one lives on while another is in front."""
        screen, is_new = here.screen(name)
        if is_new:
            self.install_screen(screen, name)
        return screen

    # What screens ask for

    def is_own(self, path: Path) -> bool:
        """Whether a bank is the person's to write; if not, the reason is shown."""
        if not is_shipped(path, self.folder):
            return True
        error = BankFrozenError(
            "the bank came with the program and is read only",
            source=one_line(str(path)),
            hint=f"{self.key_of('install_bank')} on the list of banks makes a copy to be written",
        )
        self.tell_error(error)
        return False

    def freeze(self, path: Path, *, frozen: bool) -> None:
        """Freeze a bank, or unfreeze it."""
        from deltamem_tui.tui.jobs import keeping

        if not self.is_own(path):
            return
        name = "freezing" if frozen else "unfreezing"
        self.work(name, lambda _: keeping.freeze(path, frozen=frozen))

    def verify(self, path: Path) -> None:
        """Check every file of a bank."""
        from deltamem_tui.tui.jobs import keeping

        self.work("verifying", lambda _: keeping.verify(path))

    # What workers tell

    def on_banks_found(self, message: BanksFound) -> None:
        """Show the banks."""
        for screen in self.screen_stack:
            if isinstance(screen, BrowserScreen):
                screen.show_banks(message)

    def on_changed(self, message: Changed) -> None:
        """Say what was done, and show the new state."""
        self.tell(message.summary)
        if self._open is not None and self._open.path == message.path:
            self._open.expected = message.node
            self.open_bank(message.path)
        else:
            self.find_banks()

    def on_told(self, message: Told) -> None:
        """Say what was found."""
        self.tell(message.summary, warning=message.warning)

    def on_proposed(self, message: Proposed) -> None:
        """Show the scores, unless the bank that was asked is left by now."""
        here = self._open
        if here is None or here.path != message.path or here.screens.get("statistics") is None:
            self.tell(f"{message.path.name} was left while it was asked for its scores")
            return
        if message.grounds != grounds_of(here.bank):
            self.tell("the trees changed while they were asked for their scores: ask again")
            return
        for _, screen in here.screens:
            screen.show_proposals(message.proposals, message.grounds)
        if any(each.proposed is not None for each in message.proposals):
            self.tell(f"thresholds are proposed; {self.key_of('apply_proposal')} saves them")

    async def on_failed(self, message: Failed) -> None:
        """Say what went wrong; if there is no bank to look at, show the banks."""
        if self._open is not None:
            self._open.is_reading = False
            if not self._open.is_read:
                await self.close_bank()
        self.tell_error(message.error)
        self.look_for_changes()  # what another process wrote may be the reason

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

    def action_help_quit(self) -> None:
        """Who presses ctrl+c out of habit is told the key."""
        self.tell(f"{self.key_of('quit')} quits")

    async def action_quit(self) -> None:
        """Remember how the bank was left, and go."""
        if not self.may_leave():
            return
        if self._open is not None:
            self._open.remember()
        self.exit()


def _banks_screen() -> Screen[Any]:
    """The list of banks; who named a bank may never see it."""
    from deltamem_tui.tui.screens.banks import BanksScreen

    return BanksScreen()


def run(
    folder: Path, bank: Path | None, configuration: Configuration, tell: Callable[[str], None]
) -> None:
    """Run the browser until the person leaves it.

    Args:
        folder: The banks folder.
        bank: A bank to open at once; the list of banks if None.
        configuration: The settings.
        tell: Says something on the terminal, once the browser has given it back.

    Raises:
        ConfigurationError: A key or theme of the settings does not exist.
        BankCorruptError: A bank broke the rules of its format while it was looked at.
    """
    app: DeltaMemApp = DeltaMemApp(folder, bank, configuration)
    app.run()
    if app.failure is not None:
        raise app.failure
    if app.unfinished is not None:
        see_off(app.unfinished, tell)
