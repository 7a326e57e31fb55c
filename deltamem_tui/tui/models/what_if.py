"""The numbers that a person plays with in the recall lab, beside those that the bank has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.deltamem.collections import COLLECTIONS
from deltamem_tui.memory.deltamem.settings import Parameters, changed

NUMBERS = ("tau_base", "failure_penalty")
"""Those of a tree's parameters that the recall lab plays with."""
WORDS = {"tau_base": "threshold", "failure_penalty": "failure penalty"}
"""What a number is called beside the line it is typed in."""


@dataclass(frozen=True, slots=True)
class PlayedNumbers:
    """Parameters as they were typed, and as the bank has them.

    Attributes:
        typed: What counts in the lab.
        stored: What the bank had when it was last read.
    """

    typed: Parameters
    stored: Parameters

    def plays_with(self, tree: str, number: str) -> bool:
        """Whether a number was typed that is not the bank's own."""
        return bool(getattr(self.typed[tree], number) != getattr(self.stored[tree], number))

    def over(self, stored: Parameters) -> PlayedNumbers:
        """The same play over what the bank has by now: the other numbers are the bank's."""
        typed = stored
        for tree in COLLECTIONS:
            for number in NUMBERS:
                if self.plays_with(tree, number):
                    played = getattr(self.typed[tree], number)
                    typed = changed(typed, tree, **{number: played})
        return PlayedNumbers(typed, stored)

    def with_number(self, tree: str, number: str, text: str) -> PlayedNumbers:
        """The play with one more number, as it was typed.

        Raises:
            ConfigurationError: It is outside its range.
            ValueError: It is no number.
        """
        value: dict[str, Any] = {number: float(text.replace(",", "."))}
        return replace(self, typed=changed(self.typed, tree, **value))


def why_not(tree: str, number: str, error: ValueError | DeltaMemError) -> str:
    """Why what was typed is no such number, in the words that stand beside it."""
    named = f"{WORDS[number]} ({number})"
    if isinstance(error, DeltaMemError):
        return str(error).replace(number, named)
    return f"{tree} tree: {named} must be a number"
