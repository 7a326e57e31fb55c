"""The client: a prompt in, a checked answer out.

It tries again when the model's server fails, asks again with the reason when the answer cannot
be used, keeps every answer in the response cache, counts what all of it took, and never passes
the limit on cost. Any number of threads may share one client.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Generic, TypeVar, cast

from deltamem_tui.config import NOTHING_STATED, StatedNumbers
from deltamem_tui.errors import (
    AnswerError,
    BudgetError,
    ModelUnavailableError,
    Remedy,
    StorageError,
    UsageError,
)
from deltamem_tui.llm.answers import Contract, UnusableAnswer
from deltamem_tui.llm.cache import BatchCaller, ResponseCache
from deltamem_tui.llm.call import (
    TIMEOUT,
    ChatRequest,
    Failure,
    Message,
    OnAnswer,
    Reply,
    RequestOptions,
    Server,
    call,
    conversation_tokens,
    hidden,
)
from deltamem_tui.llm.cost import NOTHING, Budget, QuestionCancelledError, Usage
from deltamem_tui.llm.models import ModelInfo, count_tokens, litellm, look_up, server_address
from deltamem_tui.text import counted, one_line

T = TypeVar("T")

REPEATS = 2
RETRIES = 5
_FIRST_WAIT = 1.0  # seconds before the first retry; each later wait doubles
_LONGEST_WAIT = 60.0
_OBEYED_WAIT = 300.0  # a server that asks for more is given up
# A repeat differs from what failed, or a weak model gives the same answer again.
_TEMPERATURES = (0.0, 0.5, 0.9)
# Our count may be short of the model's own; the limit on cost must hold all the same.
_MARGIN = 1.25
# The least share of a prompt that counts as all of it, by any vocabulary; and the least window.
_WHOLE, _LEAST_WINDOW = 0.7, 1_000
# Seconds to wait for an own server, which may be slow: asking twice costs it twice.
OWN_SERVER_TIMEOUT = 600.0


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """An answer that passed its check, all attempts' usage, and a flaw that none of them mended."""

    value: T
    usage: Usage
    attempts: int
    flaw: str = ""


class NoUsableAnswerError(AnswerError):
    """The model gave answers that could not be used, and were paid for; see `Answer`."""

    def __init__(self, error: AnswerError, usage: Usage, attempts: int) -> None:
        super().__init__(
            error.message, source=error.source, position=error.position, hint=error.hint
        )
        self.usage, self.attempts = usage, attempts


def _ignore(_value: object) -> None:
    pass


