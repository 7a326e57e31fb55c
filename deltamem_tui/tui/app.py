"""The browser: the program that holds notes, long work and the open bank for its screens."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from textual import events
from textual.css.query import NoMatches
from textual.screen import ModalScreen, Screen
from textual.theme import BUILTIN_THEMES, Theme
from textual.widgets import Input
from textual.worker import WorkerFailed

from deltamem_tui import paths
from deltamem_tui.config import Configuration
from deltamem_tui.errors import ConfigurationError, DeltaMemError, UsageError
from deltamem_tui.text import clean, counted
from deltamem_tui.tui.core.actions import bindings, checked_keys
from deltamem_tui.tui.core.background import LookupFailed
from deltamem_tui.tui.core.bank_session import BankSession, OpenBank
from deltamem_tui.tui.core.browser import Browser, scopes_of
from deltamem_tui.tui.core.forms import FormAnswer, FormContent, Forms
from deltamem_tui.tui.core.notes import Notes, if_gone, in_words, remedies
from deltamem_tui.tui.core.texts import Texts
from deltamem_tui.tui.core.work import Attention, BankChange, UserPosition, Work, report_unfinished
from deltamem_tui.tui.models.sections import Section

_USUAL_THEME = "textual-dark"


class DeltaMemApp(Browser):
    """The program. `NO_COLOR` shows by reverse and bold what colours show."""

    TITLE = "DeltaMem"
    ALLOW_IN_MAXIMIZED_VIEW = "TopBar, WorkBar, NoteBar, KeyBar"
    BINDINGS: ClassVar = [*bindings("app")]
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - textual reads it so
        (0, "-narrow"),
        (70, "-normal"),
        (100, "-broad"),
        (160, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-tall")]  # noqa: RUF012 - textual reads it so

    def __init__(
        self,
        folder: Path,
        bank: Path | None = None,
        configuration: Configuration | None = None,
    ) -> None:
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        if self.console.color_system == "standard":  # its 16 colours blend: the terminal's own
            self.ansi_color = True
        self.folder = folder
        settings = configuration or Configuration()
        self.configuration = replace(settings, keys=checked_keys(settings.keys))
        self.animation_level = "none"
        self.theme = checked_theme(self.configuration.theme)
        self.set_keymap(self.configuration.keys)
        self.attention = Attention(self)
        self.notes = Notes(self, self._adapted)
        self.session = BankSession(
            self, self.attention, self.notes, bank_screen, banks_screen, bank
        )
        self.work = Work(
            self,
            self.attention,
            self.notes,
            self.key_of,
            self.confirm,
            bank_changed=self._follow,
            failed=self.session.look_for_changes,
        )
        self.forms = Forms(self.notes, self.work, self._show_form)
        self.texts = Texts(self, self.notes)

    def get_default_screen(self) -> Screen[Any]:
        """Return the banks, or the bank that was named, which is read first."""
        screen = self.session.first_screen()
        screen._push_result_callback(self, None)  # noqa: SLF001 - so that it can be switched
        return screen

    def on_mount(self) -> None:
        self.session.begin(lambda: self.work.state is not None)
        self.theme_changed_signal.subscribe(self, self._theme_changed)
        self.call_after_refresh(self._report_waiting)

    def _report_waiting(self) -> None:
        """Say how many sessions of agents wait to be imported, unless an error is shown."""
        from deltamem_tui.agents.sessions import StateFolder

        if self.notes.current is not None:
            return
        if waiting := StateFolder(paths.state_folder()).waiting():
            which = counted(waiting, "session of an agent waits", "sessions of agents wait")
            self.notes.notify(f"{which}: `deltamem import --queued` imports them")

    async def on_event(self, event: events.Event) -> None:
        """Count what the user does; a note that came before has been read by then."""
        if isinstance(event, events.InputEvent) and not event.is_forwarded:
            if isinstance(event, events.Key | events.Paste):
                self.notes.seen()
            if isinstance(event, events.Key | events.Paste | events.MouseDown):
                self.attention.count()
        await super().on_event(event)

    def on_key(self, event: events.Key) -> None:
        """Types what was pressed before a line had the focus: a line keeps its own letters."""
        if isinstance(self.focused, Input) and event.character and event.is_printable:
            event.prevent_default()
            self.focused.insert_text_at_cursor(event.character)

    def _theme_changed(self, theme: Theme) -> None:
        """Say how the theme that the user chose can be had the next time."""
        self.notes.notify(f'until you quit; `theme = "{theme.name}"` in deltamem.toml keeps it')

    # What went wrong, and what was changed

    @property
    def failure(self) -> Exception | None:
        """The defect that ended the program."""
        error = self._exception
        return error.error if isinstance(error, WorkerFailed) else error  # type: ignore[return-value]

    def _handle_exception(self, error: Exception) -> None:
        if not (self._exit and isinstance(error, NoMatches)):  # a screen may come up meanwhile
            super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Leave: who started the browser is given what textual would print."""
        self._close_messages_no_wait()

    def _adapted(self, error: DeltaMemError) -> DeltaMemError:
        """Names keys instead of commands, and the one reason for all that a lost bank causes."""
        home = self.session.home
        if home is not None and not home.is_closed:
            error = if_gone(error, home.path, self.key_of("close_bank"))
        return in_words(error, remedies(self.key_of))

    async def on_lookup_failed(self, message: LookupFailed) -> None:
        """Report what could not be looked up; another process may have written the bank."""
        self.notes.report(message.error)
        self.session.look_for_changes()

    def _follow(self, change: BankChange, position: UserPosition) -> None:
        """Show a bank that was written; a new one in the list, where the user waits for it."""
        from deltamem_tui.tui.screens.banks import BanksScreen

        if change.then and self.attention.is_at(position):
            self.call_later(change.then)
        if self.session.follow(change, position):
            return
        waits = self.attention.is_at(position)
        for screen in self.screen_stack:
            if isinstance(screen, BanksScreen):
                if waits:
                    screen.expect(change.path)
                screen.action_look()
        if waits and change.opens:
            self.session.new_bank = change.path
            self.session.open(change.path)

    # Dialogs

    def confirm(
        self, question: str, sections: Sequence[Section], answered: Callable[[bool | None], None]
    ) -> None:
        """Show what would be done, and ask."""
        from deltamem_tui.tui.widgets.dialogs import ReadingDialog

        self.push_screen(ReadingDialog(sections, question), answered)

    def _show_form(self, form: FormContent, answered: Callable[[FormAnswer | None], None]) -> None:
        from deltamem_tui.tui.widgets.forms import AskDialog

        self.push_screen(AskDialog(form), answered)

    # What can be done everywhere

    @property
    def _in_dialog(self) -> bool:
        return isinstance(self.screen, ModalScreen)

    def action_maximize(self) -> None:
        screen = self.screen
        if screen.maximized is not None:
            screen.minimize()
        elif screen.focused is not None and not self._in_dialog:
            screen.maximize(screen.focused)

    def action_help(self) -> None:
        from deltamem_tui.tui.screens.help import help_sections
        from deltamem_tui.tui.widgets.dialogs import ReadingDialog

        if scopes := scopes_of(self.screen):
            sections = help_sections(scopes, self.configuration.keys)
            self.push_screen(ReadingDialog(sections, tall=True))

    def action_notes(self) -> None:
        from deltamem_tui.tui.widgets.dialogs import ReadingDialog

        if not self.notes.history:
            self.notes.notify("there are no messages yet")
        elif not self._in_dialog:
            heading = Section("The latest messages, newest first")
            said = (Section("", text) for text in reversed(self.notes.history))
            self.push_screen(ReadingDialog([heading, *said]))

    def action_plan(self) -> None:
        if not self._in_dialog:
            self.work.open_plan()

    def action_cancel_work(self) -> None:
        self.work.cancel()

    def action_command_palette(self) -> None:
        from deltamem_tui.tui.palette import ActionProvider, Palette

        self.push_screen(Palette([ActionProvider]))

    def search_themes(self) -> None:
        """Choose a theme by name."""
        from textual.theme import ThemeProvider

        from deltamem_tui.tui.palette import Palette

        self.push_screen(Palette([ThemeProvider], placeholder="a theme's name"))

    def action_help_quit(self) -> None:
        self.notes.notify(f"{self.key_of('quit')} quits")

    async def action_quit(self) -> None:
        if not self.work.may_leave():
            return
        self.exit()


