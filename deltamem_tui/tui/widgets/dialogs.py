"""Dialogs: something to read or to agree to, and the texts of a node to edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from deltamem_tui.text import clean
from deltamem_tui.tui.core.browser import browser_of
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.widgets.text_pane import TextPane

AnswerT = TypeVar("AnswerT")

_BOX_HEIGHT = 0.9
"""Of the screen's height, as the style has it."""
_MOST_PANE_LINES = 14
_LEAST_LINES = 2
"""A label and what is typed below it."""


def key_text(*keys: tuple[str, str]) -> str:
    """Return the markup of keys and what they do; a click on one runs its action."""
    return " · ".join(f"[@click={action}]{words}[/]" if action else words for words, action in keys)


class Dialog(ModalScreen[AnswerT]):
    """A screen over others, of which the first answer counts: a second click finds it gone."""

    DEFAULT_CSS = """
    Dialog { align: center middle; }
    Dialog > Vertical {
        width: 90%; max-width: 90; height: auto; max-height: 90%;
        border: round $primary; padding: 0 1; background: $surface;
    }
    Dialog:ansi > Vertical { background: ansi_default; border: round ansi_blue; }
    Dialog .-keys { color: $text-muted; link-color: $text-muted; link-style: none; }
    Dialog .-label { color: $text-primary; }
    Dialog:ansi .-label { color: ansi_cyan; }
    Dialog:ansi:light .-label { color: ansi_blue; }
    Dialog:ansi .-keys { color: ansi_default; link-color: ansi_default; }
    """

    def dismiss(self, result: AnswerT | None = None) -> AwaitComplete:
        """Answer, unless that was done before."""
        return super().dismiss(result) if self.is_active else AwaitComplete()

    def on_resize(self) -> None:
        if self.query(".-scrolled"):
            self.call_after_refresh(self._make_room)

    def _make_room(self) -> None:
        """Keep the question, the reason and the keys in sight where there is little room."""
        if not self.query(".-scrolled"):  # the dialog was left before the screen was drawn again
            return
        box, scrolled = self.query_one(Vertical), self.query_one(".-scrolled")
        others = sum(each.outer_size.height for each in box.children if each is not scrolled)
        taken = box.gutter.height + scrolled.styles.margin.height + others
        room = max(int(self.size.height * _BOX_HEIGHT) - taken, _LEAST_LINES)
        is_pane = isinstance(scrolled, TextPane)
        scrolled.styles.max_height = min(room, _MOST_PANE_LINES) if is_pane else room
        if self.focused is not None and self.focused is not scrolled:
            self.call_after_refresh(self.show_focused)

    def show_focused(self) -> None:
        """Bring what has the focus into sight."""


class ReadingDialog(Dialog[bool]):
    """Something to read and, if a question is asked about it, to agree to."""

    DEFAULT_CSS = """
    ReadingDialog TextPane { height: auto; max-height: 14; margin-bottom: 1; }
    ReadingDialog.-tall > Vertical { height: 90%; }
    ReadingDialog.-tall TextPane { height: 1fr; max-height: 100%; margin-bottom: 0; }
    """
    BINDINGS: ClassVar = [
        Binding("y", "agree", "Do it"),
        Binding("escape,n,q,N,question_mark,f1", "dismiss(False)", "Close"),
    ]

    def __init__(
        self, sections: Sequence[Section], question: str = "", *, tall: bool = False
    ) -> None:
        super().__init__(classes="-tall" if tall else None)
        self.question = question
        self._sections = sections
        self._pane = TextPane()
        self._pane.set_class(not tall, "-scrolled")

    def compose(self) -> ComposeResult:
        closes = ("escape cancels" if self.question else "escape closes", "screen.dismiss(False)")
        with Vertical():
            yield self._pane
            if self.question:
                yield Static(Text(clean(self.question), "bold"))
            keys = [("y confirms", "screen.agree"), closes] if self.question else [closes]
            yield Static(key_text(*keys), classes="-keys")

    def on_mount(self) -> None:
        self._pane.show(self._sections)
        self._pane.focus()

    def action_agree(self) -> None:
        if self.question:
            self.dismiss(True)


_SAVES = ("f2 or ctrl+o saves", "screen.save")
_KEYS = key_text(
    _SAVES,
    ("tab next text", "app.focus_next"),
    ("ctrl+e opens $EDITOR", "screen.edit_outside"),
    ("escape cancels", "screen.leave"),
)
_SURE = key_text(_SAVES, ("escape again discards what you typed", "screen.leave"))


class EditFieldsDialog(Dialog[Mapping[str, str] | None]):
    """A field for each text of a node; gives them back, or None."""

    DEFAULT_CSS = """
    EditFieldsDialog > Vertical { width: 96%; max-width: 100%; height: 90%; }
    EditFieldsDialog TextArea, EditFieldsDialog TextArea:focus {
        height: 1fr; min-height: 4; border: none; border-top: solid $primary; padding: 0;
    }
    """
    BINDINGS: ClassVar = [
        Binding("f2,ctrl+o", "save", "Save", priority=True),
        Binding("ctrl+e", "edit_outside", "Edit in $EDITOR", priority=True),
        Binding("escape", "leave", "Cancel", priority=True),
    ]

    def __init__(
        self, labels: Mapping[str, str], texts: Mapping[str, str], draft: Mapping[str, str]
    ) -> None:
        super().__init__()
        self._labels = labels
        self._texts = dict(texts)
        shown = {**texts, **draft}
        self._areas = {name: TextArea(shown[name], soft_wrap=True) for name in labels}
        self._keys = Static(_KEYS, classes="-keys")
        self._asked = False

    @property
    def _typed(self) -> dict[str, str]:
        return {name: area.text for name, area in self._areas.items()}

    def compose(self) -> ComposeResult:
        with Vertical():
            with VerticalScroll(can_focus=False):
                yield from self._areas.values()
            yield self._keys

    def on_mount(self) -> None:
        """Name the fields; over a slow line a cursor that blinks would send for ever."""
        for name, area in self._areas.items():
            area.border_title = Content(clean(self._labels[name]).capitalize())
            area.cursor_blink = False

    def on_text_area_changed(self) -> None:
        if self._asked:
            self._asked = False
            self._keys.update(_KEYS)

    def action_leave(self) -> None:
        """Cancel; what was typed is thrown away only if that is asked for twice."""
        if self._asked or self._typed == self._texts:
            self.dismiss(None)
            return
        self._asked = True
        self._keys.update(_SURE)

    def action_save(self) -> None:
        self.dismiss(self._typed)

    def action_edit_outside(self) -> None:
        """Edit the text in focus with the user's own editor."""
        if isinstance(area := self.focused, TextArea):
            after = browser_of(self).texts.edit(area.text)
            if after is not None:
                area.text = clean(after).strip()
