"""Asking ahead: the questions of the next turns are sent while a turn is decided.

What a turn will ask is found by planning it against the bank as it stands, with a writer that notes
each question and writes nothing. When its turn comes it is planned again: the same prompt takes
the answer that was sent for, another one is asked anew. What is written is therefore what asking
one after another would have written; only the time, and sometimes the cost, is different.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import BudgetError, DeltaMemError, LanguageModelError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, FailedCallError, Inputs
from deltamem_tui.memory.writers.writer import ModelWriter
from deltamem_tui.trajectory.model import Trajectory

GRACE = 5.0
"""Seconds that the end of a run waits for calls that are under way: they are paid for."""
_PULSE = 0.1  # seconds between two looks at whether the run is to stop

Key = tuple[str, str]
"""A purpose and a prompt. Equal ones get equal answers."""
TurnT = TypeVar("TurnT")


class StoppedError(Exception):
    """The run is to stop. It never leaves the run that it stops."""


@dataclass(eq=False, slots=True)
class Question:
    """A question that is planned, sent or answered.

    Attributes:
        key: What tells it from others.
        begun: Whether it was sent.
        used: Whether its answer was used.
    """

    key: Key
    ask: Callable[[], Any]
    answer: Future[Any] = field(default_factory=Future)
    begun: bool = False
    used: bool = False

    @property
    def asked(self) -> tuple[Key, Callable[[], Any]]:
        """What `Asking.answer` takes."""
        return self.key, self.ask


class Asking:
    """The questions of one run, at most `count` at once. One thread decides and writes.

    Until a first answer has come, and after a failure that concerns all, nothing is sent ahead: so
    a refused key or a wrong name shows by one call. Threads are daemons because a server that hangs
    must hold up neither the end of a run nor that of the program.

    Attributes:
        used: What the answers took that were used at their turn, refused ones included.
    """

    def __init__(self, count: int, stopped: Callable[[], bool] = lambda: False) -> None:
        self.used = Usage()
        self._count, self._stopped = count, stopped
        self._sent: dict[Key, Question] = {}
        self._under_way: set[Question] = set()
        self._trusted = False
        self._lock = threading.Lock()

    @property
    def under_way(self) -> int:
        """How many calls were begun and have no answer yet."""
        with self._lock:
            return len(self._under_way)

    def begin(self, questions: Iterable[Question]) -> None:
        """Go on to the next turn: send its questions and those of later ones, forget all others.

        The questions of the present turn come first; one thread is kept free for it.
        """
        wanted: dict[Key, Question] = {}
        if self._trusted and self._count > 1:
            for each in questions:
                wanted.setdefault(each.key, each)
        with self._lock:
            for key, each in self._sent.items():
                if each.begun and not each.used:
                    wanted[key] = each  # paid for, and perhaps asked again
                elif not each.begun:
                    each.answer.cancel()
            self._sent = wanted
            self._start()

    def answer(self, key: Key, ask: Callable[[], Any]) -> Any:
        """Return the answer to a question whose turn it is; the same if it is asked again in it.

        Raises:
            StoppedError: The run is to stop.
            DeltaMemError: Whatever `ask` raises.
        """
        with self._lock:
            was_ahead = key in self._sent
            question = self._sent.setdefault(key, Question(key, ask))
            self._launch(question)
        if not is_done(question.answer, self._stopped):
            raise StoppedError
        try:
            found = question.answer.result()
        except BudgetError:
            if not was_ahead:
                raise
            with self._lock:
                del self._sent[key]  # what others had set aside may be free again
            return self.answer(key, ask)
        except FailedCallError as error:
            self._use(question, error.call.usage)
            raise
        self._use(question, found.usage if isinstance(found, Extraction) else Usage())
        return found

    def finished(self, key: Key) -> Future[Any] | None:
        """Return the answer to a question that was sent, or why there is none, if it has come."""
        sent = self._sent.get(key)
        return sent.answer if sent and sent.begun and sent.answer.done() else None

    def known(self, key: Key) -> Any:
        """Return the answer to a question that was sent ahead; None if none has come."""
        sent = self.finished(key)
        return None if sent is None or sent.exception() else sent.result()

    def close(self, cancel: Callable[[], object], grace: float = 0.0) -> None:
        """Ask nothing more, and wait up to `grace` seconds for calls that are under way.

        `cancel` has them end without another try. Answers that come later still reach the response
        cache, if the program goes on that long.
        """
        with self._lock:
            self._count = 0
            left = [each.answer for each in self._under_way]
        cancel()
        wait(left, timeout=grace)

    def _start(self) -> None:
        for each in self._sent.values():
            if len(self._under_way) >= self._count - 1:
                return
            self._launch(each)

    def _launch(self, question: Question) -> None:
        if question.begun or not self._count:
            return
        question.begun = question.answer.set_running_or_notify_cancel()
        self._under_way.add(question)
        threading.Thread(
            target=self._ask, args=(question,), name="deltamem-asking", daemon=True
        ).start()

    def _ask(self, question: Question) -> None:
        answer: Any = None
        error: BaseException | None = None
        try:
            answer = question.ask()
        except BaseException as raised:  # noqa: BLE001 - handed over to the thread that waits
            error = raised
        with self._lock:
            self._trusted = not isinstance(error, LanguageModelError)
            self._under_way.remove(question)
            self._start()
        if error:
            question.answer.set_exception(error)
        else:
            question.answer.set_result(answer)

    def _use(self, question: Question, usage: Usage) -> None:
        if not question.used:
            question.used = True
            self.used += usage


class Turns(Generic[TurnT]):
    """What a run does one after another, with the questions of the next ones asked ahead.

    Args:
        turns: What is to be done, read a little ahead.
        asking: Asks; None if nothing is asked ahead.
        questions: What a turn would ask as things stand.
        width: How many turns are looked at together.
        stopped: Asked before each turn.

    Attributes:
        window: The present turn and those that were looked at ahead.
    """

    def __init__(
        self,
        turns: Iterable[TurnT],
        asking: Asking | None,
        questions: Callable[[TurnT], Iterable[Question]],
        width: int,
        stopped: Callable[[], bool],
    ) -> None:
        self.window: deque[TurnT] = deque()
        self._turns, self._asking, self._questions = iter(turns), asking, questions
        self._width, self._stopped = width, stopped

    def __iter__(self) -> Iterator[TurnT]:
        while not self._stopped():
            while len(self.window) < self._width and (turn := next(self._turns, None)) is not None:
                self.window.append(turn)
            if not self.window:
                return
            if self._asking:
                self._asking.begin(self._ahead())
            yield self.window[0]
            self.window.popleft()

    def _ahead(self) -> Iterator[Question]:
        for turn in self.window:
            with suppress(DeltaMemError):  # its turn will report it
                yield from self._questions(turn)


class AskingWriter:
    """A model's writer at its turn: it takes the answers that were asked for ahead."""

    def __init__(self, writer: ModelWriter, asking: Asking) -> None:
        self.name = writer.name
        self._writer, self._asking = writer, asking

    def write(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        """Write what the model writes."""
        prompt = self._writer.prompt(purpose, episode, notes, inputs)
        ask = partial(self._writer.write, purpose, episode, notes, inputs)
        found: Extraction = ask() if prompt is None else self._asking.answer((purpose, prompt), ask)
        return found


class NotingWriter:
    """A writer that notes the questions of a turn, and gives nothing to write."""

    def __init__(self, writer: ModelWriter) -> None:
        self.name = writer.name
        self.noted: list[Question] = []
        self._writer = writer

    def write(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        """Note a question."""
        prompt = self._writer.prompt(purpose, episode, notes, inputs)
        if prompt is not None:
            ask = partial(self._writer.write, purpose, episode, notes, inputs)
            self.noted.append(Question((purpose, prompt), ask))
        return Extraction(None, "asked ahead")


def is_done(answer: Future[Any], stopped: Callable[[], bool]) -> bool:
    """Wait for an answer; false if the run is to stop before it comes."""
    while not wait([answer], timeout=_PULSE).done:
        if stopped():
            return False
    return True
