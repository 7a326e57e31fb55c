"""The client: a prompt in, a checked answer out.

It asks at temperature 0, tries again when the model's server fails, asks again with the reason
when the answer cannot be used, remembers every answer, counts what all of it took, and never
passes the limit on cost. Any number of threads may share one client.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from deltamem_tui.errors import AnswerError, CredentialsError
from deltamem_tui.llm.answers import Contract, Skip, UnusableAnswer
from deltamem_tui.llm.cache import ResponseCache
from deltamem_tui.llm.call import Server, conversation_tokens
from deltamem_tui.llm.cost import Budget, Price, Usage
from deltamem_tui.llm.metering import Till
from deltamem_tui.llm.model_info import ModelCard, check_credentials, server_address
from deltamem_tui.llm.model_info import card as look_up
from deltamem_tui.llm.reply import Message, Reply
from deltamem_tui.llm.retry_policy import Patience
from deltamem_tui.llm.retrying_client import Caller
from deltamem_tui.llm.tokens import count_tokens

T = TypeVar("T")

REPEATS = 2
_SHOWN_AGAIN = 4_000


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """An answer that passed its check.

    Attributes:
        value: What was made of it.
        usage: What it took, all attempts together.
        attempts: How often the model was asked, the first time included.
    """

    value: T
    usage: Usage
    attempts: int


@dataclass(slots=True)
class Tally:
    """What a question takes, added up while it is asked: known also if it ends without an answer.

    Attributes:
        usage: What it took so far, all attempts together.
        attempts: How often the model was asked so far.
        late: Told, in any thread, what an answer took that came after its call was given up
            and was not used; `usage` is without it.
    """

    usage: Usage = field(default_factory=Usage)
    attempts: int = 0
    late: Callable[[Usage], object] | None = None


class InVainError(AnswerError):
    """The model gave answers, but none that could be used. They were paid for all the same.

    Attributes:
        usage: What it took, all attempts together.
        attempts: How often the model was asked.
    """

    def __init__(self, error: AnswerError, usage: Usage, attempts: int) -> None:
        super().__init__(
            error.message, source=error.source, position=error.position, hint=error.hint
        )
        self.usage = usage
        self.attempts = attempts


def _require_key(model: str, *, asks: bool, tell: Callable[[str], object]) -> None:
    try:
        check_credentials(model)
    except CredentialsError as error:
        if asks:
            raise
        tell(str(error))


def _nothing(_told: object) -> None:
    """What is told is not needed."""


class Client:
    """One model at one server."""

    def __init__(
        self,
        model: str,
        *,
        server: Server | None = None,
        cache: ResponseCache | None = None,
        budget: Budget | None = None,
        patience: Patience | None = None,
        window: int | None = None,
        answer_tokens: int | None = None,
        price: Price | None = None,
        seed: int = 0,
        sleep: Callable[[float], object] | None = None,
        chance: Callable[[], float] = random.random,
        now: Callable[[], float] = time.time,
        tell: Callable[[str], object] = _nothing,
        asks: bool = True,
    ) -> None:
        """Look the model up, in tables only. No call is made.

        Args:
            model: Its name as litellm takes it, `provider/model`.
            server: Whom to call; the provider itself, with the environment's key, if not given.
            cache: Where answers are kept; nowhere if not given.
            budget: The limit on cost; none if not given.
            patience: When to try again.
            window: The model's window in tokens, where the user knows better.
            answer_tokens: The most tokens of an answer.
            price: What tokens cost, where the user knows better.
            seed: For servers that take one.
            sleep: How to wait some seconds; a wait that `end_questions` ends if not given.
            chance: A number in [0, 1) that spreads the waits.
            now: Seconds since 1970.
            tell: Says a line to a person: that answers cannot be kept, or that the server fails
                and will be tried again. Called in any thread.
            asks: Whether anything will be asked; if not, no key is needed, and only said to be
                missing.

        Raises:
            ModelNotFoundError: No provider goes by this name.
            CredentialsError: The environment holds no key for the provider.
        """
        self.card: ModelCard = look_up(
            model, window=window, answer_tokens=answer_tokens, price=price
        )
        self._server = server or Server()
        if not (self._server.key or self._server.address):
            _require_key(model, asks=asks, tell=tell)
        self._address = self._server.address or server_address(model)
        self._seed = seed
        self._till = Till(model, cache, budget or Budget(), tell)
        self._caller = Caller(
            self.card,
            self._server,
            self._till,
            patience or Patience(),
            seed=seed,
            sleep=sleep,
            chance=chance,
            now=now,
            tell=tell,
        )
        self._stopped = threading.Event()
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        """The model's name, as each node it wrote records it."""
        return self.card.name

    @property
    def usage(self) -> Usage:
        """What everything asked through this client took, failed attempts included."""
        return self._till.usage

    @property
    def remembers(self) -> bool:
        """Whether answers are kept, so that none is paid for twice."""
        return self._till.keeps

    def on_payment(self, told: Callable[[Usage], object]) -> Callable[[], None]:
        """Have every answer that is paid for told when it comes.

        Args:
            told: Called in the thread that asked, with what the answer took, before the answer
                is kept or handed on. It must not raise.

        Returns:
            Ends it.
        """
        return self._till.on_payment(told)

    def end_questions(self) -> None:
        """Give up the questions that are under way, because nobody waits for them any more.

        A call that is made already goes on to its end; after it comes no further try and no
        repeat, and a pause before one ends at once, all with `GivenUpError`. Questions that are
        asked later are asked as ever.
        """
        with self._lock:
            ended, self._stopped = self._stopped, threading.Event()
        ended.set()
        self._till.wake()

    def count(self, text: str) -> int:
        """The tokens of `text` for this model, counted here."""
        return count_tokens(self.card.name, text)

    def estimate(self, prompt: str, answer_tokens: int) -> Usage:
        """What a prompt would take, were it sent now: nothing is sent.

        Args:
            prompt: The prompt.
            answer_tokens: How long the answer is expected to be.
        """
        tokens = self._tokens([{"role": "user", "content": prompt}])
        price = self.card.price
        cost = price.of(tokens, answer_tokens) if price else None
        return Usage(1, 0, tokens, answer_tokens, cost)

    def is_known(self, prompt: str, contract: Contract | None) -> bool:
        """Whether the cache holds the first answer to a prompt."""
        schema = contract.schema() if contract else None
        messages: list[Message] = [{"role": "user", "content": prompt}]
        return self._till.kept(self._key(messages, schema)) is not None

    def complete(self, prompt: str, contract: Contract) -> Answer[Mapping[str, str] | Skip]:
        """Ask for a JSON object.

        Raises:
            AnswerError: No answer could be used, also after asking again with the reason.
            LanguageModelError: There was no answer at all; see the classes below it.
        """
        return self.ask(prompt, contract.read, contract)

    def ask(
        self,
        prompt: str,
        read: Callable[[str], T],
        contract: Contract | None = None,
        tally: Tally | None = None,
    ) -> Answer[T]:
        """Ask, and have the answer read.

        Args:
            prompt: The prompt.
            read: Makes a value of the answer's text; raises `UnusableAnswer` with the reason,
                worded for the model, if it cannot.
            contract: The JSON object that is asked for; None for free text.
            tally: Adds up what this and other questions take, if somebody wants to know.

        Raises:
            InVainError: No answer could be read, also after asking again with the reason; an
                `AnswerError` that knows what it took.
            GivenUpError: `end_questions` was called meanwhile.
            LanguageModelError: There was no answer at all; see the classes below it.
        """
        schema = contract.schema() if contract else None
        messages: list[Message] = [{"role": "user", "content": prompt}]
        tally = tally or Tally()
        stopped = self._stopped
        usage = Usage()
        reason = ""
        for attempt in range(1, REPEATS + 2):
            tally.attempts += 1
            try:
                reply, took = self._reply(messages, schema, stopped, tally)
            except AnswerError as refused:
                raise InVainError(refused, usage, attempt) from refused
            usage += took
            tally.usage += took
            try:
                return Answer(_read(reply, read), usage, attempt)
            except UnusableAnswer as unusable:
                reason = str(unusable)
            messages = [*messages, *_again(reply, reason)]
        kept = "" if usage.calls else ", all of them kept from an earlier run"
        useless = AnswerError(
            f"{self.model} gave no usable answer in {REPEATS + 1} attempts{kept}: {reason}",
            hint="try another model, or ask this one afresh with `--no-cache`",
        )
        raise InVainError(useless, usage, REPEATS + 1)

    def _reply(
        self,
        messages: list[Message],
        schema: dict[str, Any] | None,
        stopped: threading.Event,
        tally: Tally,
    ) -> tuple[Reply, Usage]:
        key = self._key(messages, schema)
        reply = self._till.kept(key)
        if reply is not None:
            return reply, self._till.note_kept()
        return self._caller.reply(key, messages, schema, stopped, tally.late or _nothing)

    def _key(self, messages: list[Message], schema: dict[str, Any] | None) -> str:
        return ResponseCache.key(
            {
                "model": self.model,
                "server": self._address,
                "parameters": {
                    "temperature": 0,
                    "seed": self._seed,
                    "max_tokens": self.card.answer_tokens,
                    "schema": schema,
                },
                "messages": messages,
            }
        )

    def _tokens(self, messages: list[Message]) -> int:
        return conversation_tokens(self.model, messages)


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
    """The turn that asks once more: what the model said, and what is wrong with it."""
    said = reply.text[:_SHOWN_AGAIN].strip() or "(nothing)"
    return [
        {"role": "assistant", "content": said},
        {
            "role": "user",
            "content": f"This answer cannot be used: {reason}. Give the whole answer again, "
            "exactly in the form that was asked for and with nothing around it.",
        },
    ]