class Client:
    """One model at one server."""

    def __init__(
        self,
        model: str | ModelInfo,
        *,
        server: Server | None = None,
        cache: ResponseCache | None = None,
        budget: Budget | None = None,
        retries: int = RETRIES,
        sleep: Callable[[float], object] | None = None,
        notify: Callable[[str], object] = _ignore,
        batch: BatchCaller | None = None,
    ) -> None:
        """Look the model up in tables only: no call is made. A `batch` stands in for the server.

        Without a `cache` it `keeps` no answer. `sleep` stands in for a wait that `cancel` ends.
        `notify` shows a line to a person, in any thread.

        Raises:
            LanguageModelError: No provider goes by this name.
        """
        self.info = look_up(model) if isinstance(model, str) else model
        self._server, self._batch = server or Server(), batch
        self._notify, self._said = notify, set[str]()
        self._lock = threading.Lock()
        self._address = self._server.address or server_address(self.model)
        self._cache, self._budget, self.keeps = cache, budget or Budget(), cache is not None
        self._retries, self._sleep = retries, sleep
        self._options = RequestOptions(self.info.answer_format)
        self._usage, self._cancelled = Usage(), threading.Event()

    @property
    def model(self) -> str:
        """The model's name, as each node it wrote records it."""
        return self.info.name

    @property
    def usage(self) -> Usage:
        """The usage of everything asked through this client, failed attempts included."""
        with self._lock:
            return self._usage

    def cancel(self) -> None:
        """Give up the questions that are under way: no further try, no repeat, no pause.

        A call that is made already goes on to its end. Later questions are asked as ever.
        """
        with self._lock:
            ended, self._cancelled = self._cancelled, threading.Event()
        ended.set()

    def count(self, text: str) -> int:
        """Count the tokens of `text` for this model."""
        return count_tokens(self.model, text)

    def estimate(
        self, prompt: str, contract: Contract | None, answer_tokens: int, system: str = ""
    ) -> Usage:
        """Return what a prompt would take with an answer of so many tokens. Nothing is sent.

        It takes nothing if the cache holds the first answer to it.
        """
        messages = _conversation(prompt, system)
        if self._cache and self._cache.get(self._key(messages, contract)):
            return Usage(cached=1)
        tokens = conversation_tokens(self.model, messages)
        return Usage(1, 0, tokens, answer_tokens, self.info.cost(tokens, answer_tokens))

    def ask(
        self,
        prompt: str,
        read: Callable[[str], T],
        contract: Contract | None = None,
        on_answer: OnAnswer = _ignore,
        *,
        system: str = "",
        shared: int = 0,
    ) -> Answer[T]:
        """Ask for a contract's JSON, or for free text without one, and have the answer read.

        `read` makes a value of the answer's text, or raises `UnusableAnswer`. `on_answer` is called
        with what each answer took when it comes, in whatever thread, before it is kept or used.
        Other questions begin with the same `shared` characters.

        Raises:
            NoUsableAnswerError: No answer could be read, also after asking again with the
                reason; an `AnswerError` that knows what it took.
            QuestionCancelledError: `cancel` was called meanwhile.
            LanguageModelError: There was no answer at all; see the classes below it.
        """
        messages = _conversation(prompt, system)
        schema = contract.schema() if contract else None
        most, ended = self.info.answer_tokens, self._cancelled
        if contract and not litellm().supports_reasoning(model=self.model):  # no room for thoughts
            most = min(most, contract.tokens)
        usage, reason = Usage(), ""
        flawed: tuple[T, str] | None = None
        for attempt in range(1, REPEATS + 2):
            key = self._key(messages, contract)
            request = ChatRequest(key, messages, schema, most, ended, on_answer, attempt, shared)
            try:
                reply, took = self._reply(request)
                usage += took
                _refuse_silence(self.model, reply)
            except AnswerError as refused:
                raise NoUsableAnswerError(refused, usage, attempt) from refused
            try:
                return Answer(_read(reply, read), usage, attempt, self._cut(reply, messages))
            except UnusableAnswer as unusable:
                reason = str(unusable)
                if unusable.usable is not None:
                    flawed = cast("T", unusable.usable), reason
            if flawed and attempt > 1:
                return Answer(flawed[0], usage, attempt, flawed[1])
            if reply.finish == "length":
                most = self.info.answer_tokens
            # With the reason alone: a bad answer would be repeated if it were shown.
            note = (
                f"An earlier answer cannot be used: {reason}. "
                "Give the whole answer again, exactly in the form that was asked for."
            )
            messages = _conversation(f"{prompt}\n\n{note}", system)
        kept = "" if usage.calls or self._batch else ", all of them kept from an earlier run"
        message = f"{self.model} gave no usable answer in {REPEATS + 1} attempts{kept}: {reason}"
        error = AnswerError(message, hint=Remedy.ASK_AFRESH)
        raise NoUsableAnswerError(error, usage, REPEATS + 1)

    def _cut(self, reply: Reply, messages: list[Message]) -> str:
        """Return how much of a prompt its server read, and say so, if that was not all of it."""
        sent = conversation_tokens(self.model, messages)
        if sent < _LEAST_WINDOW or reply.prompt_tokens >= _WHOLE * sent:
            return ""
        flaw = f"the server read {reply.prompt_tokens:,} of some {sent:,} tokens of the prompt"
        remedy = "state its window (`--window N`), or raise it there (Ollama: num_ctx)"
        self._say(f"{flaw}: {remedy}", once="cut")
        return flaw

    def _reply(self, request: ChatRequest) -> tuple[Reply, Usage]:
        """Return a reply from the cache, the batch or the server, counted, reported and kept."""
        kept = self._cache.get(request.key) if self._cache else None
        reply = kept or (self._batch or self).reply(request)
        took = Usage(cached=1) if kept else reply.usage
        with self._lock:
            self._usage += took
        request.on_answer(took)
        if self._cache and not kept:
            try:
                self._cache.put(request.key, self.model, reply)
            except StorageError as error:  # better not kept than lost, once it is paid for
                self._say(f"answers are not kept: {error}")
        return reply, took

    def reply(self, request: ChatRequest) -> Reply:
        """Call until there is a reply, the retries are used up, or the failure is a lasting one.

        Raises:
            LanguageModelError: There is no reply.
        """
        tokens, failures = conversation_tokens(self.model, request.messages), 0
        while True:
            options = self._options
            outcome = self._try(request, options, tokens)
            if isinstance(outcome, Reply):
                return outcome
            fewer = options.without(outcome.complaint, tokens, request.answer_tokens)
            if fewer:
                with self._lock:
                    if self._options == options:
                        self._options = fewer
                continue
            failures += 1
            longest = min(_FIRST_WAIT * 2.0 ** (failures - 1), _LONGEST_WAIT)
            spread = 1 - random.random() / 2  # noqa: S311 - of many clients; no secret
            pause = max(longest * spread, outcome.wait)
            if not outcome.again or failures > self._retries or pause > _OBEYED_WAIT:
                if self._server.address:
                    outcome.error.source = hidden(self._server.address).partition("?")[0]
                if isinstance(outcome.error, ModelUnavailableError) and outcome.again:
                    asked = f", asks to wait {outcome.wait:,.0f} s" if outcome.wait else ""
                    tries = counted(failures, "try", "tries")
                    outcome.error.message += f" ({tries}{asked})"
                raise outcome.error
            self._say(f"{outcome.error.message}; trying again, {self._retries} times at most")
            (self._sleep or request.cancelled.wait)(pause)

    def _try(self, request: ChatRequest, options: RequestOptions, tokens: int) -> Reply | Failure:
        """Make one call, and charge what is known to be paid or may be."""
        worst = self.info.cost(int(tokens * _MARGIN), request.answer_tokens)
        if options.temperature is not None:
            options = replace(options, temperature=_TEMPERATURES[request.attempt - 1])
        with self._budget.reserve(worst) as charge:
            if request.cancelled.is_set():
                hint = "what is finished is kept; run again to go on"
                raise QuestionCancelledError("the question was cancelled", hint=hint)
            answered = call(self.info, self._server, options, request)
            if isinstance(answered, Reply):
                charge.cost = answered.cost or 0.0
            elif answered.may_be_billed:
                charge.cost = worst or 0.0
            return answered

    def _say(self, line: str, once: str = "") -> None:
        """Tell a person; once, since many calls fail together."""
        with self._lock:
            first = (once or line) not in self._said
            self._said.add(once or line)
        if first:
            self._notify(line)

    def _key(self, messages: list[Message], contract: Contract | None) -> str:
        asked = {"messages": messages, "schema": contract.schema() if contract else None}
        where = {"model": self.model, "server": self._address, "most": self.info.answer_tokens}
        return ResponseCache.key(where | asked)


