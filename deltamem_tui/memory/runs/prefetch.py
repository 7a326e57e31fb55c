"""Asking ahead: a question is sent before its turn, and its answer is used if it is still asked.

What an episode will ask is found by planning it against the bank as it stands, with a writer that
notes each question and writes nothing. While its turn has not come, earlier episodes may change
what it will meet. So when the turn comes it is planned again: the same prompt takes the answer in
flight, another one is asked anew. What is written is therefore what asking one after another
would have written; only the time, and sometimes the cost, is different.
"""

from __future__ import annotations

import heapq
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError, Future, wait
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import BudgetError, LanguageModelError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.method import ModelWriter
from deltamem_tui.memory.writers.extraction import AskedInVainError, Extraction
from deltamem_tui.trajectory.model import Trajectory

GRACE = 5.0
"""Seconds that the end of a run waits for calls that are under way: they are paid for."""
_CONFIDENT = 2
_PULSE = 0.1  # seconds between two looks at whether the run is to stop

Key = tuple[str, str]
"""A purpose and a prompt. Equal ones get equal answers."""


class StoppedError(Exception):
    """The run is to stop. It never leaves the run that it stops."""


@dataclass(frozen=True, slots=True)
class Question:
    """What will be asked as the bank stands: its place in the order, its key, and what asks it."""

    turn: int
    key: Key
    ask: Callable[[], Any]


@dataclass(eq=False, slots=True)
class Flight:
    """A question that was sent, or will be as soon as a lane is free.

    Attributes:
        turn: When its answer is needed.
        ask: Asks it.
        ahead: Whether it was sent before its turn.
        taken: Whether the answer was used.
        answer: What comes of it.
    """

    turn: int
    ask: Callable[[], Any]
    ahead: bool = False
    taken: bool = False
    answer: Future[Any] = field(default_factory=Future)


