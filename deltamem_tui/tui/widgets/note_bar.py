"""The line at the bottom that tells what happened; the keys stand there when nothing did."""

from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text
from textual.widgets import Static


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
    """A note in the place of the keys. It takes room of its own, so nothing is hidden by it."""

    DEFAULT_CSS = """
    NoteBar {
        dock: bottom; height: auto; max-height: 5; padding: 0 1;
        background: $footer-background; color: $footer-foreground; text-style: bold;
        &.-warning { color: $text-warning; }
        &.-error { color: $text-error; }
        &:ansi { background: ansi_default; color: ansi_default; }
        &:ansi.-warning, &:ansi.-error { color: ansi_red; }
    }
    """

    def show(self, note: Note) -> None:
        """Say this instead of what was said before."""
        self.update(Text(note.shown))
        for severity in ("warning", "error"):
            self.set_class(note.severity == severity, f"-{severity}")
