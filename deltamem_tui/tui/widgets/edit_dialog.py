"""A text to edit on the screen itself, where no terminal can be handed to an editor."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.widgets import TextArea

from deltamem_tui.tui.widgets.dialog import Dialog
from deltamem_tui.tui.widgets.key_line import Key, KeyLine

_KEEP = Key("f2 or ctrl+o keeps it", "keep")
_KEYS = (_KEEP, Key("escape leaves it as it was", "leave"))
_SURE = (_KEEP, Key("escape again throws away what you typed", "leave"))


class SheetDialog(Dialog[str | None]):
    """Gives the text as the person leaves it, or None.

    Args:
        text: What is to be edited.
        keep: Told what was typed, if the program ends before the person has answered.
    """

    IS_BOX = False
    DEFAULT_CSS = """
    SheetDialog { align: center middle; }
    SheetDialog > Vertical {
        width: 96%; height: 90%; border: round $primary; padding: 0 1; background: $surface;
    }
    SheetDialog TextArea, SheetDialog TextArea:focus { height: 1fr; border: none; padding: 0; }
    SheetDialog KeyLine { color: $text-muted; }
    SheetDialog:ansi > Vertical { background: ansi_default; border: round ansi_blue; }
    """
    BINDINGS: ClassVar = [
        Binding("f2,ctrl+o", "keep", "Keep it", priority=True),
        Binding("escape", "leave", "Leave it", priority=True),
    ]

    def __init__(self, text: str, keep: Callable[[str], None] = lambda _: None) -> None:
        super().__init__()
        self._text = text
        self._typed = text
        self._keep = keep
        self._asked = False

    def compose(self) -> ComposeResult:
        """The text and how to go on."""
        with Vertical():
            yield TextArea(self._text, soft_wrap=True)
            yield KeyLine(_KEYS)

    def on_mount(self) -> None:
        """Keep the cursor from blinking: over a slow line it would send for ever."""
        self.query_one(TextArea).cursor_blink = False

    def on_text_area_changed(self) -> None:
        """Who types on has answered."""
        self._typed = self.query_one(TextArea).text
        if self._asked:
            self._asked = False
            self.query_one(KeyLine).show(_KEYS)

    def on_unmount(self) -> None:
        """The program ends, or the page is closed: what was typed is not lost with it."""
        if not self.answered and self._typed != self._text:
            self._keep(self._typed)

    def action_leave(self) -> None:
        """Leave it; what was typed is thrown away only if that is asked for twice."""
        if self._asked or self.query_one(TextArea).text == self._text:
            self.dismiss(None)
            return
        self._asked = True
        self.query_one(KeyLine).show(_SURE)

    def action_keep(self) -> None:
        """Give the text back."""
        self.dismiss(self.query_one(TextArea).text)