class Lanes:
    """Threads that ask, as many at once as there are lanes, the lowest turn first.

    One lane is kept for the present turn. The threads are daemons because a server that hangs
    must hold up neither the end of a run nor that of the program.

    Attributes:
        turn: The present turn.
        trusted: Whether the last question came to more than a failure that concerns all.
    """

    def __init__(self, lanes: int) -> None:
        """No thread is started before there is something to ask."""
        self.turn = 0
        self.trusted = False
        self._lanes = lanes
        self._waiting: list[tuple[int, int, Flight]] = []
        self._numbers = count()
        self._under_way: set[Flight] = set()
        self._threads = 0
        self._closed = False
        self._changed = threading.Condition()

    def begin(self, turn: int) -> None:
        """Go on to a turn: its questions may use all lanes."""
        with self._changed:
            self.turn = turn
            self._changed.notify_all()

    def send(self, flight: Flight, turn: int) -> None:
        """Have a question asked, if that is not under way; `flight.answer` can be cancelled."""
        with self._changed:
            heapq.heappush(self._waiting, (turn, next(self._numbers), flight))
            self._changed.notify()
            if self._threads < self._lanes:
                self._threads += 1
                threading.Thread(target=self._work, name="deltamem-lane", daemon=True).start()

    def under_way(self) -> list[Future[Any]]:
        """The questions that were begun and are not answered yet."""
        with self._changed:
            return [flight.answer for flight in self._under_way]

    def close(self) -> None:
        """Begin nothing more. What is under way goes on."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _work(self) -> None:
        while (flight := self._next()) is not None:
            answer: Any = None
            error: BaseException | None = None
            try:
                answer = flight.ask()
            except BaseException as raised:  # noqa: BLE001 - handed over to the thread that waits
                error = raised
            with self._changed:
                self.trusted = not isinstance(error, LanguageModelError)
                self._under_way.remove(flight)
                self._changed.notify()
            if error:
                flight.answer.set_exception(error)
            else:
                flight.answer.set_result(answer)

    def _next(self) -> Flight | None:
        """The next question, begun; None when the lanes are closed."""
        with self._changed:
            while not self._closed:
                kept_free = len(self._under_way) >= self._lanes - 1
                if not self._waiting or (kept_free and self._waiting[0][0] > self.turn):
                    self._changed.wait()
                    continue
                flight = heapq.heappop(self._waiting)[-1]
                begun = flight.answer.running() or flight.answer.done()
                if not begun and flight.answer.set_running_or_notify_cancel():
                    self._under_way.add(flight)
                    return flight
        return None


class Prefetcher:
    """The questions of one run. It is used by one thread, which decides and writes.

    Until a first answer has come, and after a failure that lasts, nothing is sent ahead: so a
    refused key or a wrong name shows by one call. With one lane nothing is ever sent ahead.

    Attributes:
        used: What the answers took that were used at their turn, refused ones included.
    """

    def __init__(self, lanes: int, stopped: Callable[[], bool] = lambda: False) -> None:
        """Nothing is asked yet.

        Args:
            lanes: The most questions at once.
            stopped: Whether the run is to stop; asked while waiting.
        """
        self.used = Usage()
        self._lanes = Lanes(lanes)
        self._several = lanes > 1
        self._stopped = stopped
        self._flights: dict[Key, Flight] = {}
        self._foreseen: defaultdict[int, dict[str, Key]] = defaultdict(dict)
        self._held: defaultdict[str, int] = defaultdict(lambda: _CONFIDENT)

    def begin(self, turn: int) -> None:
        """Go on to the next turn. What was asked for earlier ones is over."""
        self._lanes.begin(turn)
        self._drop(lambda _, flight: flight.taken or flight.turn < turn)

    def look_ahead(self, questions: Iterable[Question]) -> None:
        """Send the questions of the next turns as they stand, and take back what changed.

        Where those of one purpose changed of late before their turn came, none is sent ahead
        until they would have held again: its answer would probably be paid for nothing.

        Args:
            questions: Those of the present turn first.
        """
        if not (self._several and self._lanes.trusted):
            return
        wanted: set[Key] = set()
        for each in questions:
            ahead = each.turn > self._lanes.turn
            if ahead:
                self._compare(wanted)
                purpose = each.key[0]
                self._foreseen[each.turn].setdefault(purpose, each.key)
                if self._held[purpose] < _CONFIDENT:
                    continue
            wanted.add(each.key)
            if each.key not in self._flights:
                self._flights[each.key] = flight = Flight(each.turn, each.ask, ahead)
                self._lanes.send(flight, each.turn)
        self._compare(wanted)
        self._drop(lambda key, flight: key not in wanted and flight.answer.cancel())

    def answered(self, key: Key) -> Any:
        """The answer to a question that was sent ahead; None if none has come."""
        flight = self._flights.get(key)
        answer = flight.answer if flight else None
        if answer is None or not answer.done() or answer.cancelled() or answer.exception():
            return None
        return answer.result()

    def answer(self, key: Key, ask: Callable[[], Extraction]) -> Extraction:
        """The answer to a question whose turn it is; the same if it comes up again in that turn.

        Raises:
            StoppedError: The run is to stop.
            DeltaMemError: Whatever `ask` raises.
        """
        flight = self._flights.setdefault(key, Flight(self._lanes.turn, ask))
        self._lanes.send(flight, self._lanes.turn)
        if not is_done(flight.answer, self._stopped):
            raise StoppedError
        try:
            found: Extraction = flight.answer.result()
        except (BudgetError, CancelledError):
            if not flight.ahead:
                raise
            del self._flights[key]  # what others had set aside may be free again
            return self.answer(key, ask)
        except AskedInVainError as error:
            self._use(flight, error.call.usage)
            raise
        self._use(flight, found.usage)
        return found

    @property
    def under_way(self) -> int:
        """How many calls were begun and have no answer yet."""
        return len(self._lanes.under_way())

    def close(self, cancel: Callable[[], object], grace: float = 0.0) -> None:
        """Ask nothing more, and wait a little for calls that are under way.

        Answers that come later still reach the response cache, if the program goes on that long.

        Args:
            cancel: Has questions that are under way end without another try.
            grace: The most seconds to wait.
        """
        self._lanes.close()
        cancel()
        wait(self._lanes.under_way(), timeout=grace)

    def _use(self, flight: Flight, usage: Usage) -> None:
        if not flight.taken:
            flight.taken = True
            self.used += usage

    def _compare(self, asked: set[Key]) -> None:
        """Note which of the questions that were foreseen for the present turn are asked in it."""
        for purpose, key in self._foreseen.pop(self._lanes.turn, {}).items():
            held = self._held[purpose] + (1 if key in asked else -1)
            self._held[purpose] = min(max(held, 0), _CONFIDENT + 1)

    def _drop(self, over: Callable[[Key, Flight], bool]) -> None:
        for key, flight in list(self._flights.items()):
            if over(key, flight):
                flight.answer.cancel()
                del self._flights[key]


class PrefetchingWriter:
    """A model's writer at its turn: it takes the answers that were asked for ahead."""

    def __init__(self, writer: ModelWriter, prefetcher: Prefetcher) -> None:
        """Nothing is asked yet."""
        self._writer = writer
        self._prefetcher = prefetcher

    @property
    def name(self) -> str:
        """The other writer's name."""
        return self._writer.name

    def write(self, purpose: str, episode: Trajectory | None, notes: Sequence[Node]) -> Extraction:
        """What the other writer writes."""
        prompt = self._writer.prompt(purpose, episode, notes)
        ask = partial(self._writer.write, purpose, episode, notes)
        return ask() if prompt is None else self._prefetcher.answer((purpose, prompt), ask)


class PlannedQuestions:
    """A writer that notes the questions of a turn, and gives nothing to write."""

    def __init__(self, writer: ModelWriter, turn: int) -> None:
        """Nothing is noted yet."""
        self.name = writer.name
        self.noted: list[Question] = []
        self._writer = writer
        self._turn = turn

    def write(self, purpose: str, episode: Trajectory | None, notes: Sequence[Node]) -> Extraction:
        """Note a question."""
        prompt = self._writer.prompt(purpose, episode, notes)
        if prompt is not None:
            ask = partial(self._writer.write, purpose, episode, notes)
            self.noted.append(Question(self._turn, (purpose, prompt), ask))
        return Extraction(None, "asked ahead")


def is_done(answer: Future[Any], stopped: Callable[[], bool]) -> bool:
    """Wait for an answer; false if the run is to stop before it comes."""
    while not wait([answer], timeout=_PULSE).done:
        if stopped():
            return False
    return True