def _conversation(prompt: str, system: str) -> list[Message]:
    first: list[Message] = [{"role": "system", "content": system}] if system else []
    return [*first, {"role": "user", "content": prompt}]


def _refuse_silence(model: str, reply: Reply) -> None:
    """Raise where the model will not answer: asking again would cost the same again."""
    name = one_line(model, 80)
    if reply.finish == "refusal":
        raise AnswerError(f"{name} declined to answer: “{one_line(reply.text, 200)}”")
    if reply.finish == "tool_calls" and not reply.text:
        raise AnswerError(f"{name} calls tools in place of an answer")
    if reply.finish == "content_filter":
        raise AnswerError(f"a content filter of {name} held the answer back")


def _read(reply: Reply, read: Callable[[str], T]) -> T:
    if reply.finish != "length":
        return read(reply.text)
    value, thinking = None, "" if reply.text.strip() else ", perhaps all of it spent on thinking"
    with suppress(UnusableAnswer):
        value = read(reply.text)
    raise UnusableAnswer(f"the answer was cut off{thinking}: be much shorter", usable=value)


def check_address(address: str | None) -> None:
    """Raise a `UsageError` if the address of a server is none."""
    if address and not address.startswith(("http://", "https://")):
        reason = "the address of a server begins with http:// or https://"
        raise UsageError(reason, hint="such as http://localhost:8000/v1")


def open_client(
    model: str,
    *,
    notify: Callable[[str], object],
    address: str | None = None,
    timeout: float | None = None,
    max_cost: float | None = None,
    cached: bool = True,
    asks: bool = True,
    batch: BatchCaller | None = None,
    budget: Budget | None = None,
    stated: StatedNumbers = NOTHING_STATED,
) -> Client:
    """Return the client for a model at `address`, or at its provider. No call is made.

    It never spends more than `max_cost` US dollars, nothing at all unless it `asks`; clients of
    one `budget` keep that limit together. What is `stated` of the model is not looked up.

    Raises:
        UsageError: The address is not one.
        BudgetError: A limit on cost is set, but the model's price is not known.
        LanguageModelError: No provider goes by this name.
    """
    check_address(address)
    info = look_up(model, stated)
    if max_cost is not None and info.price is None:
        reason = f"the price of {one_line(model, 80)} is not known"
        hint = 'state it: `price = "IN/OUT"` in deltamem.toml, or --price; 0/0 if it is free'
        raise BudgetError(reason, hint=hint)
    return Client(
        info,
        server=Server(address, timeout=timeout or (OWN_SERVER_TIMEOUT if address else TIMEOUT)),
        cache=ResponseCache() if cached else None,
        budget=(budget or Budget(max_cost)) if asks else Budget(NOTHING),
        notify=notify,
        batch=batch,
    )
