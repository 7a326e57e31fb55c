"""Costs of calls: tokens, money, and a limit that is never passed.

A price that is not known is None, and so is every sum that it enters: unknown is not free.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from deltamem_tui.errors import BudgetError, LanguageModelError

NOTHING = -1.0
"""The limit of a budget that lets no call through, not even a free one."""


class QuestionCancelledError(LanguageModelError):
    """The answer is not wanted any more, so the model was not asked, or not asked again."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for each token that is sent or received."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int, *_: int) -> float:
        """Return the cost of so many tokens, in US dollars; a provider's cache is left out."""
        return prompt_tokens * self.prompt + completion_tokens * self.completion


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls and the tokens and money they took, in US dollars. Usages add up.

    Those that the response cache answered are `cached`; they take no tokens and cost nothing.
    """

    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0

    def __sub__(self, other: Usage) -> Usage:
        """Return what is left of a sum without one of its parts; its cost is never below zero."""
        return self.__add__(other, -1)

    def __add__(self, other: Usage, sign: int = 1) -> Usage:
        known = self.cost is not None and other.cost is not None
        return Usage(
            self.calls + sign * other.calls,
            self.cached + sign * other.cached,
            self.prompt_tokens + sign * other.prompt_tokens,
            self.completion_tokens + sign * other.completion_tokens,
            max((self.cost or 0.0) + sign * (other.cost or 0.0), 0.0) if known else None,
        )


@dataclass(slots=True)
class Charge:
    """The cost of a reserved call in US dollars: 0 until the caller writes down what was paid."""

    cost: float = 0.0


class Budget:
    """A limit on cost that is kept by asking before each call, also by several threads at once."""

    def __init__(self, most: float | None = None) -> None:
        """Set the limit in US dollars; None for no limit."""
        self._most, self._spent, self._reserved = most, 0.0, 0.0
        self._calls = 0
        self._room = threading.Condition()

    @contextmanager
    def reserve(self, worst: float | None) -> Iterator[Charge]:
        """Set the worst cost of a call aside while it is made; what it really cost is then paid.

        A call that fits but for what others have set aside waits until they have paid: most cost
        less than was set aside. A worst cost of None is one that is not known.

        Raises:
            BudgetError: The call could pass the limit, or there is a limit but no price.
        """
        with self._room:
            while not self._fits(worst):
                self._room.wait()
            self._reserved += worst or 0.0
            self._calls += 1
        charge = Charge()
        try:
            yield charge
        finally:
            with self._room:
                self._calls -= 1
                # From nought again, where no rounding can be left over.
                self._reserved = self._reserved - (worst or 0.0) if self._calls else 0.0
                self._spent += charge.cost
                self._room.notify_all()

    def _fits(self, worst: float | None) -> bool:
        """Return whether a call fits now; it is refused if it would not even fit alone."""
        if self._most is None:
            return True
        if self._most < 0.0:
            raise BudgetError("nothing may be sent for an estimate")
        if worst is None:
            reason = "the model's price is not known, so no limit on cost can be kept"
            raise BudgetError(reason, hint="drop the limit")
        if self._spent + worst > self._most:
            raise BudgetError(
                f"the next call could cost ${worst:.4f}, and ${self._spent:.4f} of "
                f"${self._most:.4f} is spent",
                hint="what is finished is kept; raise the limit to go on",
            )
        return self._spent + self._reserved + worst <= self._most
