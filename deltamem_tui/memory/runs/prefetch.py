"""Asking ahead: a question is sent before its turn, and its answer is used if it is still asked.

What an episode will ask is found by planning it against the bank as it stands, with a writer that
notes each question and writes nothing. When its turn comes it is planned again: the same prompt
takes the answer that was sent for, another one is asked anew. What is written is therefore what
asking one after another would have written; only the time, and sometimes the cost, is different.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import BudgetError, LanguageModelError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, FailedCallError, Inputs
from deltamem_tui.memory.writers.writer import ModelWriter
from deltamem_tui.trajectory.model import Trajectory

GRACE = 5.0
"""Seconds that the end of a run waits for calls that are under way: they are paid for."""
_CONFIDENT = 2
_PULSE = 0.1  # seconds between two looks at whether the run is to stop

Key = tuple[str, str]
"""A purpose and a prompt. Equal ones get equal answers."""


class StoppedError(Exception):
    """The run is to stop. It never leaves the run that it stops."""


@dataclass(eq=False, slots=True)
class Question:
    """A question that is planned, sent or answered.

    Attributes:
        turn: When its answer is needed.
        key: What tells it from others.
        used: Whether the answer was used.
    """

    turn: int
    key: Key
    ask: Callable[[], Any]
    answer: Future[Any] = field(default_factory=Future)
    used: bool = False


class Lanes:
    """Threads that ask, at most `count` at once, the lowest turn first.

    One lane is kept for the present turn. The threads are daemons because a server that hangs
    must hold up neither the end of a run nor that of the program.

    Attributes:
        turn: The present turn.
        trusted: Whether the last question came to more than a failure that concerns all.
    """

    def __init__(self, count: int) -> None:
        """Nothing is asked yet."""
        self.turn = 0
        self.trusted = False
        self._count = count
        self._waiting: list[Question] = []
        self._under_way: set[Question] = set()
        self._lock = threading.Lock()

    def begin(self, turn: int) -> None:
        """Go on to a turn: its questions may use all lanes."""
        with self._lock:
            self.turn = turn
            self._start()

    def send(self, question: Question) -> None:
        """Have a question asked as soon as a lane is free; its answer can be cancelled."""
        with self._lock:
            self._waiting.append(question)
            self._start()

    def hurry(self, question: Question) -> None:
        """Ask a question of a later turn as one of the present turn."""
        with self._lock:
            question.turn = self.turn
            self._start()

    def under_way(self) -> list[Future[Any]]:
        """The answers that are not there yet, of questions that were begun."""
        with self._lock:
            return [question.answer for question in self._under_way]

    def close(self) -> None:
        """Begin nothing more. What is under way goes on."""
        with self._lock:
            self._count = 0

    def _start(self) -> None:
        self._waiting.sort(key=lambda each: each.turn)
        while self._waiting:
            first = self._waiting[0]
            needed = 1 if first.turn <= self.turn else 2
            if self._count - len(self._under_way) < needed:
                return
            del self._waiting[0]
            if first.answer.set_running_or_notify_cancel():
                self._under_way.add(first)
                name = "deltamem-lane"
                threading.Thread(target=self._ask, args=(first,), name=name, daemon=True).start()

    def _ask(self, question: Question) -> None:
        answer: Any = None
        error: BaseException | None = None
        try:
            answer = question.ask()
        except BaseException as raised:  # noqa: BLE001 - handed over to the thread that waits
            error = raised
        with self._lock:
            self.trusted = not isinstance(error, LanguageModelError)
            self._under_way.remove(question)
            self._start()
        if error:
            question.answer.set_exception(error)
        else:
            question.answer.set_result(answer)


class Prefetcher:
    """The questions of one run. It is used by one thread, which decides and writes.

    Until a first answer has come, and after a failure that lasts, nothing is sent ahead: so a
    refused key or a wrong name shows by one call. With one lane nothing is ever sent ahead.

    Attributes:
        used: What the answers took that were used at their turn, refused ones included.
    """

    def __init__(self, lanes: int, stopped: Callable[[], bool] = lambda: False) -> None:
        """Nothing is asked yet; `stopped` says, while answers are waited for, whether to stop."""
        self.used = Usage()
        self._lanes = Lanes(lanes)
        self._several = lanes > 1
        self._stopped = stopped
        self._sent: dict[Key, Question] = {}
        self._foreseen: defaultdict[int, dict[str, Key]] = defaultdict(dict)
        self._confidence: defaultdict[str, int] = defaultdict(lambda: _CONFIDENT)

    @property
    def under_way(self) -> int:
        """How many calls were begun and have no answer yet."""
        return len(self._lanes.under_way())

    def begin(self, turn: int) -> None:
        """Go on to the next turn. What was asked for earlier ones is over."""
        self._lanes.begin(turn)
        self._forget([each for each in self._sent.values() if each.used or each.turn < turn])

    def look_ahead(self, questions: Iterable[Question]) -> None:
        """Send the questions of the next turns as they stand, and take back what changed.

        Where those of one purpose changed of late before their turn came, none is sent ahead
        until they have stayed the same again: its answer would probably be paid for nothing.

        The questions of the present turn come first.
        """
        if not (self._several and self._lanes.trusted):
            return
        wanted: set[Key] = set()
        for each in questions:
            if each.turn > self._lanes.turn:
                self._compare(wanted)
                purpose = each.key[0]
                self._foreseen[each.turn].setdefault(purpose, each.key)
                if self._confidence[purpose] < _CONFIDENT:
                    continue
            wanted.add(each.key)
            if each.key not in self._sent:
                self._send(each)
        self._compare(wanted)
        unwanted = [each for key, each in self._sent.items() if key not in wanted]
        self._forget(each for each in unwanted if each.answer.cancel())

    def answered(self, key: Key) -> Any:
        """The answer to a question that was sent ahead; None if none has come."""
        sent = self._sent.get(key)
        if sent is None or not sent.answer.done() or sent.answer.exception():
            return None
        return sent.answer.result()

    def answer(self, key: Key, ask: Callable[[], Extraction]) -> Extraction:
        """The answer to a question whose turn it is; the same if it comes up again in that turn.

        Raises:
            StoppedError: The run is to stop.
            DeltaMemError: Whatever `ask` raises.
        """
        sent_before = key in self._sent
        question = self._sent.get(key) or self._send(Question(self._lanes.turn, key, ask))
        self._lanes.hurry(question)
        if not is_done(question.answer, self._stopped):
            raise StoppedError
        try:
            found: Extraction = question.answer.result()
        except BudgetError:
            if not sent_before:
                raise
            del self._sent[key]  # what others had set aside may be free again
            return self.answer(key, ask)
        except FailedCallError as error:
            self._use(question, error.call.usage)
            raise
        self._use(question, found.usage)
        return found

    def close(self, cancel: Callable[[], object], grace: float = 0.0) -> None:
        """Ask nothing more, and wait a little for calls that are under way.

        Answers that come later still reach the response cache, if the program goes on that long.

        `cancel` has questions that are under way end without another try; they are waited for up to
        `grace` seconds.
        """
        self._lanes.close()
        cancel()
        wait(self._lanes.under_way(), timeout=grace)

    def _send(self, question: Question) -> Question:
        self._sent[question.key] = question
        self._lanes.send(question)
        return question

    def _use(self, question: Question, usage: Usage) -> None:
        if not question.used:
            question.used = True
            self.used += usage

    def _compare(self, asked: set[Key]) -> None:
        """Note which of the questions that were foreseen for the present turn are asked in it."""
        for purpose, key in self._foreseen.pop(self._lanes.turn, {}).items():
            confidence = self._confidence[purpose] + (1 if key in asked else -1)
            self._confidence[purpose] = min(max(confidence, 0), _CONFIDENT + 1)

    def _forget(self, questions: Iterable[Question]) -> None:
        for question in questions:
            question.answer.cancel()
            del self._sent[question.key]


class PrefetchingWriter:
    """A model's writer at its turn: it takes the answers that were asked for ahead."""

    def __init__(self, writer: ModelWriter, prefetcher: Prefetcher) -> None:
        """Nothing is asked yet."""
        self.name = writer.name
        self._writer = writer
        self._prefetcher = prefetcher

    def write(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        """What the other writer writes."""
        prompt = self._writer.prompt(purpose, episode, notes, inputs)
        ask = partial(self._writer.write, purpose, episode, notes, inputs)
        return ask() if prompt is None else self._prefetcher.answer((purpose, prompt), ask)


class PlannedQuestions:
    """A writer that notes the questions of a turn, and gives nothing to write."""

    def __init__(self, writer: ModelWriter, turn: int) -> None:
        """Nothing is noted yet."""
        self.name = writer.name
        self.noted: list[Question] = []
        self._writer = writer
        self._turn = turn

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
            self.noted.append(Question(self._turn, (purpose, prompt), ask))
        return Extraction(None, "asked ahead")


def is_done(answer: Future[Any], stopped: Callable[[], bool]) -> bool:
    """Wait for an answer; false if the run is to stop before it comes."""
    while not wait([answer], timeout=_PULSE).done:
        if stopped():
            return False
    return True
