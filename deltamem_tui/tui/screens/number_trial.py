"""The numbers that the user plays with in the recall lab, in the lines that they are typed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.widgets import Input

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.settings import Settings, listed
from deltamem_tui.tui.core.open_bank import OpenBank
from deltamem_tui.tui.models.lab_numbers import (
    TrialNumbers,
    lab_numbers,
    nudged,
    number_text,
    why_not,
)
from deltamem_tui.tui.widgets.number_input import NumberInput


class NumberTrial:
    """The bank's numbers, and those that are tried in their place.

    Args:
        home: The open bank.
        displays: The collections that questions are put to, and how they are shown.

    Attributes:
        lines: The lines that the numbers are typed in.
        numbers: What they say; None of a bank whose numbers cannot be read.
    """

    def __init__(self, home: OpenBank, displays: Mapping[str, Display]) -> None:
        self._displays = displays
        self.lines = _lines(home, displays)
        self.numbers: TrialNumbers | None = None

    def of(self, tree: str) -> list[NumberInput]:
        """The lines of a collection."""
        return [each for each in self.lines if each.collection == tree]

    @property
    def is_sound(self) -> bool:
        """Whether no line says what cannot be used."""
        return not any(each.has_class("-invalid") for each in self.lines)

    def take_over(self, stored: Settings) -> None:
        """Shows the bank's numbers, but for those that the user plays with."""
        self.numbers = self.numbers.over(stored) if self.numbers else TrialNumbers(stored, stored)
        values = {each.path: each.value for each in listed(stored)}
        for line in self.lines:
            path = line.number.path
            if path not in self.numbers.changes and not line.has_class("-invalid"):
                with line.prevent(Input.Changed):
                    line.value = number_text(values[path])

    def take(self, line: NumberInput) -> str:
        """Takes what was typed. Returns why it does not count; empty if it does."""
        if self.numbers is None:
            return ""
        try:
            self.numbers = self.numbers.with_number(line.number.path, line.value)
        except (ValueError, DeltaMemError):
            line.add_class("-invalid")
            return why_not(self._displays[line.collection].title, line.number)
        line.remove_class("-invalid")
        return ""

    def nudge(self, lines: Sequence[NumberInput], steps: int) -> NumberInput | None:
        """Moves the first threshold, else the first number, of some lines.

        Returns:
            The line that says another number now, which is still to be taken; None if none does.
        """
        numbers = [each.number for each in lines]
        found = nudged(self.numbers.typed, numbers, steps) if self.numbers else None
        if found is None:
            return None
        line = next(each for each in lines if each.number.path == found[0])
        with line.prevent(Input.Changed):  # the next key may come before such a message
            line.value = found[1]
        return line

    def take_back(self) -> None:
        """Shows the bank's own numbers again."""
        if self.numbers is None:
            return
        for line in self.lines:
            line.remove_class("-invalid")
        stored, self.numbers = self.numbers.stored, None
        self.take_over(stored)


def _lines(home: OpenBank, displays: Mapping[str, Display]) -> list[NumberInput]:
    """The lines for numbers; none of a bank whose method's numbers cannot be read."""
    try:
        numbers = lab_numbers(home.bank)
    except DeltaMemError:
        return []
    return [NumberInput(tree, each) for tree in displays for each in numbers[tree]]
