"""What a person fills in for something to be done; it is kept until that has been done.

If it comes to nothing, the dialog comes back as it was filled in, with the reason, in front of
who waits for what was asked. Who went on meanwhile, cancelled it or declined what was planned
finds it so when they open it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.tui.form_errors import AnswerRefusedError
from deltamem_tui.tui.messages import Again
from deltamem_tui.tui.work import LongWork

if TYPE_CHECKING:
    from deltamem_tui.tui.widgets.dialogs import Field

Answer = Mapping[str, str]
"""What was filled in, by the names of the fields."""

Begin = Callable[[Answer, Again], object]
"""Begins what was asked for; it hands `Again` on to the work."""


class Forms(LongWork):
    """The part of the program that asks for a few lines, and once more if they did not do."""

    def __init__(self) -> None:
        super().__init__()
        self._left: dict[tuple[Path | None, str], tuple[Answer, DeltaMemError | None]] = {}

    def ask(
        self, title: str, fields: Sequence[Field], begin: Begin, *, bank: Path | None = None
    ) -> None:
        """Ask for a few lines, as they were filled in if that came to nothing before.

        Args:
            title: What they are for; there is one form of a title for a bank.
            fields: The lines.
            begin: Begins what they are for. An error that it raises is told, and the lines are
                asked for once more.
            bank: The bank that they are about, if they are about one.
        """
        from deltamem_tui.tui.widgets.dialogs import AskDialog

        place = bank, title
        filled, error = self._left.get(place, ({}, None))
        shown = [replace(each, value=filled.get(each.name, each.value)) for each in fields]

        def answered(answer: Answer | None) -> None:
            if answer is None:
                return
            self._left[place] = answer, None

            def is_kept() -> bool:
                """Whether nothing else was filled in since."""
                return place in self._left and self._left[place][0] is answer

            def ask_again(error: DeltaMemError, is_awaited: bool) -> None:
                if is_kept():
                    self._left[place] = answer, error
                if is_awaited:
                    self.ask(title, fields, begin, bank=bank)

            def forget() -> None:
                if is_kept():
                    del self._left[place]

            try:
                begin(answer, Again(ask_again, forget))
            except DeltaMemError as error:
                self.tell_error(error)
                ask_again(error, True)

        self.push_screen(AskDialog(title, shown, *_refusal(error)), answered)


def _refusal(error: DeltaMemError | None) -> tuple[str, str]:
    """Why what was filled in did not do, and the line that it is about; empty if unknown."""
    field = error.field if isinstance(error, AnswerRefusedError) else ""
    return ("" if error is None else str(error)), field
