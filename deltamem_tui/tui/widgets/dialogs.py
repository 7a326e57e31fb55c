"""Dialogs: a few lines to fill in, or something to look at before it is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input, Static

from deltamem_tui.text import clean
from deltamem_tui.tui.core.forms import FormLine
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.widgets.dialog import BoxDialog
from deltamem_tui.tui.widgets.key_line import Key, KeyLine
from deltamem_tui.tui.widgets.line_input import LineInput
from deltamem_tui.tui.widgets.text_pane import TextPane
from deltamem_tui.tui.widgets.tick import Tick

AnswerT = TypeVar("AnswerT")


class AskDialog(BoxDialog[Mapping[str, str] | None]):
    """Asks for a few lines; gives them by name, or None.

    Args:
        title: What they are for.
        fields: The lines.
        reason: Why they are asked for once more; empty the first time.
        refused: The name of the line that the reason is about; empty if it is about none.
    """

    SCROLLED = "#lines"
    DEFAULT_CSS = """
    AskDialog #head { height: auto; }
    AskDialog #lines { height: auto; scrollbar-size-vertical: 1; }
    AskDialog Input { margin-bottom: 1; }
    AskDialog #reason { color: $text-warning; text-style: bold; margin-bottom: 1; max-height: 5; }
    AskDialog:ansi #reason { color: ansi_red; }
    """
    BINDINGS: ClassVar = [Binding("escape", "dismiss(None)", "Leave it")]

    def __init__(
        self, title: str, fields: Sequence[FormLine], reason: str = "", refused: str = ""
    ) -> None:
        super().__init__()
        self._refused = refused
        self._title = title
        self._fields = fields
        self._reason = reason

    def compose(self) -> ComposeResult:
        """The lines; what they are for and why stay in sight while they are scrolled."""
        with Vertical():
            with Vertical(id="head"):
                yield Static(Text(clean(self._title), "bold"))
                if self._reason:
                    yield Static(Text(clean(self._reason)), id="reason")
            with VerticalScroll(id="lines", can_focus=False):
                for field in self._fields:
                    if field.tick:
                        yield Tick(field.label, ticked=bool(field.value), id=field.name)
                        continue
                    yield Static(Text(clean(field.label)))
                    yield LineInput(
                        field.value, placeholder=field.hint, id=field.name, compact=True
                    )
            yield KeyLine(self._keys())

    def on_mount(self) -> None:
        """Go to the line that has to be mended; to the first if none is known."""
        if self._refused:
            self.query_one(f"#{self._refused}").focus()

    def _keys(self) -> list[Key]:
        ticks = [Key("space ticks")] if any(field.tick for field in self._fields) else []
        return [
            Key("enter goes on", "go_on"),
            Key("tab changes the line", "app.focus_next"),
            *ticks,
            Key("escape leaves it", "dismiss(None)"),
        ]

    def on_input_submitted(self) -> None:
        """Enter in a line goes on."""
        self.action_go_on()

    def action_go_on(self) -> None:
        """Give the answers."""
        if self.is_active:
            self.dismiss({field.name: self._answer(field) for field in self._fields})

    def _answer(self, field: FormLine) -> str:
        if field.tick:
            return "yes" if self.query_one(f"#{field.name}", Tick).ticked else ""
        return self.query_one(f"#{field.name}", Input).value.strip()


class PaneDialog(BoxDialog[AnswerT]):
    """Something to read, at most a question about it, and the keys that answer it.

    Args:
        sections: What is to be read.
        question: What is asked; empty if nothing is, and reading is all there is to do.
    """

    KEYS: ClassVar[Sequence[Key]] = (Key("escape closes", "dismiss(None)"),)
    SCROLLED = "TextPane"
    MOST_LINES = 14
    DEFAULT_CSS = """
    PaneDialog TextPane { height: auto; max-height: 14; margin-bottom: 1; }
    """

    def __init__(self, sections: Sequence[Section], question: str = "") -> None:
        super().__init__()
        self._sections = sections
        self._question = question

    def compose(self) -> ComposeResult:
        """What is to be read, and the question."""
        with Vertical():
            yield TextPane()
            if self._question:
                yield Static(Text(clean(self._question), "bold"))
            yield KeyLine(self.KEYS)

    def on_mount(self) -> None:
        """Show what is to be read."""
        pane = self.query_one(TextPane)
        pane.show(self._sections)
        pane.focus()


class ConfirmDialog(PaneDialog[bool]):
    """Shows what would be done, and asks.

    Args:
        question: Whether it shall be done.
        sections: What would be done.
    """

    KEYS: ClassVar = (Key("y does it", "dismiss(True)"), Key("escape leaves it", "dismiss(False)"))
    BINDINGS: ClassVar = [
        Binding("y", "dismiss(True)", "Do it"),
        Binding("escape,n", "dismiss(False)", "Leave it"),
    ]

    def __init__(self, question: str, sections: Sequence[Section]) -> None:
        super().__init__(sections, question)


class DraftDialog(PaneDialog[bool | None]):
    """Offers a text that could not be saved: to go on with it, or to begin anew.

    Args:
        draft: The text that could not be saved.
        now: What the node says now.
    """

    KEYS: ClassVar = (
        Key("y goes on with it", "dismiss(True)"),
        Key("n begins anew", "dismiss(False)"),
        Key("escape leaves both", "dismiss(None)"),
    )
    BINDINGS: ClassVar = [
        Binding("y", "dismiss(True)", "Go on with it"),
        Binding("n", "dismiss(False)", "Begin anew"),
        Binding("escape", "dismiss(None)", "Leave both"),
    ]

    def __init__(self, draft: str, now: str) -> None:
        both = Section("Your text", draft), Section("What the node says now", now, quiet=True)
        super().__init__(both, "Go on with your text, which was not saved?")


class NotesDialog(PaneDialog[None]):
    """What the program said, whole.

    Args:
        notes: The notes, the last one first.
    """

    BINDINGS: ClassVar = [Binding("escape,q,N", "dismiss(None)", "Close")]

    def __init__(self, notes: Sequence[str]) -> None:
        heading = Section("What was said last, the newest first")
        super().__init__([heading, *(Section("", words) for words in notes)])
