"""The client: a prompt in, a checked answer out.

It tries again when the model's server fails, asks again with the reason when the answer cannot
be used, keeps every answer in the response cache, counts what all of it took, and never passes
the limit on cost. Any number of threads may share one client.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar, cast

from deltamem_tui.errors import (
    AnswerError,
    BudgetError,
    CredentialsError,
    LanguageModelError,
    ModelUnavailableError,
    Remedy,
    StorageError,
    UsageError,
)
from deltamem_tui.llm.answers import Contract, UnusableAnswer
from deltamem_tui.llm.cache import ResponseCache
from deltamem_tui.llm.call import (
    TIMEOUT,
    Failure,
    Message,
    Reply,
    RequestOptions,
    Server,
    call,
    conversation_tokens,
    failure,
    host,
    without_secrets,
)
from deltamem_tui.llm.cost import Budget, NoBudget, Price, QuestionCancelledError, Usage
from deltamem_tui.llm.models import (
    ModelInfo,
    check_credentials,
    count_tokens,
    litellm,
    look_up,
    server_address,
)
from deltamem_tui.text import counted, one_line

T = TypeVar("T")

REPEATS = 2
# A repeat differs from what failed, or a weak model gives the same answer again.
_TEMPERATURES = (0.0, 0.5, 0.9)
_SHOWN_AGAIN = 4_000
# Our count may be short of the model's own; the limit on cost must hold all the same.
_MARGIN = 1.25
# Many calls at once fail together, and a person needs to hear of it once.
_NOTIFY_EVERY = 10.0
# Seconds to wait for an own server, which may be slow: asking twice costs it twice.
OWN_SERVER_TIMEOUT = 600.0

OnAnswer = Callable[[Usage], object]
"""Called with what an answer took, in the thread in which the answer came."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What was made of an answer that passed its check, and what all attempts took.

    Attributes:
        first_usage: The same, each answer out of the cache counted as when it was first given.
        flaw: Why it was asked again, if that did not mend it; empty if the answer has no flaw.
    """

    value: T
    usage: Usage
    first_usage: Usage
    attempts: int
    flaw: str = ""


class NoUsableAnswerError(AnswerError):
    """The model gave answers, but none that could be used. All attempts were paid for.

    Its numbers are those of `Answer`.
    """

    def __init__(self, error: AnswerError, usage: Usage, first_usage: Usage, attempts: int) -> None:
        super().__init__(
            error.message, source=error.source, position=error.position, hint=error.hint
        )
        self.usage = usage
        self.first_usage = first_usage
        self.attempts = attempts


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
        """Return the seconds to wait before the next try; None to give up.

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
        key: The cache's name for it.
        messages: The conversation up to now.
        schema: What the answer is bound to; None for free text.
        answer_tokens: The most tokens of the answer.
        cancelled: Set when the answer is not wanted any more.
        on_answer: Called with what the reply took.
        attempt: 1 for the first try of a question.
    """

    key: str
    messages: list[Message]
    schema: dict[str, Any] | None
    answer_tokens: int
    cancelled: threading.Event
    on_answer: OnAnswer
    attempt: int = 1


class Caller(Protocol):
    """Replies to what the cache does not, in place of a server."""

    def reply(self, request: ChatRequest) -> Reply:
        """Return the reply.

        Raises:
            LanguageModelError: There is none.
        """
        ...


def _ignore(_value: object) -> None:
    pass


class Client:
    """One model at one server."""

    def __init__(
        self,
        model: str,
        *,
        server: Server | None = None,
        cache: ResponseCache | None = None,
        budget: Budget | None = None,
        policy: RetryPolicy | None = None,
        window: int | None = None,
        answer_tokens: int | None = None,
        price: Price | None = None,
        seed: int = 0,
        sleep: Callable[[float], object] | None = None,
        chance: Callable[[], float] = random.random,
        now: Callable[[], float] = time.time,
        notify: Callable[[str], object] = _ignore,
        asks: bool = True,
        batch: Caller | None = None,
    ) -> None:
        """Look the model up by its name, `provider/model`, in tables only. No call is made.

        Args:
            model: Its name as litellm takes it.
            server: Where to call; the provider itself, with the environment's key, if not given.
            cache: Where answers are kept; nowhere if not given.
            budget: The limit on cost; none if not given.
            policy: When to try again.
            window: The model's window in tokens; this, `answer_tokens` (the most of an answer)
                and `price` are for a user who knows better than the tables.
            answer_tokens: See `window`.
            price: See `window`.
            seed: For servers that take one.
            sleep: How to wait some seconds; a wait that `cancel` ends if not given.
            chance: A number in [0, 1) that spreads the waits.
            now: Seconds since 1970.
            notify: Shows a line to a person, in any thread: that answers cannot be kept, or that
                the server fails and will be tried again.
            asks: Whether anything will be asked; if not, a missing key is only reported.
            batch: Asked in place of the server, which then needs no key.

        Raises:
            ModelNotFoundError: No provider goes by this name.
            CredentialsError: The environment holds no key for the provider.
        """
        self.info: ModelInfo = look_up(
            model, window=window, answer_tokens=answer_tokens, price=price
        )
        self._server = server or Server()
        if not (self._server.key or self._server.address or batch):
            _require_key(model, asks=asks, notify=notify)
        self._address = self._server.address or server_address(model)
        self._seed = seed
        self._cache = cache
        self._keeps = cache is not None
        self._budget = budget or Budget()
        self._policy = policy or RetryPolicy()
        self._sleep, self._chance, self._now, self._notify = sleep, chance, now, notify
        self._batch = batch
        self._options = RequestOptions(self.info.answer_format, seed if self.info.seed else None)
        self._usage = Usage()
        self._notified = -math.inf
        self._cancelled = threading.Event()
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        """The model's name, as each node it wrote records it."""
        return self.info.name

    @property
    def usage(self) -> Usage:
        """What everything asked through this client took, failed attempts included."""
        with self._lock:
            return self._usage

    @property
    def remembers(self) -> bool:
        """True if answers are kept, so that none is paid for twice."""
        return self._keeps

    def cancel(self) -> None:
        """Give up the questions that are under way, because their answers are not wanted.

        A call that is made already goes on to its end; after it comes no further try and no
        repeat, and a pause before one ends at once, all with `QuestionCancelledError`.
        Questions that are asked later are asked as ever.
        """
        with self._lock:
            ended, self._cancelled = self._cancelled, threading.Event()
        ended.set()
        self._budget.wake()

    def count(self, text: str) -> int:
        """Count the tokens of `text` for this model."""
        return count_tokens(self.info.name, text)

    def estimate(self, prompt: str, answer_tokens: int) -> Usage:
        """Return what a prompt would take with an answer of so many tokens. Nothing is sent."""
        tokens = conversation_tokens(self.model, [{"role": "user", "content": prompt}])
        price = self.info.price
        cost = price.of(tokens, answer_tokens) if price else None
        return Usage(1, 0, tokens, answer_tokens, cost)

    def is_known(self, prompt: str, contract: Contract | None) -> bool:
        """Return whether the cache holds the first answer to a prompt."""
        schema = contract.schema() if contract else None
        messages: list[Message] = [{"role": "user", "content": prompt}]
        return self._kept(self._key(messages, schema)) is not None

    def ask(
        self,
        prompt: str,
        read: Callable[[str], T],
        contract: Contract | None = None,
        on_answer: OnAnswer = _ignore,
    ) -> Answer[T]:
        """Ask, and have the answer read.

        Args:
            prompt: What is asked.
            read: Makes a value of the answer's text; raises `UnusableAnswer` with the reason,
                worded for the model, if it cannot. What it says is usable all the same is
                taken if asking once more does not mend it.
            contract: The JSON object that is asked for; None for free text.
            on_answer: Called with what each answer took when it comes, in whatever thread,
                before it is kept or used, useless ones and those out of the cache included.
                It must not raise.

        Raises:
            NoUsableAnswerError: No answer could be read, also after asking again with the
                reason; an `AnswerError` that knows what it took.
            QuestionCancelledError: `cancel` was called meanwhile.
            LanguageModelError: There was no answer at all; see the classes below it.
        """
        schema = contract.schema() if contract else None
        messages: list[Message] = [{"role": "user", "content": prompt}]
        most = self._answer_tokens(contract)
        cancelled = self._cancelled
        usage, first_usage, reason = Usage(), Usage(), ""
        flawed: tuple[T, str] | None = None
        for attempt in range(1, REPEATS + 2):
            key = self._key(messages, schema)
            request = ChatRequest(key, messages, schema, most, cancelled, on_answer, attempt)
            try:
                reply, took = self._reply(request)
                usage += took
                first_usage += reply.usage
                _refuse_silence(self.model, reply)
            except AnswerError as refused:
                raise NoUsableAnswerError(refused, usage, first_usage, attempt) from refused
            try:
                return Answer(_read(reply, read), usage, first_usage, attempt)
            except UnusableAnswer as unusable:
                reason = str(unusable)
                if unusable.usable is not None:
                    flawed = cast("T", unusable.usable), reason
                useless = unusable.useless or reply.finish == "length"
            if flawed and attempt > 1:
                return Answer(flawed[0], usage, first_usage, attempt, flawed[1])
            if reply.finish == "length":
                most = self.info.answer_tokens
            messages = _again(prompt, messages, reply, reason, useless=useless)
        kept = "" if usage.calls or self._batch else ", all of them kept from an earlier run"
        error = AnswerError(
            f"{self.model} gave no usable answer in {REPEATS + 1} attempts{kept}: {reason}",
            hint=Remedy.ASK_AFRESH,
        )
        raise NoUsableAnswerError(error, usage, first_usage, REPEATS + 1)

    def _answer_tokens(self, contract: Contract | None) -> int:
        """Return the most tokens of an answer: what the contract needs, all that there is for
        thoughts.
        """
        if contract is None or litellm().supports_reasoning(model=self.model):
            return self.info.answer_tokens
        return min(self.info.answer_tokens, contract.tokens)

    def _reply(self, request: ChatRequest) -> tuple[Reply, Usage]:
        """Return a reply from the cache, the batch or the server, counted, reported and kept."""
        if kept := self._kept(request.key):
            return kept, self._count(Usage(cached=1), request.on_answer)
        reply = self._batch.reply(request) if self._batch else self._call(request)
        took = self._count(reply.usage, request.on_answer)
        self._keep(request.key, reply)
        return reply, took

    def _call(self, request: ChatRequest) -> Reply:
        """Call until there is a reply, the retries are used up, or the failure is a lasting one."""
        failures = 0
        while True:
            if request.cancelled.is_set():
                raise QuestionCancelledError
            options = self._options
            outcome = self._try(request, options)
            if isinstance(outcome, Reply):
                return outcome
            if outcome.complaint and self._reduce(options, outcome.complaint, request):
                continue
            failures += 1
            pause = self._policy.wait(failures, outcome.wait, self._chance())
            if not outcome.again or pause is None:
                raise self._final(outcome, failures)
            self._notify_of(outcome, pause, failures)
            (self._sleep or request.cancelled.wait)(pause)

    def _try(self, request: ChatRequest, options: RequestOptions) -> Reply | Failure:
        """Make one call, and charge what is known to be paid or may be."""
        price, most = self.info.price, request.answer_tokens
        tokens = conversation_tokens(self.model, request.messages)
        worst = price.of(int(tokens * _MARGIN), most) if price else None
        if options.temperature is not None:
            options = replace(options, temperature=_TEMPERATURES[request.attempt - 1])
        if options.seed is not None:
            options = replace(options, seed=options.seed + request.attempt - 1)
        with self._budget.reserve(worst, request.cancelled) as charge:
            answered = call(
                self.info, self._server, options, request.messages, request.schema, most
            )
            if isinstance(answered, Reply):
                charge.cost = answered.cost or 0.0
                return answered
            if not isinstance(answered, Exception):
                raise answered  # an interrupt, or the end of the program
            failed = failure(answered, self.model, self._now(), self._server.key)
            charge.cost = (worst or 0.0) if failed.may_be_billed else 0.0
            return failed

    def _reduce(self, options: RequestOptions, complaint: str, request: ChatRequest) -> bool:
        """Leave out of later requests what the server complained about, if that is possible."""
        tokens = conversation_tokens(self.model, request.messages)
        fewer = options.without(complaint, tokens, request.answer_tokens)
        if fewer is None:
            return False
        with self._lock:
            if self._options == options:
                self._options = fewer
        return True

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

    def _final(self, failed: Failure, failures: int) -> LanguageModelError:
        """Return the error for people, with what only the client knows."""
        error = failed.error
        if self._server.address:
            error.source = host(self._server.address)
        if isinstance(error, ModelUnavailableError) and failed.again:
            asked = f", asks to wait {failed.wait:,.0f} s" if failed.wait else ""
            error.message += f" ({counted(failures, 'try', 'tries')}{asked})"
        return error

    def _count(self, usage: Usage, on_answer: OnAnswer) -> Usage:
        with self._lock:
            self._usage += usage
        on_answer(usage)
        return usage

    def _kept(self, key: str) -> Reply | None:
        return self._cache.get(key) if self._cache else None

    def _keep(self, key: str, reply: Reply) -> None:
        """Keep an answer; if the disk refuses, keep none rather than lose one that is paid for."""
        if self._cache is None or not self._keeps:
            return
        try:
            self._cache.put(key, self.model, reply)
        except StorageError as error:
            with self._lock:
                first, self._keeps = self._keeps, False
            if first:
                self._notify(f"answers are not kept from here on: {error}")

    def _key(self, messages: list[Message], schema: dict[str, Any] | None) -> str:
        return ResponseCache.key(
            {
                "model": self.model,
                "server": self._address,
                "parameters": {
                    "temperature": 0,
                    "seed": self._seed,
                    "max_tokens": self.info.answer_tokens,
                    "schema": schema,
                },
                "messages": messages,
            }
        )


