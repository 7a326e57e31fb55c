"""Dialogs: something to read, to look at before it is done, or to edit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple, TypeVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static, TextArea

from deltamem_tui.text import clean
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.widgets.text_pane import TextPane

AnswerT = TypeVar("AnswerT")

_BOX_HEIGHT = 0.9
"""Of the screen's height, as the style has it."""

_BETWEEN = " · "

_MOST_PANE_LINES = 14
_LEAST_LINES = 2
"""A label and what is typed below it."""


class Dialog(ModalScreen[AnswerT]):
    """A screen over others. The first answer counts: a second click finds it gone.

    Textual would take the second answer for one of whatever is in front by then, and give that
    up as well.
    """

    IS_BOX: ClassVar[bool] = True

    def dismiss(self, result: AnswerT | None = None) -> AwaitComplete:
        """Answer, unless that was done before."""
        return super().dismiss(result) if self.is_active else AwaitComplete()

    DEFAULT_CSS = """
    Dialog.-box { align: center middle; }
    Dialog.-box > Vertical {
        width: 90%; max-width: 90; height: auto; max-height: 90%;
        border: round $primary; padding: 0 1; background: $surface;
    }
    Dialog.-box:ansi > Vertical { background: ansi_default; border: round ansi_blue; }
    Dialog.-box KeyLine { color: $text-muted; }
    """

    def on_mount(self) -> None:
        """Stands as a box over the middle of the screen, unless it takes another shape."""
        self.set_class(self.IS_BOX, "-box")

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
        is_pane = scrolled.has_class("-pane")
        scrolled.styles.max_height = min(room, _MOST_PANE_LINES) if is_pane else room
        if self.focused is not None and self.focused is not scrolled:
            self.call_after_refresh(self.show_focused)

    def show_focused(self) -> None:
        """Bring what has the focus into sight."""
        if self.focused is not None:
            self.focused.scroll_visible(animate=False)


class Key(NamedTuple):
    """A key of a dialog."""

    words: str
    action: str = ""


class KeyLine(Widget):
    """Keys of a dialog; a click on one does it."""

    DEFAULT_CSS = "KeyLine { height: auto; width: 1fr; }"

    def __init__(self, keys: Sequence[Key], *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self._keys = keys

    def show(self, keys: Sequence[Key]) -> None:
        """Show other keys."""
        self._keys = keys
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """As many lines as the keys need."""
        return len(list(self._lines(width)))

    def render(self) -> Text:
        lines = self._lines(self.size.width)
        return Text("\n".join(_BETWEEN.join(key.words for key in line) for line in lines))

    def _lines(self, width: int) -> Iterator[list[Key]]:
        """Return the keys that there is room for on a line; none is cut in two."""
        line: list[Key] = []
        for key in self._keys:
            if line and Text(_BETWEEN.join(each.words for each in [*line, key])).cell_len > width:
                yield line
                line = []
            line.append(key)
        yield line

    async def on_click(self, event: events.Click) -> None:
        lines = list(self._lines(self.size.width))
        left = 0
        for key in lines[event.y] if event.y < len(lines) else ():
            right = left + Text(key.words).cell_len
            if left <= event.x < right and key.action:
                await self.screen.run_action(key.action)
                return
            left = right + len(_BETWEEN)


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
        yield self._pane
        if self._question:
            yield Static(Text(clean(self._question), "bold"))
        yield KeyLine(self._keys)

    def on_mount(self) -> None:
        self._pane.show(self._sections)
        self._pane.focus()


class ConfirmDialog(Dialog[bool]):
    """Shows what would be done, and asks."""

    BINDINGS: ClassVar = [
        Binding("y", "dismiss(True)", "Do it"),
        Binding("escape,n", "dismiss(False)", "Cancel"),
    ]

    def __init__(self, question: str, sections: Sequence[Section]) -> None:
        super().__init__()
        self.question = question
        self._sections = sections

    def compose(self) -> ComposeResult:
        keys = (Key("y confirms", "dismiss(True)"), Key("escape cancels", "dismiss(False)"))
        yield ReadingBox(self._sections, self.question, keys)


class DraftDialog(Dialog[bool | None]):
    """Offers a text that could not be saved: to go on with it, or to start over."""

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
        keys = (
            Key("y continues with it", "dismiss(True)"),
            Key("n starts over", "dismiss(False)"),
            Key("escape cancels", "dismiss(None)"),
        )
        yield ReadingBox(self._sections, "Continue with your text, which was not saved?", keys)


class ReadingDialog(Dialog[None]):
    """Something to read: the last notes."""

    BINDINGS: ClassVar = [Binding("escape,q,N", "dismiss(None)", "Close")]

    def __init__(self, sections: Sequence[Section]) -> None:
        super().__init__()
        self._sections = sections

    def compose(self) -> ComposeResult:
        yield ReadingBox(self._sections)


_SAVES = Key("f2 or ctrl+o saves", "save")
_KEYS = (_SAVES, Key("tab next text", "app.focus_next"), Key("escape cancels", "leave"))
_SURE = (_SAVES, Key("escape again discards what you typed", "leave"))


class EditFieldsDialog(Dialog[Mapping[str, str] | None]):
    """A field for each text of a node; gives them back, or None.

    Args:
        labels: What each text says.
        texts: The texts.
    """

    IS_BOX = False
    DEFAULT_CSS = """
    EditFieldsDialog { align: center middle; }
    EditFieldsDialog > Vertical {
        width: 96%; height: 90%; border: round $primary; padding: 0 1; background: $surface;
    }
    EditFieldsDialog TextArea, EditFieldsDialog TextArea:focus {
        height: 1fr; min-height: 3; border: none; padding: 0; margin-bottom: 1;
    }
    EditFieldsDialog KeyLine { color: $text-muted; }
    EditFieldsDialog .-label { color: $text-primary; }
    EditFieldsDialog:ansi > Vertical { background: ansi_default; border: round ansi_blue; }
    EditFieldsDialog:ansi .-label { color: ansi_cyan; }
    """
    BINDINGS: ClassVar = [
        Binding("f2,ctrl+o", "save", "Save", priority=True),
        Binding("escape", "leave", "Cancel", priority=True),
    ]

    def __init__(
        self,
        labels: Mapping[str, str],
        texts: Mapping[str, str],
    ) -> None:
        super().__init__()
        self._labels = labels
        self._texts = self._typed = dict(texts)
        self._areas = {name: TextArea(texts[name], soft_wrap=True) for name in labels}
        self._asked = False

    def compose(self) -> ComposeResult:
        with Vertical():
            with VerticalScroll(can_focus=False):
                for name, label in self._labels.items():
                    yield Static(Text(clean(label).capitalize()), classes="-label")
                    yield self._areas[name]
            yield KeyLine(_KEYS)

    def on_mount(self) -> None:
        """Keep the cursors from blinking: over a slow line they would send for ever."""
        for area in self._areas.values():
            area.cursor_blink = False

    def on_text_area_changed(self) -> None:
        self._typed = {name: area.text for name, area in self._areas.items()}
        if self._asked:
            self._asked = False
            self.query_one(KeyLine).show(_KEYS)

    def action_leave(self) -> None:
        """Cancel; what was typed is thrown away only if that is asked for twice."""
        if self._asked or self._typed == self._texts:
            self.dismiss(None)
            return
        self._asked = True
        self.query_one(KeyLine).show(_SURE)

    def action_save(self) -> None:
        self.dismiss(self._typed)
