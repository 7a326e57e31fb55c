"""Questions asked ahead of their turn, and their bill.

What a turn will ask is found by planning it against the bank as it is, with a writer that notes
each question and writes nothing. When its turn comes it is planned again: the same prompt takes
the answer that was sent for, another one is asked anew. So the bank is what asking one after
another would have made.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from deltamem_tui.bank import usage_log
from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import BudgetError, DeltaMemError, LanguageModelError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.writers.extraction import Call, Extraction, FunctionWriter
from deltamem_tui.memory.writers.model import ModelExtractor
from deltamem_tui.trajectory.secrets.redaction import without_secrets

GRACE = 5.0
"""Seconds that the end of a run waits for calls that are under way: they are paid for."""
_PULSE = 0.1  # seconds between two looks at whether the run is to stop

TurnT = TypeVar("TurnT")


class StoppedError(Exception):
    """The run is to stop. It never leaves the run that it stops."""


class Question(NamedTuple):
    """A question, and how to ask it. Equal keys get equal answers."""

    key: tuple[str, str]
    ask: Callable[[], Any]


class Asking:
    """The questions of one run, at most `count` at once. One thread decides and writes.

    Until a first answer has come, and after a failure that concerns all, nothing is sent ahead: a
    refused key shows by one call. Threads are daemons because a server that hangs must hold up
    neither the end of a run nor that of the program.
    `usage` is what models were paid.
    """

    def __init__(self, bank: Bank, count: int, stopped: Callable[[], bool]) -> None:
        self.usage = Usage()
        self._folder, self._count, self._stopped = bank.path, count, stopped
        self._sent: dict[tuple[str, str], Future[Any]] = {}
        self._used: set[tuple[str, str]] = set()
        self._calls: list[Future[Any]] = []
        self._planned: deque[Question] = deque()
        self._trusted = False
        self._lock = threading.Lock()

    @property
    def in_flight(self) -> int:
        """How many calls have no answer yet."""
        return sum(not call.done() for call in self._calls)

    def turns(
        self, items: Iterable[TurnT], questions: Callable[[TurnT], Iterable[Question]]
    ) -> Iterator[TurnT]:
        """Yield the items one after another, and ask ahead for the next ones.

        `questions` returns what an item would ask as the bank is.
        """
        left, window = iter(items), deque[TurnT]()
        while not self._stopped():
            window.extend(islice(left, self._count - len(window)))
            if not window:
                return
            planned = deque[Question]()
            for turn in window if self._trusted and self._count > 1 else ():
                with suppress(DeltaMemError):  # its turn will report it
                    planned.extend(questions(turn))
            with self._lock:  # these and no others; one thread is kept for the present turn
                for key in self._used:
                    del self._sent[key]
                self._used.clear()
                self._calls = [call for call in self._calls if not call.done()]
                self._planned = planned
                self._start()
            yield window.popleft()

    def _start(self) -> None:
        """Send what is planned as far as there is room, with the lock held."""
        while self._planned and self.in_flight < self._count - 1:
            key, ask = self._planned.popleft()
            if key not in self._sent:
                self._send(key, ask)

    def answer(self, key: tuple[str, str], ask: Callable[[], Any]) -> Any:
        """Return the answer to a question whose turn it is; the same if it is asked again in it.

        Raises a StoppedError where the run is to stop, else whatever `ask` raises.
        """
        with self._lock:
            ahead = self._sent.get(key)
            future = ahead or self._send(key, ask)
        while not wait([future], timeout=_PULSE).done:
            if self._stopped():
                raise StoppedError
        if ahead and isinstance(future.exception(), BudgetError):
            with self._lock:
                del self._sent[key]  # what others had set aside may be free again
            return self.answer(key, ask)
        self._used.add(key)
        return future.result()

    def pay(self, payment: Call) -> None:
        """Count a payment and write it down, in any thread."""
        with self._lock:
            self.usage += payment.usage
        usage_log.append(self._folder, payment.bill())

    def close(self, cancel: Callable[[], object]) -> None:
        """Ask nothing more, and wait up to `GRACE` seconds for calls that are under way.

        `cancel` has them end without another try. A `KeyboardInterrupt` ends the wait and goes on.
        """
        with self._lock:
            self._planned.clear()
            left = [*self._calls]
        cancel()
        wait(left, timeout=GRACE)

    def _send(self, key: tuple[str, str], ask: Callable[[], Any]) -> Future[Any]:
        future = self._sent[key] = Future()
        self._calls.append(future)
        threading.Thread(target=self._run, args=(future, ask), daemon=True).start()
        return future

    def _run(self, future: Future[Any], ask: Callable[[], Any]) -> None:
        try:
            answer = ask()
        except BaseException as error:  # noqa: BLE001 - handed over to the thread that waits
            self._trusted = not isinstance(error, LanguageModelError)
            if isinstance(error, LanguageModelError):  # servers send keys back, not only ours
                error.message = without_secrets(error.message)
            future.set_exception(error)
        else:
            self._trusted = True
            future.set_result(answer)
        with self._lock:
            if self._trusted:
                self._start()


def asking_by(model: ModelExtractor, answer: Callable[[Question], Extraction]) -> FunctionWriter:
    """Return a model's writer whose questions are answered in another way, as from those sent."""

    def write(*question: Any) -> Extraction:
        request, ask = model.request(*question), partial(model.write, *question)
        if request is None:  # nothing is asked
            return ask()
        return answer(Question((question[0], request.prompt), ask))

    return FunctionWriter(model.name, write)
