"""How the program speaks with the person at the terminal: notes, clipboard, editor, pager."""

from __future__ import annotations

import io
import os
from collections.abc import Callable

from textual.app import App, SuspendNotSupported

from deltamem_tui.errors import DeltaMemError, UsageError
from deltamem_tui.text import clean
from deltamem_tui.tui import programs
from deltamem_tui.tui.background import look_up
from deltamem_tui.tui.clipboard import copy_locally
from deltamem_tui.tui.messages import Told
from deltamem_tui.tui.models.words import counted

_NOTE_CHARACTERS = 2_000
_ERROR_SECONDS = 10
_EDITED_CHARACTERS = 50_000


class Voice(App[None]):
    """The part of the program that every screen speaks through.

    `NO_COLOR` takes every colour away, also the shades of grey that textual leaves: the
    styles for terminal colours tell by reverse and bold what others tell by colour.

    Attributes:
        edited: Lets a person edit a text.
        paged: Lets a person read a text.
    """

    def __init__(self) -> None:
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.edited: Callable[[str], str] = self._edited_in_terminal
        self.paged: Callable[[str], None] = self._paged_in_terminal

    def tell(self, words: str, *, warning: bool = False) -> None:
        """Say something to the person."""
        severity = "warning" if warning else "information"
        self.notify(clean(words)[:_NOTE_CHARACTERS], severity=severity, markup=False)  # type: ignore[arg-type]

    def tell_error(self, error: DeltaMemError) -> None:
        """Say what went wrong."""
        words = clean(str(error))[:_NOTE_CHARACTERS]
        self.notify(words, severity="error", timeout=_ERROR_SECONDS, markup=False)

    def copy(self, text: str) -> None:
        """Copy text, by the terminal and by the local clipboard."""
        self.copy_to_clipboard(text)
        look_up(self, "copying", lambda _: _copied(text))

    def edit(self, text: str, then: Callable[[str], None]) -> None:
        """Let the person edit a text: in `$EDITOR`, in a web browser on the page itself.

        Args:
            text: The text.
            then: Told what it says afterwards, unless the person left it or it went wrong.
        """
        try:
            after = self.edited(text)
        except SuspendNotSupported:
            self._edit_here(text, then)
        except DeltaMemError as error:
            self.tell_error(error)
        else:
            then(after)

    def _edit_here(self, text: str, then: Callable[[str], None]) -> None:
        from deltamem_tui.tui.widgets.sheet_dialog import SheetDialog

        if len(text) > _EDITED_CHARACTERS:
            error = UsageError(
                f"{counted(len(text), 'character')} are too many to be edited on this page",
                hint="open the bank in a terminal, where $EDITOR takes them",
            )
            self.tell_error(error)
            return
        self.push_screen(SheetDialog(text), lambda left: then(left) if left else None)

    def read(self, text: str) -> None:
        """Let the person read a text: in `$PAGER`, in a web browser as a page of its own."""
        try:
            self.paged(text)
        except SuspendNotSupported:
            self.deliver_text(io.StringIO(text), save_filename="node.txt", open_method="browser")
        except DeltaMemError as error:
            self.tell_error(error)

    def _edited_in_terminal(self, text: str) -> str:
        with self.suspend():
            return programs.edited(text)

    def _paged_in_terminal(self, text: str) -> None:
        with self.suspend():
            programs.paged(text)


def _copied(text: str) -> Told:
    place = "" if copy_locally(text) else " by the terminal (OSC 52)"
    return Told(f"copied {counted(len(text), 'character')}{place}")
