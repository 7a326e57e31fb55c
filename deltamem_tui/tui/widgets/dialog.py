"""What all that comes up over a screen has in common: it is answered once, most in a box."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.await_complete import AwaitComplete
from textual.containers import Vertical
from textual.screen import ModalScreen

AnswerT = TypeVar("AnswerT")

_BOX_HEIGHT = 0.9
"""Of the screen's; as `BoxDialog` says in its style."""

_LEAST_LINES = 2
"""A label and what is typed below it."""


class Dialog(ModalScreen[AnswerT]):
    """A screen over others. The first answer counts: a second click finds it gone.

    Textual would take the second answer for one of whatever is in front by then, and give that
    up as well.

    Attributes:
        answered: Whether it was answered; if not, the program ended before.
    """

    answered = False

    def dismiss(self, result: AnswerT | None = None) -> AwaitComplete:
        """Answer, unless that was done before."""
        if not self.is_active:
            return AwaitComplete()
        self.answered = True
        return super().dismiss(result)


class BoxDialog(Dialog[AnswerT]):
    """A dialog that is a box over the middle of the screen.

    Where there is little room, one part of it is scrolled; the question, the reason and the
    keys stay in sight.

    Attributes:
        SCROLLED: The part that is scrolled, as a selector; empty if the style sees to it.
        MOST_LINES: How high that part is at most, where there is room for more.
    """

    SCROLLED: ClassVar[str] = ""
    MOST_LINES: ClassVar[int | None] = None

    DEFAULT_CSS = """
    BoxDialog { align: center middle; }
    BoxDialog > Vertical {
        width: 90%; max-width: 90; height: auto; max-height: 90%;
        border: round $primary; padding: 0 1; background: $surface;
    }
    BoxDialog:ansi > Vertical { background: ansi_default; border: round ansi_blue; }
    BoxDialog KeyLine { color: $text-muted; }
    """

    def on_resize(self) -> None:
        """Give the part that is scrolled the room that is left, once the others have theirs."""
        if self.SCROLLED:
            self.call_after_refresh(self._make_room)

    def _make_room(self) -> None:
        box, scrolled = self.query_one(Vertical), self.query_one(self.SCROLLED)
        others = sum(each.outer_size.height for each in box.children if each is not scrolled)
        taken = box.gutter.height + scrolled.styles.margin.height + others
        room = max(int(self.size.height * _BOX_HEIGHT) - taken, _LEAST_LINES)
        scrolled.styles.max_height = room if self.MOST_LINES is None else min(room, self.MOST_LINES)
        if self.focused is not None and self.focused is not scrolled:
            self.call_after_refresh(self.focused.scroll_visible, animate=False)
