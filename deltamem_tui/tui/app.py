"""The browser: the program that the screens ask, that workers tell, and that a person leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual.theme import Theme

from deltamem_tui.config import Configuration
from deltamem_tui.errors import BankFrozenError
from deltamem_tui.paths import is_shipped
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui import state
from deltamem_tui.tui.actions import bindings, key_of
from deltamem_tui.tui.arrivals import Sought
from deltamem_tui.tui.background import look_up
from deltamem_tui.tui.bank_session import Visiting
from deltamem_tui.tui.forms import Forms
from deltamem_tui.tui.jobs.numbers import grounds_of
from deltamem_tui.tui.keymap import checked_keys
from deltamem_tui.tui.messages import BanksFound, Changed, Failed, Proposed, Told
from deltamem_tui.tui.palette import ActionProvider, PaletteOpener
from deltamem_tui.tui.screens.base import BrowserScreen
from deltamem_tui.tui.shutdown import see_off
from deltamem_tui.tui.terminal import require_screen
from deltamem_tui.tui.textual_compat import FailureKeeper
from deltamem_tui.tui.themes import checked_theme


class DeltaMemApp(Visiting, Forms, PaletteOpener, FailureKeeper):
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
        super().__init__(bank)
        self.folder = folder
        settings = configuration or Configuration()
        self.configuration = replace(settings, keys=checked_keys(settings.keys))
        self.debounce = 0.15
        self.animation_level = "none"
        self.theme = checked_theme(self.configuration.theme)
        self.set_keymap(self.configuration.keys)

    def typed(self) -> None:
        """Whatever is typed, what was said before is read."""
        self.note_was_seen()

    def forgot(self, keys: int) -> None:
        """Who typed ahead for too long learns that it was in vain."""
        self.tell(f"{counted(keys, 'key')} typed meanwhile did nothing", warning=True)

    def key_of(self, action: str) -> str:
        """The first key of an action, for a person."""
        return key_of(action, self.configuration.keys)

    def on_mount(self) -> None:
        """Follow the theme."""
        self.theme_changed_signal.subscribe(self, self._remember_theme)

    def _remember_theme(self, theme: Theme) -> None:
        """Keep the theme that a person chose, unless the settings name one."""
        if self.configuration.theme is None:
            state.save_theme(theme.name)
        else:
            self.tell(f"{theme.name} until you leave: deltamem.toml names the theme")

    # What screens ask for

    def find_banks(self) -> None:
        """Look through the banks folder."""
        folder = self.folder

        def work(_: object) -> BanksFound:
            from deltamem_tui.tui.models.banks import bank_lines

            return BanksFound(folder, bank_lines(folder))

        look_up(self, "looking for banks", work, keys_wait=True)

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
        """Freeze a bank, which one key undoes, or ask whether it shall be unfrozen."""
        from deltamem_tui.tui.jobs import maintenance

        if not self.is_own(path):
            return
        thaw = self.key_of("freeze_bank")
        if frozen:
            self.work("freezing", lambda _: maintenance.freeze(path, thaw))
        else:
            self.work("looking at what is frozen", lambda _: maintenance.plan_unfreeze(path))

    def verify(self, path: Path) -> None:
        """Check every file of a bank."""
        from deltamem_tui.tui.jobs import maintenance

        self.work("verifying", lambda at: maintenance.verify(path, at), can_stop=True)

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
            if message.node and message.asked:
                self._open.expected = Sought(*message.node, message.asked)
            self.open_bank(message.path)
        else:
            if message.asked and self.is_awaited(message.asked) and message.asked.screen:
                message.asked.screen.expect_bank(message.path)
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
        self.tell_error(message.error)
        await self.after_failure(message)
        self.look_for_changes()  # what another process wrote may be the reason

    # What can be done everywhere

    def action_help(self) -> None:
        """Show the keys of the screen in front."""
        from deltamem_tui.tui.screens.help import HelpScreen

        if isinstance(self.screen, BrowserScreen):
            self.push_screen(HelpScreen(self.screen.SCOPES, self.configuration.keys))

    def action_jump(self) -> None:
        """Show a letter on every pane and line; the letter goes there."""
        from deltamem_tui.tui.screens.jump import JumpScreen, Place, jump_targets

        below = self.screen
        if not isinstance(below, BrowserScreen):
            return

        def go(place: Place | None) -> None:
            if place is not None and place.widget.screen is below:
                place.go()

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
        UsageError: The terminal cannot show screens.
        ConfigurationError: A key or theme of the settings does not exist.
        BankCorruptError: A bank broke the rules of its format while it was looked at.
    """
    require_screen()
    app: DeltaMemApp = DeltaMemApp(folder, bank, configuration)
    app.run()
    if app.failure is not None:
        raise app.failure
    if app.unfinished is not None:
        see_off(app.unfinished, tell)
