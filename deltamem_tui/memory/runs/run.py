"""One run over many turns: questions asked ahead, what is paid, and an orderly end.

What a turn will ask is found by planning it against the bank as it is, with a writer that notes
each question and writes nothing. When its turn comes it is planned again: the same prompt takes
the answer that was sent for, another one is asked anew. So the bank is what asking one after
another would have made; only the time, and sometimes the cost, is different.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from deltamem_tui.bank import usage_log
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.errors import BudgetError, DeltaMemError, LanguageModelError, StorageError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.writers.extraction import (
    NO_INPUTS,
    Extraction,
    FailedCallError,
    Inputs,
    Payment,
)
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


class Question(NamedTuple):
    """A question, and how to ask it."""

    key: Key
    ask: Callable[[], Any]


class Payments:
    """The payments of one run: summed up, and written to the bank's `usage.jsonl` by any thread.

    An answer is used even if the disk refuses its line, which is tried again at the end.
    """

    def __init__(self, bank: Bank) -> None:
        self.usage = Usage()
        self._folder = bank.path
        self._unwritten: list[Payment] = []
        self._lock = threading.Lock()

    def __call__(self, payment: Payment) -> None:
        """Count a payment and write it down."""
        with self._lock:
            self.usage += payment.usage
        try:
            usage_log.append(self._folder, payment.record())
        except StorageError:
            with self._lock:
                self._unwritten.append(payment)

    def close(self) -> None:
        """Write down what could not be written before.

        Raises:
            StorageError: The disk still refuses.
        """
        with self._lock:
            while self._unwritten:
                usage_log.append(self._folder, self._unwritten[0].record())
                del self._unwritten[0]


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
        self._planned: dict[Key, Callable[[], Any]] = {}
        self._sent: dict[Key, Future[Any]] = {}
        self._used: set[Key] = set()
        self._under_way: set[Future[Any]] = set()
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
        wanted: dict[Key, Callable[[], Any]] = {}
        if self._trusted and self._count > 1:
            for key, ask in questions:
                wanted.setdefault(key, ask)
        with self._lock:
            # What was sent and not used is paid for, and perhaps asked again.
            self._sent = {key: each for key, each in self._sent.items() if key not in self._used}
            self._used.clear()
            self._planned = {key: ask for key, ask in wanted.items() if key not in self._sent}
            self._start()

    def answer(self, key: Key, ask: Callable[[], Any]) -> Any:
        """Return the answer to a question whose turn it is; the same if it is asked again in it.

        Raises:
            StoppedError: The run is to stop.
            DeltaMemError: Whatever `ask` raises.
        """
        with self._lock:
            was_ahead = key in self._sent
            future = self._sent[key] if was_ahead else self._send(key, ask)
        while not wait([future], timeout=_PULSE).done:
            if self._stopped():
                raise StoppedError
        try:
            found = future.result()
        except BudgetError:
            if not was_ahead:
                raise
            with self._lock:
                del self._sent[key]  # what others had set aside may be free again
            return self.answer(key, ask)
        except FailedCallError as error:
            self._use(key, error.call.usage)
            raise
        self._use(key, found.usage if isinstance(found, Extraction) else Usage())
        return found

    def known(self, key: Key) -> Any:
        """Return the answer to a question that was sent ahead; None if none has come."""
        sent = self._sent.get(key)
        return sent.result() if sent and sent.done() and not sent.exception() else None

    def close(self, cancel: Callable[[], object], grace: float = 0.0) -> None:
        """Ask nothing more, and wait up to `grace` seconds for calls that are under way.

        `cancel` has them end without another try. Answers that come later still reach the response
        cache, if the program goes on that long.
        """
        with self._lock:
            self._planned.clear()
            left = [*self._under_way]
        cancel()
        wait(left, timeout=grace)

    def _start(self) -> None:
        while self._planned and len(self._under_way) < self._count - 1:
            key = next(iter(self._planned))
            self._send(key, self._planned[key])

    def _send(self, key: Key, ask: Callable[[], Any]) -> Future[Any]:
        self._planned.pop(key, None)
        future = self._sent[key] = Future()
        self._under_way.add(future)
        threading.Thread(target=self._ask, args=(future, ask), daemon=True).start()
        return future

    def _ask(self, future: Future[Any], ask: Callable[[], Any]) -> None:
        answer: Any = None
        error: BaseException | None = None
        try:
            answer = ask()
        except BaseException as raised:  # noqa: BLE001 - handed over to the thread that waits
            error = raised
        with self._lock:
            self._trusted = not isinstance(error, LanguageModelError)
            self._under_way.remove(future)
            self._start()
        if error:
            future.set_exception(error)
        else:
            future.set_result(answer)

    def _use(self, key: Key, usage: Usage) -> None:
        if key not in self._used:
            self._used.add(key)
            self.used += usage


class Run:
    """The part that learning, judging and maintenance share.

    Attributes:
        payments: What models are paid.
        asking: Asks ahead.
    """

    def __init__(self, bank: Bank, concurrency: int, stopped: Callable[[], bool]) -> None:
        """Prepare a run that asks at most `concurrency` questions at once."""
        self.payments = Payments(bank)
        self.asking = Asking(concurrency, stopped)
        self._width, self._stopped, self._closed = concurrency, stopped, False

    def turns(
        self, items: Iterable[TurnT], questions: Callable[[TurnT], Iterable[Question]]
    ) -> Iterator[TurnT]:
        """Yield the items one after another, read a little ahead.

        `questions` returns what an item would ask as the bank is.
        """
        left, window = iter(items), deque[TurnT]()
        while not self._stopped():
            window.extend(islice(left, self._width - len(window)))
            if not window:
                return
            self.asking.begin(_ahead(window, questions))
            yield window.popleft()

    def close(self, cancel: Callable[[], object], grace: float) -> None:
        """Ask nothing more; see `Asking.close`. A `KeyboardInterrupt` ends the wait and goes on.

        Raises:
            StorageError: The disk does not take what was paid for into `usage.jsonl`.
        """
        if self._closed:
            return
        self._closed = True
        try:
            self.asking.close(cancel, grace)
        finally:
            self.payments.close()


def _ahead(
    turns: Iterable[TurnT], questions: Callable[[TurnT], Iterable[Question]]
) -> Iterator[Question]:
    for turn in turns:
        with suppress(DeltaMemError):  # its turn will report it
            yield from questions(turn)


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
