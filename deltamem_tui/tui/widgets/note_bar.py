"""The line at the bottom that tells what happened; the keys stand there when nothing did."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import Static

from deltamem_tui.tui.core.browser import browser_of
from deltamem_tui.tui.core.notes import Note
from deltamem_tui.tui.widgets.painting import wrapped

_LINES = 5
_PADDING = 1


class NoteBar(Static):
    """A note in the place of the keys. It takes room of its own, so nothing is hidden by it.

    One that is too long for it says how the rest can be read. A click shows it, too.
    """

    DEFAULT_CSS = """
    NoteBar {
        dock: bottom; height: auto; padding: 0 1; display: none;
        background: $footer-background; color: $footer-foreground; text-style: bold;
        &.-warning { color: $text-warning; }
        &.-error { color: $text-error; }
        &:ansi { background: ansi_default; color: ansi_default; }
        &:ansi.-warning, &:ansi.-error { color: ansi_red; }
    }
    """

    _note: Note | None = None

    def on_mount(self) -> None:
        """Follows the notes."""
        notes = browser_of(self).notes
        notes.changed.subscribe(self, self._show)
        self._show(notes.current)

    def _show(self, note: Note | None) -> None:
        """Shows a note instead of the one before; hides when there is none."""
        self._note = note
        self.display = note is not None
        if note is not None:
            self._fit(note)
            for severity in ("warning", "error"):
                self.set_class(note.severity == severity, f"-{severity}")

    def on_resize(self) -> None:
        """Fits the note to another width."""
        if self._note is not None:
            self._fit(self._note)

    def _fit(self, note: Note) -> None:
        """Shows as many lines as there is room for, the last of them with the way to the rest."""
        width = self.size.width or self.app.size.width - 2 * _PADDING
        lines = list(wrapped(note.shown, self.app.console, width))
        if len(lines) > _LINES:
            lines = [*lines[: _LINES - 1], f"… {self._key()} shows all of it"]
        self.update(Text("\n".join(lines)))

    def _key(self) -> str:
        return browser_of(self).key_of("notes")

    async def on_click(self) -> None:
        """Shows all of it."""
        await self.app.run_action("notes")
