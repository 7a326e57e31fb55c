"""One conversation put to a model's server until there is a reply, or no hope of one.

A call may end without a reply and be answered, and billed, all the same: the time was over, or
the connection broke. Such a call counts at its worst cost until more is known, its reply is
taken when it still comes, and no new call is made when it came in time.
"""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from deltamem_tui.errors import LanguageModelError, ModelUnavailableError
from deltamem_tui.llm.call import Message, Reply, RequestOptions, Server, call, conversation_tokens
from deltamem_tui.llm.cost import Budget, Usage
from deltamem_tui.llm.failures import Failure, QuestionCancelledError, failure
from deltamem_tui.llm.metering import Meter, OnAnswer
from deltamem_tui.llm.model_info import ModelInfo
from deltamem_tui.llm.secrets import host
from deltamem_tui.text import counted

# Our count may be short of the model's own; the limit on cost must hold all the same.
_MARGIN = 1.25
# Many calls at once fail together, and a person needs to hear of it once.
_NOTIFY_EVERY = 10.0

PaidReply = tuple[Reply, Usage]
"""A reply that the meter has counted, and what it took."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When to try a call again.

    Attributes:
        retries: How many more times after the first.
        first: Seconds before the first retry; each later wait doubles.
        longest: The longest wait of our own, in seconds.
        obeys: The longest wait that a server may ask for; one that asks for more is given up.
    """

    retries: int = 5
    first: float = 1.0
    longest: float = 60.0
    obeys: float = 300.0

    def wait(self, failures: int, asked: float | None, chance: float) -> float | None:
        """Seconds to wait before the next try, after so many failed; None to give up.

        `asked` are the seconds that the server asked for, if it did; `chance`, a number in
        [0, 1), spreads the tries of many clients.
        """
        if failures > self.retries or (asked is not None and asked > self.obeys):
            return None
        own = min(self.first * 2.0 ** (failures - 1), self.longest) * (0.5 + chance / 2)
        return max(own, asked or 0.0)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A question to a model, until it is answered or given up.

    Attributes:
        key: What the meter knows the question by.
        messages: The conversation so far.
        schema: What the answer is bound to; None for free text.
        cancelled: Set when the answer is not wanted any more.
        on_answer: Called with what each reply took, also one that comes too late to be of use.
    """

    key: str
    messages: list[Message]
    schema: dict[str, Any] | None
    cancelled: threading.Event
    on_answer: OnAnswer


class Caller(Protocol):
    """Who replies to what the cache does not."""

    def reply(self, request: ChatRequest) -> PaidReply:
        """The reply, and what it took.

        Raises:
            LanguageModelError: There is none.
        """
        ...


@dataclass(eq=False)
class RetryingCaller:
    """Calls one model at one server. Any number of threads share it.

    The fields are what `Client` is made with.
    """

    info: ModelInfo
    server: Server
    meter: Meter
    budget: Budget
    policy: RetryPolicy
    seed: int
    sleep: Callable[[float], object] | None
    chance: Callable[[], float]
    now: Callable[[], float]
    notify: Callable[[str], object]

    def __post_init__(self) -> None:
        self._options = RequestOptions(self.info.answer_format, self.info.seed)
        self._notified = -math.inf
        self._lock = threading.Lock()

    def reply(self, request: ChatRequest) -> PaidReply:
        """Call until there is a reply, the retries are used up, or the failure is a lasting one.

        Raises:
            QuestionCancelledError: The answer is not wanted any more.
            BudgetError: The call could pass the limit on cost.
            LanguageModelError: There was no answer.
        """
        late: queue.SimpleQueue[PaidReply] = queue.SimpleQueue()
        failures = 0
        while True:
            if not late.empty():
                return late.get()
            if request.cancelled.is_set():
                raise QuestionCancelledError
            options = self._options
            outcome = self._try(request, options, late)
            if not isinstance(outcome, Failure):
                return outcome
            if outcome.complaint and self._reduced(options, outcome.complaint):
                continue
            failures += 1
            pause = self.policy.wait(failures, outcome.wait, self.chance())
            if not outcome.again or pause is None:
                raise self._final(outcome, failures)
            self._notify_of(outcome, pause, failures)
            (self.sleep or request.cancelled.wait)(pause)

    def _notify_of(self, failed: Failure, pause: float, failures: int) -> None:
        """Say why nothing seems to happen; once for all the calls that fail at about one time."""
        with self._lock:
            now = time.monotonic()
            if now - self._notified < _NOTIFY_EVERY:
                return
            self._notified = now
        tries = self.policy.retries + 1
        self.notify(
            f"{failed.error.message}; trying again in {pause:,.0f} s (try {failures} of {tries})"
        )

    def _worst(self, messages: list[Message]) -> float | None:
        """The most that a call can cost; None if its price is not known."""
        info = self.info
        tokens = int(conversation_tokens(info.name, messages) * _MARGIN)
        return info.price.of(tokens, info.answer_tokens) if info.price else None

    def _try(
        self, request: ChatRequest, options: RequestOptions, late: queue.SimpleQueue[PaidReply]
    ) -> PaidReply | Failure:
        """Make one call, and pay for it what is known to be paid or has to be feared."""
        worst = self._worst(request.messages)

        def came_late(answered: Reply | BaseException) -> None:
            if isinstance(answered, Reply):
                paid = self.meter.take(request.key, answered, request.on_answer, late=True)
                self.budget.correct((answered.cost or 0.0) - (worst or 0.0))
                late.put((answered, paid))
            elif not self._read(answered).perhaps_paid:
                self.budget.correct(-(worst or 0.0))

        with self.budget.promise(worst, request.cancelled) as payment:
            answered = call(
                self.info,
                self.server,
                options,
                request.messages,
                request.schema,
                self.seed,
                came_late,
            )
            if isinstance(answered, Reply):
                payment.cost = answered.cost or 0.0
                return answered, self.meter.take(request.key, answered, request.on_answer)
            if not isinstance(answered, Exception):
                raise answered  # an interrupt, or the end of the program
            failed = self._read(answered)
            payment.cost = (worst or 0.0) if failed.perhaps_paid else 0.0
            return failed

    def _read(self, raised: BaseException) -> Failure:
        return failure(raised, self.info.name, self.now(), self.server.key)

    def _reduced(self, options: RequestOptions, complaint: str) -> bool:
        """Leave out of later requests what the server complained about, if that is possible."""
        fewer = options.without(complaint)
        if fewer is None:
            return False
        with self._lock:
            if self._options == options:
                self._options = fewer
        return True

    def _final(self, failed: Failure, failures: int) -> LanguageModelError:
        """The error for people, with what only the caller knows."""
        error = failed.error
        if self.server.address:
            error.source = host(self.server.address)
        if isinstance(error, ModelUnavailableError) and failed.again:
            asked = f", asks to wait {failed.wait:,.0f} s" if failed.wait else ""
            error.message += f" ({counted(failures, 'try', 'tries')}{asked})"
        return error
