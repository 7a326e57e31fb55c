"""A line that one types in. What is pasted is outside text like any other."""

from __future__ import annotations

from textual.widgets import Input

from deltamem_tui.text import clean
from deltamem_tui.tui.models.sections import cuttable

_TYPED = frozenset({"slash", "minus", "plus"})


class LineInput(Input):
    """A line that keeps control characters out, and whose cursor does not blink."""

    def on_mount(self) -> None:
        self.cursor_blink = False

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Return whether a key is typed here; textual does not know what some of them type."""
        return key in _TYPED or super().check_consume_key(key, character)

    def validate_value(self, value: str) -> str:
        """Return the text as one line, its spaces kept: one may still be typing."""
        return cuttable(clean(value)).replace("\n", " ").replace("\t", " ")
