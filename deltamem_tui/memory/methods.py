"""The methods that there are, by name. A definition is imported when a bank first asks for it.

A method of this package has a line below. Another package's is found by the entry
point `deltamem.methods`, which names a `Method`, or is registered by the program that uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from deltamem_tui.errors import BankCorruptError, UsageError
from deltamem_tui.memory.display import Display
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.method import Method
    from deltamem_tui.memory.prompts.use import PromptUse
    from deltamem_tui.memory.settings import Settings

DEFAULT = "deltamem"
_OWN = {
    "deltamem": "deltamem.definition:METHOD",
    "awm": "flat.definitions:AWM",
    "memp": "flat.definitions:MEMP",
    "reasoningbank": "flat.definitions:REASONINGBANK",
    "synapse": "flat.definitions:SYNAPSE",
    "cdmem": "cdmem.definition:METHOD",
}
"""This package's: the place of each definition, which loads nothing that the method works with."""
_GROUP = "deltamem.methods"
_registered: dict[str, Method] = {}


def register(method: Method) -> None:
    """Make a method known to this process."""
    _registered[method.name] = method


def names() -> list[str]:
    """Return the names of all methods, this package's first."""
    return list(dict.fromkeys([*_OWN, *_registered, *_installed().names]))


def titles() -> dict[str, str]:
    """Return what each method is, in a few words, by its name."""
    return {name: method_named(name).title for name in names()}


def choices() -> dict[str, str]:
    """Return what each method is, and on a second line when to choose it, by its name."""
    methods = (method_named(name) for name in names())
    return {
        each.name: f"{each.title}\ngood when {each.good_when}" if each.good_when else each.title
        for each in methods
    }


def method_named(name: str) -> Method:
    """Return a method by its name.

    Raises:
        UsageError: There is no such method.
    """
    found = _registered.get(name) or _imported(name)
    if found is None:
        known = names()
        near = get_close_matches(name, known, n=1)
        raise UsageError(
            f"there is no method {one_line(name, 40)!r}",
            hint=f"did you mean {near[0]}?" if near else f"one of {', '.join(known)}",
        )
    return found


def _installed() -> EntryPoints:
    """Return the methods of other packages."""
    from importlib.metadata import entry_points

    return entry_points(group=_GROUP)


@cache
def _imported(name: str) -> Method | None:
    if name in _OWN:
        module, _, own = _OWN[name].partition(":")
        method: Method = getattr(import_module(f"deltamem_tui.memory.{module}"), own)
        return method
    found = _installed().select(name=name)
    return next(iter(found)).load() if found else None


def prompt_uses() -> dict[str, PromptUse]:
    """Return what every prompt is used for, those of all methods and the shared ones."""
    from deltamem_tui.memory.prompts.use import SHARED

    uses = [method_named(each).prompts for each in names()]
    return {name: use for each in (*uses, SHARED) for name, use in each.items()}


def method_of(bank: Bank) -> Method:
    """Return the method that a bank is made for.

    Raises:
        UsageError: It is not installed.
    """
    return method_named(bank.manifest.method)


def display_of(bank: Bank, collection: str) -> Display:
    """Return how a bank's collection is shown."""
    return display_named(bank.manifest.method, collection)


def display_named(method: str, collection: str) -> Display:
    """Return how a collection is shown: as its method says, or plainly if that is not installed."""
    try:
        return method_named(method).display[collection]
    except (UsageError, KeyError):
        return Display(title=collection, noun=collection)


def key_label(bank: Bank, collection: str) -> str:
    """Return what stands over the titles of a collection's nodes, in a table."""
    return display_of(bank, collection).label(bank.collections[collection].fields[0]).lower()


def is_shown(bank: Bank, collection: str) -> bool:
    """Return whether a collection is shown: questions are put to it, or it holds something."""
    return display_of(bank, collection).asked or len(bank.tree(collection)) > 0


def has_thresholds(bank: Bank) -> bool:
    """Return whether a bank's method has thresholds to calibrate, as far as it is installed."""
    try:
        return method_of(bank).has_thresholds
    except UsageError:
        return False


def settings_of(bank: Bank) -> Settings:
    """Return the numbers of a bank's method.

    Raises:
        BankCorruptError: One is missing, unknown, of another type or outside its range.
        UsageError: The method is not installed.
    """
    from deltamem_tui.memory import settings

    return settings.of_bank(bank, method_of(bank).settings)


def settings_record(bank: Bank) -> Mapping[str, Any]:
    """Return the numbers of a bank's method as JSON; as the manifest has them if it cannot."""
    from deltamem_tui.memory import settings

    try:
        return settings.to_record(settings_of(bank))
    except (BankCorruptError, UsageError):
        return bank.manifest.settings


def change_settings(bank: Bank, why: str, how: Callable[[Any], Settings]) -> Settings:
    """Change a bank's numbers; see `settings.change`."""
    from deltamem_tui.memory import settings

    return settings.change(bank, method_of(bank).settings, why, how)