def bank_screen(name: str, home: OpenBank) -> Screen[Any]:
    """Make a screen of a bank, imported when it is first shown: most visits see one of them."""
    module = import_module(f"deltamem_tui.tui.screens.{name}")
    screen: Screen[Any] = getattr(module, f"{name.capitalize()}Screen")(home)
    return screen


def banks_screen(left: Path | None) -> Screen[Any]:
    """Make the list of banks, the cursor on the one that was left."""
    from deltamem_tui.tui.screens.banks import BanksScreen

    return BanksScreen(left)


def checked_theme(name: str | None) -> str:
    """Return the theme of the settings, or the usual one."""
    if name is None or name in BUILTIN_THEMES:
        return name or _USUAL_THEME
    hint = f"there are {', '.join(BUILTIN_THEMES)}"
    raise ConfigurationError(f"there is no theme {clean(name)!r}", hint=hint)


def run(
    folder: Path,
    bank: Path | None,
    configuration: Configuration,
    tell: Callable[[str], None],
) -> None:
    """Run the browser until the user quits; a driver of textual's own needs no terminal."""
    if os.environ.get("TERM") == "dumb" and "TEXTUAL_DRIVER" not in os.environ:
        raise UsageError(
            "the browser cannot be drawn on a dumb terminal",
            source="TERM=dumb",
            hint="set TERM to what your terminal is, such as xterm-256color; "
            "every other command works without one",
        )
    app = DeltaMemApp(folder, bank, configuration)
    app.run()
    if app.failure is not None:
        raise app.failure
    if app.work.unfinished is not None:
        report_unfinished(app.work.unfinished, tell)
