"""The client: a prompt in, a checked answer out.

It asks at temperature 0, tries again when the model's server fails, asks again with the reason
when the answer cannot be used, remembers every answer, counts what all of it took, and never
passes the limit on cost. Any number of threads may share one client.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from deltamem_tui.errors import AnswerError, BudgetError, CredentialsError, Remedy, UsageError
from deltamem_tui.llm.answers import Contract, UnusableAnswer
from deltamem_tui.llm.cache import ResponseCache
from deltamem_tui.llm.call import Message, Reply, Server, conversation_tokens
from deltamem_tui.llm.cost import Budget, NoBudget, Price, Usage
from deltamem_tui.llm.metering import Meter, OnAnswer
from deltamem_tui.llm.model_info import (
    ModelInfo,
    check_credentials,
    count_tokens,
    look_up,
    server_address,
)
from deltamem_tui.llm.retrying_client import (
    Caller,
    ChatRequest,
    PaidReply,
    RetryingCaller,
    RetryPolicy,
)
from deltamem_tui.llm.secrets import without_secrets
from deltamem_tui.text import one_line

T = TypeVar("T")

REPEATS = 2
_SHOWN_AGAIN = 4_000


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


def _ignore(_value: object) -> None:
    """Nothing is done with it."""


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
            server: Whom to call; the provider itself, with the environment's key, if not given.
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
            batch: Who is asked in place of the server, which then needs no key.

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
        self._meter = Meter(model, cache, notify)
        self._budget = budget or Budget()
        self._in_batches = batch is not None
        self._caller: Caller = batch or RetryingCaller(
            self.info,
            self._server,
            self._meter,
            self._budget,
            policy or RetryPolicy(),
            seed,
            sleep,
            chance,
            now,
            notify,
        )
        self._cancelled = threading.Event()
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        """The model's name, as each node it wrote records it."""
        return self.info.name

    @property
    def usage(self) -> Usage:
        """What everything asked through this client took, failed attempts included."""
        return self._meter.usage

    @property
    def remembers(self) -> bool:
        """Whether answers are kept, so that none is paid for twice."""
        return self._meter.keeps

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
        """The tokens of `text` for this model, counted here."""
        return count_tokens(self.info.name, text)

    def estimate(self, prompt: str, answer_tokens: int) -> Usage:
        """What a prompt would take with an answer of so many tokens. Nothing is sent."""
        tokens = conversation_tokens(self.model, [{"role": "user", "content": prompt}])
        price = self.info.price
        cost = price.of(tokens, answer_tokens) if price else None
        return Usage(1, 0, tokens, answer_tokens, cost)

    def is_known(self, prompt: str, contract: Contract | None) -> bool:
        """Whether the cache holds the first answer to a prompt."""
        schema = contract.schema() if contract else None
        messages: list[Message] = [{"role": "user", "content": prompt}]
        return self._meter.kept(self._key(messages, schema)) is not None

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
                before it is kept or used: useless ones, those out of the cache, and those that
                come after the question is over. It must not raise.

        Raises:
            NoUsableAnswerError: No answer could be read, also after asking again with the
                reason; an `AnswerError` that knows what it took.
            QuestionCancelledError: `cancel` was called meanwhile.
            LanguageModelError: There was no answer at all; see the classes below it.
        """
        schema = contract.schema() if contract else None
        messages: list[Message] = [{"role": "user", "content": prompt}]
        cancelled = self._cancelled
        usage, first_usage, reason = Usage(), Usage(), ""
        flawed: tuple[T, str] | None = None
        for attempt in range(1, REPEATS + 2):
            try:
                key = self._key(messages, schema)
                reply, took = self._reply(ChatRequest(key, messages, schema, cancelled, on_answer))
            except AnswerError as refused:
                raise NoUsableAnswerError(refused, usage, first_usage, attempt) from refused
            usage += took
            first_usage += reply.usage
            try:
                return Answer(_read(reply, read), usage, first_usage, attempt)
            except UnusableAnswer as unusable:
                reason = str(unusable)
                if unusable.usable is not None:
                    flawed = cast("T", unusable.usable), reason
            if flawed and attempt > 1:
                return Answer(flawed[0], usage, first_usage, attempt, flawed[1])
            messages = [*messages, *_again(reply, reason)]
        kept = "" if usage.calls or self._in_batches else ", all of them kept from an earlier run"
        useless = AnswerError(
            f"{self.model} gave no usable answer in {REPEATS + 1} attempts{kept}: {reason}",
            hint=Remedy.ASK_AFRESH,
        )
        raise NoUsableAnswerError(useless, usage, first_usage, REPEATS + 1)

    def _reply(self, request: ChatRequest) -> PaidReply:
        if kept := self._meter.kept(request.key):
            return kept, self._meter.count_kept(request.on_answer)
        return self._caller.reply(request)

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


def _read(reply: Reply, read: Callable[[str], T]) -> T:
    try:
        return read(reply.text)
    except UnusableAnswer as unusable:
        if reply.finish == "length":
            raise UnusableAnswer("the answer was cut off: be much shorter") from unusable
        if reply.finish == "content_filter":
            raise UnusableAnswer("the answer was held back by a content filter") from unusable
        raise


def _again(reply: Reply, reason: str) -> list[Message]:
    """The turns that ask once more: the model's answer, and what is wrong with it."""
    answer = reply.text[:_SHOWN_AGAIN].strip() or "(nothing)"
    return [
        {"role": "assistant", "content": answer},
        {
            "role": "user",
            "content": f"This answer cannot be used: {reason}. Give the whole answer again, "
            "exactly in the form that was asked for and with nothing around it.",
        },
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
) -> Client:
    """The client for a model at `address`, or at its provider. No call is made.

    It waits `timeout` seconds for each answer and never spends more than `max_cost` US dollars;
    clients of one `budget` that limit together.
    If nothing shall be asked, as for an estimate, it sends nothing and needs no key; nor does it
    where a `batch` is asked in place of the server.

    Raises:
        UsageError: The address is not one.
        BudgetError: A limit on cost is set, but the model's price is not known.
        ModelNotFoundError: No provider goes by this name.
        CredentialsError: The environment holds no key for the provider.
    """
    address = checked_address(address)
    client = Client(
        model,
        server=Server(address) if timeout is None else Server(address, timeout=timeout),
        cache=ResponseCache() if cached else None,
        budget=(budget or Budget(max_cost)) if asks else NoBudget(),
        notify=notify,
        asks=asks,
        batch=batch,
    )
    if max_cost is not None and client.info.price is None:
        raise BudgetError(
            f"the price of {one_line(model, 80)} is not known, so no limit on cost can be kept",
            hint="set no limit on cost for this model",
        )
    return client


def checked_address(address: str | None) -> str | None:
    """Returns the address of a server; a `UsageError` if it is not one."""
    if address is None or address.startswith(("http://", "https://")):
        return address
    raise UsageError(
        f"{one_line(without_secrets(address), 80)!r} is not the address of a server",
        hint="such as http://localhost:8000/v1",
    )
