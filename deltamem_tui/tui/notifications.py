"""How the program speaks with the person at the terminal: notes, clipboard, editor, pager."""

from __future__ import annotations

import io
import os
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from textual.app import App, SuspendNotSupported
from textual.timer import Timer

from deltamem_tui.errors import DeltaMemError, UsageError
from deltamem_tui.text import clean, counted
from deltamem_tui.tui import programs
from deltamem_tui.tui.background import look_up
from deltamem_tui.tui.clipboard import copy_locally
from deltamem_tui.tui.messages import Told
from deltamem_tui.tui.screens.base import BrowserScreen
from deltamem_tui.tui.widgets.note_bar import Note

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

T = TypeVar("T")

_NOTE_CHARACTERS = 20_000
_NOTE_SECONDS = 4.0
_ERROR_SECONDS = 15.0
_READ_A_SECOND = 12
"""Characters that everybody reads in a second, a digest among them."""

_UNSEEN_SECONDS = 0.5
"""Who types on when something is said has not seen it yet."""

_LONGEST_SECONDS = 60.0
_KEPT_NOTES = 50
_EDITED_CHARACTERS = 50_000


class Voice(App[None]):
    """The part of the program that every screen speaks through.

    `NO_COLOR` takes every colour away, also the shades of grey that textual leaves: the
    styles for terminal colours tell by reverse and bold what others tell by colour.

    Attributes:
        note: What it says just now; None if nothing.
        said: What it said last, oldest first.
        edited: Lets a person edit a text.
        paged: Lets a person read a text.
    """

    def __init__(self) -> None:
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.note: Note | None = None
        self.said: deque[str] = deque(maxlen=_KEPT_NOTES)
        self._note_timer: Timer | None = None
        self._note_seen_at = 0.0
        self.edited: Callable[[str], str] = self._edited_in_terminal
        self.paged: Callable[[str], None] = self._paged_in_terminal

    def tell(self, words: str, *, warning: bool = False) -> None:
        """Say something to the person.

        Args:
            words: What.
            warning: Whether it is bad news.
        """
        self._say(Note(_short(words), "warning" if warning else "information"))
        self._take_away_after(_NOTE_SECONDS)

    def tell_error(self, error: DeltaMemError) -> None:
        """Say what went wrong, long enough to be read."""
        self._say(Note(_short(str(error)), "error"))
        self._take_away_after(_ERROR_SECONDS)

    def notify(
        self,
        message: str,
        *,
        title: str = "",  # noqa: ARG002 - the line has no room for a title
        severity: SeverityLevel = "information",
        timeout: float | None = None,  # noqa: ARG002 - nor the note a time of its own
        markup: bool = True,  # noqa: ARG002 - and outside text is never markup
    ) -> None:
        """What widgets say comes to the same line, where it covers nothing."""
        self.tell(message, warning=severity != "information")

    def _take_away_after(self, seconds: float) -> None:
        """Take the note away after some seconds, or once it can have been read."""
        length = len(self.note.words) if self.note else 0
        reading = min(length / _READ_A_SECOND, _LONGEST_SECONDS)
        self._note_timer = self.set_timer(max(seconds, reading), self.say_no_more)

    def note_was_seen(self) -> None:
        """Take the note away for who does something after reading it."""
        if self.note and time.monotonic() >= self._note_seen_at:
            self.say_no_more()

    def say_no_more(self) -> None:
        """Take the note away; the keys come back."""
        self._say(None)

    def _say(self, note: Note | None) -> None:
        """One note at a time: a new one takes the place of the one before."""
        if self._note_timer is not None:
            self._note_timer.stop()
            self._note_timer = None
        self.note = note
        self._note_seen_at = time.monotonic() + _UNSEEN_SECONDS
        if note is not None:
            self.said.append(note.words)
        for screen in self.screen_stack:
            if isinstance(screen, BrowserScreen):
                screen.show_note(note)

    def action_notes(self) -> None:
        """Show what was said last, whole."""
        from deltamem_tui.tui.widgets.dialogs import NotesDialog

        if not self.said:
            self.tell("nothing was said yet")
        elif isinstance(self.screen, BrowserScreen):
            self.push_screen(NotesDialog([*reversed(self.said)]))

    def copy(self, text: str) -> None:
        """Copy text, by the terminal and by the local clipboard."""
        self.copy_to_clipboard(text)
        look_up(self, "copying", lambda _: _copied(text))

    def edit(
        self, text: str, then: Callable[[str], None], keep: Callable[[str], None] = lambda _: None
    ) -> None:
        """Let the person edit a text: in `$EDITOR`, in a web browser on the page itself.

        Args:
            text: The text.
            then: Told what it says afterwards, unless the person left it or it went wrong.
            keep: Told what was typed, if it went wrong or the program ended before.
        """
        try:
            after = self.edited(text)
        except SuspendNotSupported:
            self._edit_here(text, then, keep)
        except DeltaMemError as error:
            if isinstance(error, programs.SpoiltEditError) and error.text != text:
                keep(error.text)
            self.tell_error(error)
        else:
            then(after)

    def _edit_here(
        self, text: str, then: Callable[[str], None], keep: Callable[[str], None]
    ) -> None:
        from deltamem_tui.tui.widgets.edit_dialog import SheetDialog

        if len(text) > _EDITED_CHARACTERS:
            error = UsageError(
                f"{counted(len(text), 'character')} are too many to be edited on this page",
                hint="open the bank in a terminal, where $EDITOR takes them",
            )
            self.tell_error(error)
            return
        self.push_screen(
            SheetDialog(text, keep), lambda left: then(left) if left is not None else None
        )

    def read(self, text: str) -> None:
        """Let the person read a text: in `$PAGER`, in a web browser as a page of its own."""
        try:
            self.paged(text)
        except SuspendNotSupported:
            self.deliver_text(io.StringIO(text), save_filename="node.txt", open_method="browser")
        except DeltaMemError as error:
            self.tell_error(error)

    def _edited_in_terminal(self, text: str) -> str:
        return self._outside(lambda: programs.edited(text))

    def _paged_in_terminal(self, text: str) -> None:
        self._outside(lambda: programs.paged(text))

    def _outside(self, program: Callable[[], T]) -> T:
        """Leave the terminal to a program. Textual takes it back only after a block that ends well.

        Raises:
            DeltaMemError: The program's; the browser is back then.
        """
        failed: DeltaMemError | None = None
        with self.suspend():
            try:
                return program()
            except DeltaMemError as error:
                failed = error
        raise failed


def _short(words: str) -> str:
    return clean(words)[:_NOTE_CHARACTERS]


def _copied(text: str) -> Told:
    place = "" if copy_locally(text) else " by the terminal (OSC 52)"
    return Told(f"copied {counted(len(text), 'character')}{place}")
