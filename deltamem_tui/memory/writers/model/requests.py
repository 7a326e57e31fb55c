"""Asking: one request put to a model, and what it took kept in mind whatever becomes of it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol, TypeVar

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.llm.answers import Contract
from deltamem_tui.llm.client import Answer, Client, InVainError, Tally
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.writers.extraction import AskedInVainError, Call, Purpose

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
    def contract(self) -> Contract:
        """The JSON object that is asked for."""
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
    tree: str
    source: str


class Asker:
    """Puts requests to one model. Any number of threads may share one."""

    def __init__(self, client: Client) -> None:
        """Nothing is asked yet.

        Args:
            client: The model.
        """
        self._client = client
        self._unanswered: deque[Call] = deque()

    def ask(self, request: Askable[T], about: About) -> Answer[T]:
        """Ask, and have the answer read.

        Raises:
            AskedInVainError: The model gave nothing usable; the error knows what that took.
            LanguageModelError: The model cannot be asked at all.
        """

        def late(usage: Usage) -> None:
            """An answer came when its question was over: it is paid for and brought nothing."""
            self._unanswered.append(self._call(about, request, Tally(usage, 1)))

        tally = Tally(late=late)
        try:
            return self._client.ask(request.prompt, request.read, request.contract, tally)
        except InVainError as error:
            raise AskedInVainError(
                error.message,
                self._call(about, request, tally),
                source=about.source or None,
                hint=error.hint,
            ) from error
        except DeltaMemError:
            if tally.usage != Usage():
                self._note(about, request, tally)
            raise

    def take_unanswered(self) -> list[Call]:
        """The questions that took something and ended in no answer at all, told once each.

        Such as one whose first answer was useless, and whose second call found the server gone;
        or an answer that came too late to be of use.
        """
        taken = []
        while self._unanswered:
            taken.append(self._unanswered.popleft())
        return taken

    def _note(self, about: About, request: Askable[T], tally: Tally) -> None:
        self._unanswered.append(self._call(about, request, tally))

    def _call(self, about: About, request: Askable[T], tally: Tally) -> Call:
        """A question that brought nothing, for the journal."""
        return Call(
            about.purpose,
            about.tree,
            self._client.model,
            request.digest,
            tally.usage,
            tally.attempts,
            request.cut,
        )
