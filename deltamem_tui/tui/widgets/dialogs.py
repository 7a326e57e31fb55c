"""Dialogs: a few lines to fill in, or something to look at before it is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.widgets import Input, Static

from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.widgets.dialog import Dialog
from deltamem_tui.tui.widgets.key_line import Key, KeyLine
from deltamem_tui.tui.widgets.line_input import LineInput
from deltamem_tui.tui.widgets.text_pane import TextPane
from deltamem_tui.tui.widgets.tick import Tick

_CSS = """
{name} {{ align: center middle; }}
{name} > Vertical {{
    width: 90%; max-width: 90; height: auto; max-height: 90%;
    border: round $primary; padding: 0 1; background: $surface;
}}
{name} Input {{ margin-bottom: 1; }}
{name} .quiet {{ color: $text-muted; }}
{name} TextPane {{ height: auto; max-height: 14; margin-bottom: 1; }}
{name}:ansi > Vertical {{ background: ansi_default; border: round ansi_blue; }}
"""

_CONFIRM = (Key("y does it", "dismiss(True)"), Key("escape leaves it", "dismiss(False)"))
_DRAFT = (
    Key("y goes on with it", "dismiss(True)"),
    Key("n begins anew", "dismiss(False)"),
    Key("escape leaves both", "dismiss(None)"),
)


@dataclass(frozen=True, slots=True)
class Field:
    """A line to fill in.

    Attributes:
        name: What the answer is called.
        label: What is asked.
        value: What stands there at first.
        hint: An example or the choices, shown while it is empty.
        tick: Whether it is a box to tick instead; its answer is `yes` or empty.
    """

    name: str
    label: str
    value: str = ""
    hint: str = ""
    tick: bool = False


class AskDialog(Dialog[Mapping[str, str] | None]):
    """Asks for a few lines; gives them by name, or None."""

    DEFAULT_CSS = _CSS.format(name="AskDialog")
    BINDINGS: ClassVar = [Binding("escape", "dismiss(None)", "Leave it")]

    def __init__(self, title: str, fields: Sequence[Field]) -> None:
        super().__init__()
        self._title = title
        self._fields = fields

    def compose(self) -> ComposeResult:
        """The lines."""
        with Vertical():
            yield Static(Text(self._title, "bold"))
            for field in self._fields:
                if field.tick:
                    yield Tick(field.label, ticked=bool(field.value), id=field.name)
                    continue
                yield Static(Text(field.label))
                yield LineInput(field.value, placeholder=field.hint, id=field.name, compact=True)
            yield KeyLine(self._keys(), classes="quiet")

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

    def _answer(self, field: Field) -> str:
        if field.tick:
            return "yes" if self.query_one(f"#{field.name}", Tick).ticked else ""
        return self.query_one(f"#{field.name}", Input).value.strip()


class ConfirmDialog(Dialog[bool]):
    """Shows what would be done, and asks."""

    DEFAULT_CSS = _CSS.format(name="ConfirmDialog")
    BINDINGS: ClassVar = [
        Binding("y", "dismiss(True)", "Do it"),
        Binding("escape,n", "dismiss(False)", "Leave it"),
    ]

    def __init__(self, question: str, sections: Sequence[Section]) -> None:
        super().__init__()
        self._question = question
        self._sections = sections

    def compose(self) -> ComposeResult:
        """The preview and the question."""
        with Vertical():
            yield TextPane(id="preview")
            yield Static(Text(self._question, "bold"))
            yield KeyLine(_CONFIRM, classes="quiet")

    def on_mount(self) -> None:
        """Show the preview."""
        self.query_one(TextPane).show(self._sections)


class DraftDialog(Dialog[bool | None]):
    """Offers a text that could not be saved: to go on with it, or to begin anew.

    Args:
        draft: The text that could not be saved.
        now: What the node says now.
    """

    DEFAULT_CSS = _CSS.format(name="DraftDialog")
    BINDINGS: ClassVar = [
        Binding("y", "dismiss(True)", "Go on with it"),
        Binding("n", "dismiss(False)", "Begin anew"),
        Binding("escape", "dismiss(None)", "Leave both"),
    ]

    def __init__(self, draft: str, now: str) -> None:
        super().__init__()
        self._sections = [
            Section("Your text", draft),
            Section("What the node says now", now, quiet=True),
        ]

    def compose(self) -> ComposeResult:
        """Both texts, and the question."""
        with Vertical():
            yield TextPane(id="preview")
            yield Static(Text("Go on with your text, which was not saved?", "bold"))
            yield KeyLine(_DRAFT, classes="quiet")

    def on_mount(self) -> None:
        """Show both."""
        self.query_one(TextPane).show(self._sections)


class NotesDialog(Dialog[None]):
    """What the program said, whole.

    Args:
        notes: The notes, the last one first.
    """

    DEFAULT_CSS = _CSS.format(name="NotesDialog")
    BINDINGS: ClassVar = [Binding("escape,q,N", "dismiss(None)", "Close")]

    def __init__(self, notes: Sequence[str]) -> None:
        super().__init__()
        self._notes = notes

    def compose(self) -> ComposeResult:
        """The notes."""
        with Vertical():
            yield TextPane(id="notes")
            yield KeyLine([Key("escape closes", "dismiss(None)")], classes="quiet")

    def on_mount(self) -> None:
        """Show them."""
        pane = self.query_one(TextPane)
        pane.show([Section("What was said last, the newest first"), *map(_note, self._notes)])
        pane.focus()


def _note(words: str) -> Section:
    return Section("", words)
