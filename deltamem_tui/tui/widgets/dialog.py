"""What dialogs have in common: they are answered once, most in a box, by keys on a last line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple, TypeVar

from rich.text import Text
from textual import events
from textual.await_complete import AwaitComplete
from textual.containers import Vertical
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widget import Widget

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

    Attributes:
        IS_BOX: Whether it is a box over the middle of the screen.
        answered: Whether it was answered; if not, the program ended before.
    """

    IS_BOX: ClassVar[bool] = True
    answered = False

    def dismiss(self, result: AnswerT | None = None) -> AwaitComplete:
        """Answer, unless that was done before."""
        if not self.is_active:
            return AwaitComplete()
        self.answered = True
        return super().dismiss(result)

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
        """Gives the part that is scrolled the room that is left, once the others have theirs."""
        if self.query(".-scrolled"):
            self.call_after_refresh(self._make_room)

    def _make_room(self) -> None:
        """Keeps the question, the reason and the keys in sight where there is little room."""
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
        """Brings what has the focus into sight."""
        if self.focused is not None:
            self.focused.scroll_visible(animate=False)


class Key(NamedTuple):
    """A key of a dialog.

    Attributes:
        words: The key and what it does.
        action: The action of the dialog that a click does; empty for none.
    """

    words: str
    action: str = ""


class KeyLine(Widget):
    """Keys of a dialog; a click on one does it.

    Args:
        keys: The keys.
    """

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
        """The keys."""
        lines = self._lines(self.size.width)
        return Text("\n".join(_BETWEEN.join(key.words for key in line) for line in lines))

    def _lines(self, width: int) -> Iterator[list[Key]]:
        """The keys that there is room for on a line; none is cut in two."""
        line: list[Key] = []
        for key in self._keys:
            if line and Text(_BETWEEN.join(each.words for each in [*line, key])).cell_len > width:
                yield line
                line = []
            line.append(key)
        yield line

    async def on_click(self, event: events.Click) -> None:
        """Do what was clicked."""
        lines = list(self._lines(self.size.width))
        left = 0
        for key in lines[event.y] if event.y < len(lines) else ():
            right = left + Text(key.words).cell_len
            if left <= event.x < right and key.action:
                await self.screen.run_action(key.action)
                return
            left = right + len(_BETWEEN)
