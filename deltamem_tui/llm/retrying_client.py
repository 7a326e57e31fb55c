"""The caller: one conversation put to a model's server until there is a reply or no hope of one.

A call may end without a reply and be answered, and billed, all the same: the time was over, or
the connection broke. Such a call counts at its worst cost until more is known, its reply is
taken when it still comes, and no new call is made when it came in time.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any

from deltamem_tui.errors import LanguageModelError, ModelUnavailableError
from deltamem_tui.llm.call import Manner, Server, call, conversation_tokens
from deltamem_tui.llm.cancellation import GivenUpError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.llm.failures import Failure, failure
from deltamem_tui.llm.metering import Till
from deltamem_tui.llm.model_info import ModelCard
from deltamem_tui.llm.reply import Message, Reply
from deltamem_tui.llm.retry_policy import Patience
from deltamem_tui.llm.secrets import host

# Our count may be short of the model's own; the limit on cost must hold all the same.
_MARGIN = 1.25
# Many calls at once fail together, and a person needs to hear of it once.
_SAID_EVERY = 10.0

Taken = tuple[Reply, Usage]


class Late:
    """The replies that come when their call was given up: for the question while it is open."""

    def __init__(self, afterwards: Callable[[Usage], object]) -> None:
        """The question is open.

        Args:
            afterwards: Told what a reply took that no question waits for any more.
        """
        self._afterwards = afterwards
        self._taken: list[Taken] = []
        self._open = True
        self._lock = threading.Lock()

    def hand(self, taken: Taken) -> None:
        """A reply has come."""
        with self._lock:
            if self._open:
                self._taken.append(taken)
                return
        self._afterwards(taken[1])

    def first(self) -> Taken | None:
        """The first reply that has come and was not asked for here before; None without one."""
        with self._lock:
            return self._taken.pop(0) if self._taken else None

    def close(self) -> None:
        """The question is over; what has come and was not used took something all the same."""
        with self._lock:
            self._open = False
            left, self._taken = self._taken, []
        for _, usage in left:
            self._afterwards(usage)


class Caller:
    """Calls one model at one server. Any number of threads share it."""

    def __init__(
        self,
        card: ModelCard,
        server: Server,
        till: Till,
        patience: Patience,
        *,
        seed: int,
        sleep: Callable[[float], object] | None,
        chance: Callable[[], float],
        now: Callable[[], float],
        tell: Callable[[str], object],
    ) -> None:
        """Nothing is called yet. See `Client` for what the arguments mean."""
        self._card = card
        self._server = server
        self._till = till
        self._patience = patience
        self._seed = seed
        self._sleep = sleep
        self._chance = chance
        self._now = now
        self._tell = tell
        self._told_last = -math.inf
        self._manner = Manner(card.answer_format, card.seed)
        self._lock = threading.Lock()

    def reply(
        self,
        key: str,
        messages: list[Message],
        schema: dict[str, Any] | None,
        stopped: threading.Event,
        afterwards: Callable[[Usage], object],
    ) -> Taken:
        """Call until there is a reply, patience ends, or the failure is one that lasts.

        Args:
            key: What the till knows the question by.
            messages: The conversation so far.
            schema: What the answer is bound to; None for free text.
            stopped: Set when nobody waits for the answer any more.
            afterwards: Told what a reply took that came when it was of no use any more.

        Returns:
            The reply, which the till has taken, and what it took.

        Raises:
            GivenUpError: Nobody waits for the answer any more.
            BudgetError: The call could pass the limit on cost.
            LanguageModelError: There was no answer.
        """
        late = Late(afterwards)
        worst = self._worst(messages)
        failures = 0
        try:
            while True:
                if (taken := late.first()) is not None:
                    return taken
                if stopped.is_set():
                    raise GivenUpError
                manner = self._manner
                answered = self._try(key, manner, messages, schema, worst, stopped, late)
                if not isinstance(answered, Failure):
                    return answered
                if answered.complaint and self._humbled(manner, answered.complaint):
                    continue
                failures += 1
                pause = self._patience.wait(failures, answered.wait, self._chance())
                if not answered.again or pause is None:
                    raise self._final(answered, failures)
                self._tell_of(answered, pause, failures)
                (self._sleep or stopped.wait)(pause)
        finally:
            late.close()

    def _tell_of(self, failed: Failure, pause: float, failures: int) -> None:
        """Say why nothing seems to happen; once for all the calls that fail at about one time."""
        with self._lock:
            now = time.monotonic()
            if now - self._told_last < _SAID_EVERY:
                return
            self._told_last = now
        tries = self._patience.retries + 1
        self._tell(
            f"{failed.error.message}; trying again in {pause:,.0f} s (try {failures} of {tries})"
        )

    def _worst(self, messages: list[Message]) -> float | None:
        """The most that a call can cost; None if its price is not known."""
        card = self._card
        tokens = int(conversation_tokens(card.name, messages) * _MARGIN)
        return card.price.of(tokens, card.answer_tokens) if card.price else None

    def _try(
        self,
        key: str,
        manner: Manner,
        messages: list[Message],
        schema: dict[str, Any] | None,
        worst: float | None,
        stopped: threading.Event,
        late: Late,
    ) -> Taken | Failure:
        """Make one call, and pay for it what is known to be paid or has to be feared."""

        def has_come(answered: Reply | BaseException) -> None:
            if isinstance(answered, Reply):
                taken = answered, self._till.take(key, answered, late=True)
                self._till.correct((answered.cost or 0.0) - (worst or 0.0))
                late.hand(taken)
            elif not self._read(answered).perhaps_paid:
                self._till.correct(-(worst or 0.0))

        with self._till.promise(worst, stopped) as payment:
            answered = call(
                self._card, self._server, manner, messages, schema, self._seed, has_come
            )
            if isinstance(answered, Reply):
                payment.cost = answered.cost or 0.0
                return answered, self._till.take(key, answered)
            if not isinstance(answered, Exception):
                raise answered  # an interrupt, or the end of the program
            failed = self._read(answered)
            payment.cost = (worst or 0.0) if failed.perhaps_paid else 0.0
            return failed

    def _read(self, raised: BaseException) -> Failure:
        return failure(raised, self._card.name, self._now(), self._server.key)

    def _humbled(self, manner: Manner, complaint: str) -> bool:
        """Leave out of later requests what the server complained about, if that is possible."""
        humbler = manner.without(complaint)
        if humbler is None:
            return False
        with self._lock:
            if self._manner == manner:
                self._manner = humbler
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
