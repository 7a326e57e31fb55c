"""The numbers of a method that a person tries on the recall screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import fields

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import ConfigurationError
from deltamem_tui.memory.method import change_settings, display_of, settings_of
from deltamem_tui.memory.settings import Setting, Settings, assigned, listed, replaced
from deltamem_tui.tui.core.forms import FormAnswer, FormLine, about

Tried = Mapping[str, object]
"""Numbers that differ from the bank's own, by the paths that assign them."""

_LABELS = {"tau_base": "threshold", "failure_penalty": "penalty"}
_HUNDREDTH, _DECIMALS = 0.01, 6


def number_label(name: str) -> str:
    """Return what a number is called."""
    return _LABELS.get(name) or name.replace("_", " ")


def number_text(value: object) -> str:
    """Return a number, none, or the name of a choice, as it is typed."""
    if value is None:
        return "none"
    return value if isinstance(value, str) else f"{value:g}"


def lab_numbers(bank: Bank) -> dict[str, list[Setting]]:
    """Return, per collection, the numbers that can be tried, as the method's settings say.

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


def with_tried(settings: Settings, tried: Tried) -> Settings:
    """Return settings with the numbers that are tried."""
    for path, value in tried.items():
        settings = replaced(settings, path, value)
    return settings


def differences(settings: Settings, stored: Settings) -> Tried:
    """Return the numbers that differ from the stored ones."""
    known = {each.path: each.value for each in listed(stored)}
    return {each.path: each.value for each in listed(settings) if each.value != known[each.path]}


def tried_text(tried: Tried, stored: Settings) -> str:
    """Return the numbers that are tried, each beside the bank's own; empty if none are."""
    known = {each.path: each for each in listed(stored)}
    return ", ".join(
        f"{number_label(known[path].name)} {number_text(value)} "
        f"(bank {number_text(known[path].value)})"
        for path, value in tried.items()
    )


def nudged(settings: Settings, numbers: Sequence[Setting], steps: int) -> Settings:
    """Move the first number with hundredths by some steps, else the first whole one."""
    values = {each.path: each.value for each in listed(settings)}
    paths = [each.path for each in numbers]
    for path in paths:
        if isinstance(value := values[path], float):
            return replaced(settings, path, round(value + steps * _HUNDREDTH, _DECIMALS))
    whole = next((path for path in paths if isinstance(values[path], int)), None)
    return replaced(settings, whole, values[whole] + steps) if whole else settings


def number_lines(bank: Bank, settings: Settings) -> list[FormLine]:
    """Return a line for each number that can be tried."""
    values = {each.path: each.value for each in listed(settings)}
    return [
        FormLine(
            each.path.replace(".", "-"),
            f"{display_of(bank, name).title}: {number_label(each.name)} ({each.description})",
            number_text(values[each.path]),
            choices=dict.fromkeys(each.choices, ""),
        )
        for name, numbers in lab_numbers(bank).items()
        for each in numbers
    ]


def from_answer(answer: FormAnswer, settings: Settings) -> Settings:
    """Return the settings as they were typed; an error is about the line it was typed in."""
    for each in listed(settings):
        line = each.path.replace(".", "-")
        if line in answer and answer[line] != number_text(each.value):
            with about(line, ConfigurationError):
                settings = assigned(settings, f"{each.path}={answer[line].replace(',', '.')}")
    return settings


def save_numbers(bank: Bank, tried: Tried) -> str:
    """Write the numbers that are tried, and leave the others as they were last written."""
    change_settings(bank, "recall lab", lambda numbers: with_tried(numbers, tried))
    known = {each.path: each for each in listed(settings_of(bank))}
    named = (f"{number_label(known[path].name)} {number_text(tried[path])}" for path in tried)
    return f"saved: {', '.join(named)}"
