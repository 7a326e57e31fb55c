"""A line of the recall lab that a number, or the name of a choice, is typed in."""

from __future__ import annotations

from textual.message import Message

from deltamem_tui.memory.settings import Setting
from deltamem_tui.tui.widgets.inputs import LineInput

_NUMBER, _NAME = r"[-0-9.,]*", r"[A-Za-z]*"
_LEAST_WIDTH = 6


class NumberInput(LineInput):
    """A line as wide as every name that the number can have. The arrow keys move the number.

    Args:
        tree: The collection whose answer the number changes.
        number: The number.

    Attributes:
        collection: The same.
        number: The same.
    """

    class Nudged(Message):
        """The number is to be moved by some steps."""

        def __init__(self, line: NumberInput, steps: int) -> None:
            super().__init__()
            self.line = line
            self.steps = steps

    def __init__(self, tree: str, number: Setting) -> None:
        words = [*number.choices, *["none"] * number.optional]
        typable = _NAME if number.choices else _NUMBER
        typable = f"{typable}|{_NAME}" if number.optional else typable
        super().__init__(id=f"{tree}-{number.name}", compact=True, restrict=typable)
        self.styles.width = max(_LEAST_WIDTH, *(len(each) + 1 for each in ("", *words)))
        self.collection = tree
        self.number = number

    def action_offer(self, step: int) -> None:
        """Moves the number: up is more."""
        self.post_message(self.Nudged(self, -step))
