"""The line at the bottom that tells what happened; the keys stand there when nothing did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from rich.text import Text
from textual.widgets import Static

from deltamem_tui.tui.widgets.painting import wrapped

if TYPE_CHECKING:
    from deltamem_tui.tui.app import DeltaMemApp

_LINES = 5
_PADDING = 1


@dataclass(frozen=True, slots=True)
class Note:
    """Something the program says.

    Attributes:
        words: What it says.
        severity: `information`, `warning` or `error`.
    """

    words: str
    severity: str = "information"

    @property
    def shown(self) -> str:
        """The words, and what they are without colours."""
        mark = {"information": "", "warning": "! ", "error": "✗ "}
        return f"{mark.get(self.severity, '')}{self.words}"


class NoteBar(Static):
    """A note in the place of the keys. It takes room of its own, so nothing is hidden by it.

    One that is too long for it says how the rest can be read. A click shows it, too.
    """

    DEFAULT_CSS = """
    NoteBar {
        dock: bottom; height: auto; padding: 0 1;
        background: $footer-background; color: $footer-foreground; text-style: bold;
        &.-warning { color: $text-warning; }
        &.-error { color: $text-error; }
        &:ansi { background: ansi_default; color: ansi_default; }
        &:ansi.-warning, &:ansi.-error { color: ansi_red; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._note = Note("")

    def show(self, note: Note) -> None:
        """Say this instead of what was said before."""
        self._note = note
        self._fit()
        for severity in ("warning", "error"):
            self.set_class(note.severity == severity, f"-{severity}")

    def on_resize(self) -> None:
        """Fold anew for another width."""
        self._fit()

    def _fit(self) -> None:
        """Show as many lines as there is room for, the last of them with the way to the rest."""
        width = self.size.width or self.app.size.width - 2 * _PADDING
        lines = list(wrapped(self._note.shown, self.app.console, width))
        if len(lines) > _LINES:
            lines = [*lines[: _LINES - 1], f"… {self._key()} shows all of it"]
        self.update(Text("\n".join(lines)))

    def _key(self) -> str:
        return cast("DeltaMemApp", self.app).key_of("notes")

    async def on_click(self) -> None:
        """Show all of it."""
        await self.app.run_action("notes")
