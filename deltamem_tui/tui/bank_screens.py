"""The screens of the open bank. Each is imported and made when it is first shown.

Most visits look at the trees only; what the other screens need to be imported would keep the
first one from the terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deltamem_tui.tui.screens.base import BankScreen

BANK_SCREENS: Mapping[str, str] = {
    "trees": "TreesScreen",
    "recall": "RecallScreen",
    "episodes": "EpisodesScreen",
    "statistics": "StatisticsScreen",
}
"""A screen's name is its module's under `screens`; here is its class's."""


def bank_screen(name: str) -> type[BankScreen]:
    """The class of a screen."""
    found: type[BankScreen] = getattr(
        import_module(f"deltamem_tui.tui.screens.{name}"), BANK_SCREENS[name]
    )
    return found


class BankScreens:
    """The screens that were made for the bank that is open."""

    def __init__(self) -> None:
        self._made: dict[str, BankScreen] = {}

    def __iter__(self) -> Iterator[tuple[str, BankScreen]]:
        """Each screen that was made, with its name."""
        yield from self._made.items()

    def get(self, name: str) -> BankScreen | None:
        """A screen if it was made."""
        return self._made.get(name)

    def make(self, name: str) -> BankScreen:
        """Make a screen."""
        self._made[name] = bank_screen(name)()
        return self._made[name]
