"""The numbers of a bank that the user plays with in the recall lab, and saves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec.structs import fields

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.methods import change_settings, display_of, settings_of
from deltamem_tui.memory.settings import Setting, Settings, listed, replaced

_LABELS = {"tau_base": "threshold", "failure_penalty": "penalty"}
_NONE, _HALF_LIFE = "none", "half_life"
_HUNDREDTH, _DECIMALS = 0.01, 6


def number_label(name: str) -> str:
    """What a number is called beside the line it is typed in."""
    return _LABELS.get(name) or name.replace("_", " ")


def number_text(value: object) -> str:
    """A number, none, or the name of a choice, as it is typed."""
    if value is None:
        return _NONE
    return value if isinstance(value, str) else f"{value:g}"


def lab_numbers(bank: Bank) -> dict[str, list[Setting]]:
    """Per collection, the numbers to play with, as the method's settings say.

    If those do not say, all of the method's own; what belongs to no collection stands with the
    first. The half-life, which every method has, stands with the last that questions are put to.

    Raises:
        BankCorruptError: A number of the bank cannot be used.
        UsageError: The bank's method is not installed.
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
    if asked := [name for name in found if display_of(bank, name).asked]:
        found[asked[-1]].append(next(each for each in listed(settings) if each.path == _HALF_LIFE))
    return found


@dataclass(frozen=True, slots=True)
class TrialNumbers:
    """A method's numbers as they were typed, and as the bank has them.

    Attributes:
        typed: What counts in the lab.
        stored: What the bank had when it was last read.
    """

    typed: Settings
    stored: Settings

    @property
    def summary(self) -> str:
        """What was typed, and what the bank has instead; empty if that is the same."""
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
        """The same play over what the bank has by now: the other numbers are the bank's."""
        return TrialNumbers(_with_changes(stored, self.changes), stored)

    def with_number(self, path: str, text: str) -> TrialNumbers:
        """The play with one more number or choice, as it was typed.

        Raises:
            ConfigurationError: It is outside its range.
            ValueError: It is not a number.
        """
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
    """What would be such a number of a collection, named as it is beside its line."""
    name = number.name
    named = f"{_LABELS[name]} ({name})" if name in _LABELS else number_label(name)
    return f"{title}: {named} must be {number.description}"


def nudged(settings: Settings, numbers: Sequence[Setting], steps: int) -> tuple[str, str] | None:
    """The first of some numbers that has hundredths, else the first whole one, moved.

    Args:
        settings: The numbers as they were typed.
        numbers: Those of one collection.
        steps: How many hundredths, or ones of a whole number, it is moved by.

    Returns:
        Its path and what would be typed; None if there is no number among them.
    """
    values = {each.path: each.value for each in listed(settings)}
    found = [(each.path, values[each.path]) for each in numbers]
    for path, value in found:
        if isinstance(value, float):
            return path, number_text(round(value + steps * _HUNDREDTH, _DECIMALS))
    return next(
        ((path, str(value + steps)) for path, value in found if isinstance(value, int)), None
    )


def save_numbers(bank: Bank, trial: TrialNumbers) -> str:
    """Change the numbers that were typed over, and leave the others as they were last written.

    Returns:
        What the numbers of the lab are now, as a sentence.

    Raises:
        BankFrozenError: The bank is frozen.
        ConfigurationError: A number is outside its range.
    """
    change_settings(bank, "recall lab", lambda numbers: _with_changes(numbers, trial.changes))
    saved = []
    for name, numbers in lab_numbers(bank).items():
        values = (f"{number_label(each.name)} {number_text(each.value)}" for each in numbers)
        if text := ", ".join(values):
            saved.append(f"{display_of(bank, name).title} {text}")
    return f"saved: {'; '.join(saved)}"
