"""What all that comes up over a screen has in common: it is answered once, most in a box."""

from __future__ import annotations

from typing import TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen

AnswerT = TypeVar("AnswerT")


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
    """A dialog that is a box over the middle of the screen."""

    DEFAULT_CSS = """
    BoxDialog { align: center middle; }
    BoxDialog > Vertical {
        width: 90%; max-width: 90; height: auto; max-height: 90%;
        border: round $primary; padding: 0 1; background: $surface;
    }
    BoxDialog:ansi > Vertical { background: ansi_default; border: round ansi_blue; }
    BoxDialog KeyLine { color: $text-muted; }
    """