def _refuse_silence(model: str, reply: Reply) -> None:
    """Raise where the model will not answer: asking again would cost the same again.

    Raises:
        AnswerError: It declined, or a content filter took the answer away.
    """
    if reply.refusal and not reply.text.strip():
        raise AnswerError(f"{one_line(model, 80)} declined to answer: “{reply.refusal}”")
    if reply.finish == "content_filter":
        raise AnswerError(f"a content filter of {one_line(model, 80)} held the answer back")


def _read(reply: Reply, read: Callable[[str], T]) -> T:
    try:
        value = read(reply.text)
    except UnusableAnswer as unusable:
        if reply.finish == "length":
            thinking = "" if reply.text.strip() else ", perhaps all of it spent on thinking"
            raise UnusableAnswer(f"the answer was cut off{thinking}: be much shorter") from unusable
        raise
    if reply.finish == "length":
        raise UnusableAnswer("the answer was cut off: be much shorter", usable=value)
    return value


def _again(
    prompt: str, messages: list[Message], reply: Reply, reason: str, *, useless: bool
) -> list[Message]:
    """Return the turns that ask once more; a useless answer is not shown, or it would be
    repeated.
    """
    once_more = "Give the whole answer again, exactly in the form that was asked for."
    if useless or not reply.text.strip():
        note = f"An earlier answer could not be used: {reason}. {once_more}"
        return [{"role": "user", "content": f"{prompt}\n\n{note}"}]
    return [
        *messages,
        {"role": "assistant", "content": reply.text[:_SHOWN_AGAIN].strip()},
        {"role": "user", "content": f"This answer cannot be used: {reason}. {once_more}"},
    ]


