"""The numbers that one plays with on the recall screen, and the lines they are typed in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from msgspec.structs import fields
from textual.binding import Binding
from textual.message import Message
from textual.widgets import Input

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.methods import change_settings, display_of, settings_of
from deltamem_tui.memory.settings import Setting, Settings, listed, replaced
from deltamem_tui.tui.core.bank_session import OpenBank
from deltamem_tui.tui.widgets.line_input import LineInput

_NUMBER, _NAME = r"[-0-9.,]*", r"[A-Za-z]*"
_LEAST_WIDTH = 6
_LABELS = {"tau_base": "threshold", "failure_penalty": "penalty"}
_NONE = "none"
_HUNDREDTH, _DECIMALS = 0.01, 6


def number_label(name: str) -> str:
    """Return what a number is called beside the line it is typed in."""
    return _LABELS.get(name) or name.replace("_", " ")


def number_text(value: object) -> str:
    """Return a number, none, or the name of a choice, as it is typed."""
    if value is None:
        return _NONE
    return value if isinstance(value, str) else f"{value:g}"


def lab_numbers(bank: Bank) -> dict[str, list[Setting]]:
    """Per collection, the numbers to play with, as the method's settings say.

    If those do not say, all of the method's own; what belongs to no collection is with the first.
    """
    settings = settings_of(bank)
    found: dict[str, list[Setting]] = {name: [] for name in bank.trees}
    first = next(iter(found), "")
    of_learning = {each.name for each in fields(Settings)}
    for each in listed(settings):
        if each.path in of_learning:
            continue
        place = each.path.rpartition(".")[0] or first
        if settings.recalling:
            place = settings.recalling.get(each.path, "")
        if place in found and not isinstance(each.value, bool):
            found[place].append(each)
    return found


@dataclass(frozen=True, slots=True)
class TrialNumbers:
    """A method's numbers as they were typed, and as the bank has them."""

    typed: Settings
    stored: Settings

    @property
    def summary(self) -> str:
        """The typed text, and the bank's value; empty if they are the same."""
        stored, changes = {each.path: each for each in listed(self.stored)}, self.changes
        return ", ".join(
            f"{number_label(stored[path].name)} {number_text(value)} "
            f"(bank {number_text(stored[path].value)})"
            for path, value in changes.items()
            if not isinstance(value, bool)  # what another number fixes
        )

    @property
    def changes(self) -> Mapping[str, object]:
        """The numbers that were typed and are not the bank's own, by their paths."""
        stored = {each.path: each.value for each in listed(self.stored)}
        typed = listed(self.typed)
        return {each.path: each.value for each in typed if each.value != stored[each.path]}

    def over(self, stored: Settings) -> TrialNumbers:
        """Return the same play over what the bank has by now: the other numbers are the bank's."""
        return TrialNumbers(_with_changes(stored, self.changes), stored)

    def with_number(self, path: str, text: str) -> TrialNumbers:
        """Return the play with one more number or choice, as it was typed."""
        number = next(each for each in listed(self.stored) if each.path == path)
        return replace(self, typed=replaced(self.typed, path, _value(number, text.strip().lower())))


def _value(number: Setting, text: str) -> int | float | str | None:
    if number.choices:
        return text
    if number.optional and text == _NONE:
        return None
    value = float(text.replace(",", "."))
    return int(value) if value.is_integer() else value


def _with_changes(settings: Settings, changes: Mapping[str, object]) -> Settings:
    for path, value in changes.items():
        settings = replaced(settings, path, value)
    return settings


def why_not(title: str, number: Setting) -> str:
    """Return what would be such a number of a collection, named as it is beside its line."""
    name = number.name
    named = f"{_LABELS[name]} ({name})" if name in _LABELS else number_label(name)
    return f"{title}: {named} must be {number.description}"


def save_numbers(bank: Bank, trial: TrialNumbers) -> str:
    """Change the numbers that were typed over, and leave the others as they were last written."""
    change_settings(bank, "recall lab", lambda numbers: _with_changes(numbers, trial.changes))
    saved = []
    for name, numbers in lab_numbers(bank).items():
        values = (f"{number_label(each.name)} {number_text(each.value)}" for each in numbers)
        if text := ", ".join(values):
            saved.append(f"{display_of(bank, name).title} {text}")
    return f"saved: {'; '.join(saved)}"


class NumberInput(LineInput):
    """A line as wide as every name that the number can have. The arrow keys move the number."""

    BINDINGS: ClassVar = [
        Binding("up", "nudge(1)", "More", show=False),
        Binding("down", "nudge(-1)", "Less", show=False),
    ]

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

    def action_nudge(self, steps: int) -> None:
        """Move the number."""
        self.post_message(self.Nudged(self, steps))


class NumberTrial:
    """The bank's numbers, and those that are tried in their place.

    Args:
        home: The open bank.
        displays: The collections that questions are put to, and how they are shown.

    Attributes:
        lines: The lines that the numbers are typed in; none if they cannot be read.
        numbers: What they say; None of a bank whose numbers cannot be read.
    """

    def __init__(self, home: OpenBank, displays: Mapping[str, Display]) -> None:
        self._displays = displays
        self.numbers: TrialNumbers | None = None
        self.lines: list[NumberInput] = []
        try:
            numbers = lab_numbers(home.bank)
        except DeltaMemError:
            return
        self.lines = [NumberInput(tree, each) for tree in displays for each in numbers[tree]]

    def of(self, tree: str) -> list[NumberInput]:
        """Return the lines of a collection."""
        return [each for each in self.lines if each.collection == tree]

    @property
    def is_sound(self) -> bool:
        """True if no line says what cannot be used."""
        return not any(each.has_class("-invalid") for each in self.lines)

    def take_over(self, stored: Settings) -> None:
        """Show the bank's numbers, but for those that the user plays with."""
        self.numbers = self.numbers.over(stored) if self.numbers else TrialNumbers(stored, stored)
        values = {each.path: each.value for each in listed(stored)}
        for line in self.lines:
            path = line.number.path
            if path not in self.numbers.changes and not line.has_class("-invalid"):
                with line.prevent(Input.Changed):
                    line.value = number_text(values[path])

    def take(self, line: NumberInput) -> str:
        """Take what was typed. Returns why it does not count; empty if it does."""
        if self.numbers is None:
            return ""
        try:
            self.numbers = self.numbers.with_number(line.number.path, line.value)
        except (ValueError, DeltaMemError):
            line.add_class("-invalid")
            return why_not(self._displays[line.collection].title, line.number)
        line.remove_class("-invalid")
        return ""

    def nudge(self, lines: Iterable[NumberInput], steps: int) -> NumberInput | None:
        """Move the first number with hundredths, else the first whole one; return its line."""
        values = (
            {each.path: each.value for each in listed(self.numbers.typed)} if self.numbers else {}
        )
        found = [(line, values.get(line.number.path)) for line in lines]
        moved = next(((line, each) for line, each in found if isinstance(each, float)), None)
        if moved is not None:
            text = number_text(round(moved[1] + steps * _HUNDREDTH, _DECIMALS))
        else:
            whole = next(((line, each) for line, each in found if isinstance(each, int)), None)
            if whole is None:
                return None
            moved, text = whole, str(whole[1] + steps)
        with moved[0].prevent(Input.Changed):  # the next key may come before such a message
            moved[0].value = text
        return moved[0]

    def take_back(self) -> None:
        """Show the bank's own numbers again."""
        if self.numbers is not None:
            for line in self.lines:
                line.remove_class("-invalid")
            stored, self.numbers = self.numbers.stored, None
            self.take_over(stored)
