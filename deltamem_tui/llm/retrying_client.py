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
from typing import Any

from deltamem_tui.errors import LanguageModelError, ModelUnavailableError
from deltamem_tui.llm.call import Message, Reply, RequestOptions, Server, call, conversation_tokens
from deltamem_tui.llm.cost import Budget, Usage
from deltamem_tui.llm.failures import Failure, QuestionCancelledError, failure
from deltamem_tui.llm.metering import Meter, OnAnswer
from deltamem_tui.llm.model_info import ModelInfo
from deltamem_tui.llm.secrets import host

# Our count may be short of the model's own; the limit on cost must hold all the same.
_MARGIN = 1.25
# Many calls at once fail together, and a person needs to hear of it once.
_NOTIFY_EVERY = 10.0

Taken = tuple[Reply, Usage]


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
        """Seconds to wait before the next try; None to give up.

        Args:
            failures: How many tries have failed, at least 1.
            asked: What the server asked for; None if it did not say.
            chance: A number in [0, 1) that spreads the tries of many clients.
        """
        if failures > self.retries or (asked is not None and asked > self.obeys):
            return None
        own = min(self.first * 2.0 ** (failures - 1), self.longest) * (0.5 + chance / 2)
        return max(own, asked or 0.0)


class RetryingCaller:
    """Calls one model at one server. Any number of threads share it."""

    def __init__(
        self,
        info: ModelInfo,
        server: Server,
        meter: Meter,
        budget: Budget,
        policy: RetryPolicy,
        *,
        seed: int,
        sleep: Callable[[float], object] | None,
        chance: Callable[[], float],
        now: Callable[[], float],
        notify: Callable[[str], object],
    ) -> None:
        """Nothing is called yet. See `Client` for what the arguments mean."""
        self._info = info
        self._server = server
        self._meter = meter
        self._budget = budget
        self._policy = policy
        self._seed = seed
        self._sleep = sleep
        self._chance = chance
        self._now = now
        self._notify = notify
        self._notified = -math.inf
        self._options = RequestOptions(info.answer_format, info.seed)
        self._lock = threading.Lock()

    def reply(
        self,
        key: str,
        messages: list[Message],
        schema: dict[str, Any] | None,
        cancelled: threading.Event,
        on_answer: OnAnswer,
    ) -> Taken:
        """Call until there is a reply, the retries are used up, or the failure is a lasting one.

        Args:
            key: What the meter knows the question by.
            messages: The conversation so far.
            schema: What the answer is bound to; None for free text.
            cancelled: Set when the answer is not wanted any more.
            on_answer: Told what each reply took, also one that comes too late to be of use.

        Returns:
            The reply, which the meter has counted, and what it took.

        Raises:
            QuestionCancelledError: The answer is not wanted any more.
            BudgetError: The call could pass the limit on cost.
            LanguageModelError: There was no answer.
        """
        late: queue.SimpleQueue[Taken] = queue.SimpleQueue()
        worst = self._worst(messages)
        failures = 0
        while True:
            if not late.empty():
                return late.get()
            if cancelled.is_set():
                raise QuestionCancelledError
            options = self._options
            answered = self._try(key, options, messages, schema, worst, cancelled, on_answer, late)
            if not isinstance(answered, Failure):
                return answered
            if answered.complaint and self._reduced(options, answered.complaint):
                continue
            failures += 1
            pause = self._policy.wait(failures, answered.wait, self._chance())
            if not answered.again or pause is None:
                raise self._final(answered, failures)
            self._notify_of(answered, pause, failures)
            (self._sleep or cancelled.wait)(pause)

    def _notify_of(self, failed: Failure, pause: float, failures: int) -> None:
        """Say why nothing seems to happen; once for all the calls that fail at about one time."""
        with self._lock:
            now = time.monotonic()
            if now - self._notified < _NOTIFY_EVERY:
                return
            self._notified = now
        tries = self._policy.retries + 1
        self._notify(
            f"{failed.error.message}; trying again in {pause:,.0f} s (try {failures} of {tries})"
        )

    def _worst(self, messages: list[Message]) -> float | None:
        """The most that a call can cost; None if its price is not known."""
        info = self._info
        tokens = int(conversation_tokens(info.name, messages) * _MARGIN)
        return info.price.of(tokens, info.answer_tokens) if info.price else None

    def _try(
        self,
        key: str,
        options: RequestOptions,
        messages: list[Message],
        schema: dict[str, Any] | None,
        worst: float | None,
        cancelled: threading.Event,
        on_answer: OnAnswer,
        late: queue.SimpleQueue[Taken],
    ) -> Taken | Failure:
        """Make one call, and pay for it what is known to be paid or has to be feared."""

        def came_late(answered: Reply | BaseException) -> None:
            if isinstance(answered, Reply):
                taken = self._meter.take(key, answered, on_answer, late=True)
                self._budget.correct((answered.cost or 0.0) - (worst or 0.0))
                late.put((answered, taken))
            elif not self._read(answered).perhaps_paid:
                self._budget.correct(-(worst or 0.0))

        with self._budget.promise(worst, cancelled) as payment:
            answered = call(
                self._info, self._server, options, messages, schema, self._seed, came_late
            )
            if isinstance(answered, Reply):
                payment.cost = answered.cost or 0.0
                return answered, self._meter.take(key, answered, on_answer)
            if not isinstance(answered, Exception):
                raise answered  # an interrupt, or the end of the program
            failed = self._read(answered)
            payment.cost = (worst or 0.0) if failed.perhaps_paid else 0.0
            return failed

    def _read(self, raised: BaseException) -> Failure:
        return failure(raised, self._info.name, self._now(), self._server.key)

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
        if self._server.address:
            error.source = host(self._server.address)
        if isinstance(error, ModelUnavailableError) and failed.again:
            asked = f", asks to wait {failed.wait:,.0f} s" if failed.wait else ""
            error.message += f" ({failures} tries{asked})"
        return error