def _require_key(model: str, *, asks: bool, notify: Callable[[str], object]) -> None:
    try:
        check_credentials(model)
    except CredentialsError as error:
        if asks:
            raise
        notify(str(error))


def open_client(
    model: str,
    *,
    notify: Callable[[str], object],
    address: str | None = None,
    timeout: float | None = None,
    max_cost: float | None = None,
    cached: bool = True,
    asks: bool = True,
    batch: Caller | None = None,
    budget: Budget | None = None,
    window: int | None = None,
    answer_tokens: int | None = None,
    price: Price | None = None,
) -> Client:
    """Return the client for a model at `address`, or at its provider. No call is made.

    It waits `timeout` seconds for each answer and never spends more than `max_cost` US dollars;
    clients of one `budget` keep that limit together. If nothing shall be asked, as for an
    estimate, it sends nothing and needs no key; nor does it with a `batch` in place of the server.

    Raises:
        UsageError: The address is not one.
        BudgetError: A limit on cost is set, but the model's price is not known.
        ModelNotFoundError: No provider goes by this name.
        CredentialsError: The environment holds no key for the provider.
    """
    address = checked_address(address)
    client = Client(
        model,
        server=Server(address, timeout=timeout or (OWN_SERVER_TIMEOUT if address else TIMEOUT)),
        cache=ResponseCache() if cached else None,
        budget=(budget or Budget(max_cost)) if asks else NoBudget(),
        notify=notify,
        asks=asks,
        batch=batch,
        window=window,
        answer_tokens=answer_tokens,
        price=price,
    )
    if max_cost is not None and client.info.price is None:
        raise BudgetError(
            f"the price of {one_line(model, 80)} is not known, so no limit on cost can be kept",
            hint="state its price, or set no limit on cost for this model",
        )
    return client


def checked_address(address: str | None) -> str | None:
    """Return the address of a server.

    Raises:
        UsageError: It is not one.
    """
    if address is None or address.startswith(("http://", "https://")):
        return address
    raise UsageError(
        f"{one_line(without_secrets(address), 80)!r} is not the address of a server",
        hint="such as http://localhost:8000/v1",
    )
