"""Dialogs: something to look at before it is done, a text to edit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.widgets import Static, TextArea

from deltamem_tui.text import clean
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.widgets.dialog import Dialog, Key, KeyLine
from deltamem_tui.tui.widgets.text_pane import TextPane

_KEEP = Key("f2 or ctrl+o saves it", "keep")
_KEYS = (_KEEP, Key("escape cancels", "leave"))
_SURE = (_KEEP, Key("escape again discards what you typed", "leave"))


class ReadingBox(Vertical):
    """Something to read, at most a question about it, and the keys that answer it.

    Args:
        sections: What is to be read.
        question: What is asked; empty if nothing is, and reading is all there is to do.
        keys: The keys.
        tall: Whether it takes all the room that its style gives it.
    """

    DEFAULT_CSS = """
    ReadingBox TextPane { height: auto; max-height: 14; margin-bottom: 1; }
    """

    def __init__(
        self,
        sections: Sequence[Section],
        question: str = "",
        keys: Sequence[Key] = (Key("escape closes", "dismiss(None)"),),
        *,
        tall: bool = False,
    ) -> None:
        super().__init__()
        self._sections = sections
        self._question = question
        self._keys = keys
        self._pane = TextPane()
        if not tall:
            self._pane.add_class("-scrolled", "-pane")

    def compose(self) -> ComposeResult:
        """What is to be read, and the question."""
        yield self._pane
        if self._question:
            yield Static(Text(clean(self._question), "bold"))
        yield KeyLine(self._keys)

    def on_mount(self) -> None:
        """Shows what is to be read."""
        self._pane.show(self._sections)
        self._pane.focus()


class ConfirmDialog(Dialog[bool]):
    """Shows what would be done, and asks.

    Args:
        question: Whether it is to be done.
        sections: What would be done.
    """

    BINDINGS: ClassVar = [
        Binding("y", "dismiss(True)", "Do it"),
        Binding("escape,n", "dismiss(False)", "Cancel"),
    ]

    def __init__(self, question: str, sections: Sequence[Section]) -> None:
        super().__init__()
        self.question = question
        self._sections = sections

    def compose(self) -> ComposeResult:
        """The plan, the question, the keys."""
        keys = (Key("y confirms", "dismiss(True)"), Key("escape cancels", "dismiss(False)"))
        yield ReadingBox(self._sections, self.question, keys)


class DraftDialog(Dialog[bool | None]):
    """Offers a text that could not be saved: to go on with it, or to start over.

    Args:
        draft: The text that could not be saved.
        now: What the node says now.
    """

    BINDINGS: ClassVar = [
        Binding("y", "dismiss(True)", "Go on with it"),
        Binding("n", "dismiss(False)", "Start over"),
        Binding("escape", "dismiss(None)", "Cancel"),
    ]

    def __init__(self, draft: str, now: str) -> None:
        super().__init__()
        self._sections = (
            Section("Your text", draft),
            Section("What the node says now", now, quiet=True),
        )

    def compose(self) -> ComposeResult:
        """Both texts, the question, the keys."""
        keys = (
            Key("y continues with it", "dismiss(True)"),
            Key("n starts over", "dismiss(False)"),
            Key("escape cancels", "dismiss(None)"),
        )
        yield ReadingBox(self._sections, "Continue with your text, which was not saved?", keys)


class NotesDialog(Dialog[None]):
    """The last notes, whole.

    Args:
        notes: The notes, the last one first.
    """

    BINDINGS: ClassVar = [Binding("escape,q,N", "dismiss(None)", "Close")]

    def __init__(self, notes: Sequence[str]) -> None:
        super().__init__()
        self._notes = notes

    def compose(self) -> ComposeResult:
        """The notes."""
        heading = Section("The latest messages, newest first")
        yield ReadingBox([heading, *(Section("", text) for text in self._notes)])


class EditDocumentDialog(Dialog[str | None]):
    """A text to edit where no terminal can be handed to an editor; gives it back, or None.

    Args:
        text: What is to be edited.
        keep: Told what was typed, if the program ends before the user has answered.
    """

    IS_BOX = False
    DEFAULT_CSS = """
    EditDocumentDialog { align: center middle; }
    EditDocumentDialog > Vertical {
        width: 96%; height: 90%; border: round $primary; padding: 0 1; background: $surface;
    }
    EditDocumentDialog TextArea, EditDocumentDialog TextArea:focus {
        height: 1fr; border: none; padding: 0;
    }
    EditDocumentDialog KeyLine { color: $text-muted; }
    EditDocumentDialog:ansi > Vertical { background: ansi_default; border: round ansi_blue; }
    """
    BINDINGS: ClassVar = [
        Binding("f2,ctrl+o", "keep", "Keep it", priority=True),
        Binding("escape", "leave", "Cancel", priority=True),
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
        """Typing on answers the question whether to throw the text away."""
        self._typed = self.query_one(TextArea).text
        if self._asked:
            self._asked = False
            self.query_one(KeyLine).show(_KEYS)

    def on_unmount(self) -> None:
        """The program ends, or the page is closed: what was typed is not lost with it."""
        if not self.answered and self._typed != self._text:
            self._keep(self._typed)

    def action_leave(self) -> None:
        """Cancel; what was typed is thrown away only if that is asked for twice."""
        if self._asked or self.query_one(TextArea).text == self._text:
            self.dismiss(None)
            return
        self._asked = True
        self.query_one(KeyLine).show(_SURE)

    def action_keep(self) -> None:
        """Give the text back."""
        self.dismiss(self.query_one(TextArea).text)
