"""Asking: one request put to a model, and what it took kept in mind whatever becomes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

from deltamem_tui.llm.answers import Contract
from deltamem_tui.llm.client import Answer, Client, NoUsableAnswerError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.writers.extraction import (
    AskedInVainError,
    Call,
    OnPayment,
    Payment,
    Purpose,
)

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")

SAFE = 0.9
"""The share of a window that is used: our count of tokens is not the model's own, and a tenth
covers most of the difference."""
SHARES = (1.0, 0.5, 0.25)
"""What a prompt that was refused as too long is cut to next, as shares of the model's window."""


class Askable(Protocol[T_co]):
    """What can be put to a model: see `model.request.Request`."""

    @property
    def prompt(self) -> str:
        """The whole prompt."""
        ...

    @property
    def digest(self) -> str:
        """The digest of the prompt's files."""
        ...

    @property
    def contract(self) -> Contract | None:
        """The JSON object that is asked for; None for free text."""
        ...

    @property
    def cut(self) -> str:
        """What was left out, in one line; empty if nothing was."""
        ...

    def read(self, said: str, /) -> T_co:
        """Make a value of an answer.

        Raises:
            UnusableAnswer: The answer cannot be used; says why.
        """
        ...


@dataclass(frozen=True, slots=True)
class About:
    """What a question is about: for the journal and for errors."""

    purpose: Purpose
    tree: str | None
    source: str


class Asker:
    """Puts requests to one model. Any number of threads may share one."""

    def __init__(self, client: Client, on_payment: OnPayment) -> None:
        """Nothing is asked yet.

        Args:
            client: The model.
            on_payment: Told of each answer.
        """
        self.client = client
        self._on_payment = on_payment

    def ask(self, request: Askable[T], about: About) -> Answer[T]:
        """Ask, and have the answer read.

        Raises:
            AskedInVainError: The model gave nothing usable; the error knows what that took.
            LanguageModelError: The model cannot be asked at all.
        """
        model, prompt = self.client.model, request.digest

        def on_answer(usage: Usage) -> None:
            paid = Payment(about.purpose, about.tree, about.source, model, prompt, usage)
            self._on_payment(paid)

        try:
            return self.client.ask(request.prompt, request.read, request.contract, on_answer)
        except NoUsableAnswerError as error:
            raise AskedInVainError(
                error.message,
                Call(
                    about.purpose,
                    about.tree,
                    model,
                    prompt,
                    error.usage,
                    error.attempts,
                    request.cut,
                ),
                source=about.source or None,
                hint=error.hint,
            ) from error
