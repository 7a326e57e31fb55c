"""What a person fills in for something to be done; if it comes to nothing, it is not lost.

The dialog comes back as it was filled in, with the reason, in front of who waits for what was
asked. Who went on meanwhile finds it so when they open it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.tui.messages import Again
from deltamem_tui.tui.work import LongWork

if TYPE_CHECKING:
    from deltamem_tui.tui.widgets.dialogs import Field

Answer = Mapping[str, str]
"""What was filled in, by the names of the fields."""

Begin = Callable[[Answer, Again], bool]
"""Begins what was asked for, and says whether it could; it hands `Again` on to the work."""


class Forms(LongWork):
    """The part of the program that asks for a few lines, and once more if they did not do."""

    def __init__(self) -> None:
        super().__init__()
        self._left: dict[str, tuple[Answer, str]] = {}

    def ask(self, title: str, fields: Sequence[Field], begin: Begin) -> None:
        """Ask for a few lines, as they were filled in if that came to nothing before.

        Args:
            title: What they are for; there is one form of a title.
            fields: The lines.
            begin: Begins what they are for. An error that it raises is told, and the lines are
                asked for once more.
        """
        from deltamem_tui.tui.widgets.dialogs import AskDialog

        filled, reason = self._left.pop(title, ({}, ""))
        shown = [replace(each, value=filled.get(each.name, each.value)) for each in fields]

        def answered(answer: Answer | None) -> None:
            if answer is None:
                return

            def again(error: DeltaMemError, is_awaited: bool) -> None:
                self._left[title] = answer, str(error)
                if is_awaited:
                    self.ask(title, fields, begin)

            try:
                if not begin(answer, again):
                    self._left[title] = answer, ""
            except DeltaMemError as error:
                self.tell_error(error)
                again(error, True)

        self.push_screen(AskDialog(title, shown, reason), answered)
