"""What all that comes up over a screen has in common: it is answered once, most in a box."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.await_complete import AwaitComplete
from textual.containers import Vertical
from textual.screen import ModalScreen

AnswerT = TypeVar("AnswerT")

_BOX_HEIGHT = 0.9
"""Of the screen's height, as the style has it."""

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
        box, scrolled = self.query_one(Vertical), self.query_one(".-scrolled")
        others = sum(each.outer_size.height for each in box.children if each is not scrolled)
        taken = box.gutter.height + scrolled.styles.margin.height + others
        room = max(int(self.size.height * _BOX_HEIGHT) - taken, _LEAST_LINES)
        is_pane = scrolled.has_class("-pane")
        scrolled.styles.max_height = min(room, _MOST_PANE_LINES) if is_pane else room
        if self.focused is not None and self.focused is not scrolled:
            self.call_after_refresh(self.focused.scroll_visible, animate=False)
