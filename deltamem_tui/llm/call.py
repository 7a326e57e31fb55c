"""One call through litellm: a request out, a reply or a failure back. No retries here."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from deltamem_tui.llm.answers import ANSWER_LIMIT
from deltamem_tui.llm.cost import Usage
from deltamem_tui.llm.litellm_loader import litellm
from deltamem_tui.llm.model_info import AnswerFormat, ModelInfo, count_tokens
from deltamem_tui.llm.secrets import hide_known
from deltamem_tui.text import clean

# Some servers want a key to be there without looking at it.
_NO_KEY = "none"
# Our own clock gives a call up; the connection stays that much longer, for a late answer: it is
# paid for.
_LINGER = 5.0
# Tokenizers differ, templates add and thoughts are not shown, but no count is this far from ours.
_ABSURD = 10
_LOWER: dict[AnswerFormat, AnswerFormat] = {"schema": "object", "object": "text"}
# What a chat template adds to one message: its role and its ends.
_MESSAGE_TOKENS = 8

Message = dict[Literal["role", "content"], str]


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back from one call, before it is checked.

    Attributes:
        text: The model's answer, without control characters; it may be empty.
        finish: Why it ended: `stop`, `length`, `content_filter`, …
        prompt_tokens: Tokens that were sent.
        completion_tokens: Tokens that came back.
        cost: US dollars; None if the price is not known.
    """

    text: str
    finish: str
    prompt_tokens: int
    completion_tokens: int
    cost: float | None

    @property
    def usage(self) -> Usage:
        """What the call took."""
        return Usage(1, 0, self.prompt_tokens, self.completion_tokens, self.cost)


@dataclass(frozen=True, slots=True)
class Server:
    """Whom to call, and how long to wait.

    Attributes:
        address: The base address of a server that is not the provider's own.
        key: The key; None to let litellm find the provider's in the environment.
        timeout: Seconds for a whole call, up to the last byte of its answer.
    """

    address: str | None = None
    key: str | None = None
    timeout: float = 120.0


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """What a request may say besides its messages. A server that refuses a part is sent less."""

    answer_format: AnswerFormat
    seed: bool
    temperature: bool = True

    def without(self, complaint: str) -> RequestOptions | None:
        """Returns fewer options if the server's complaint is about one that can be left out."""
        words = complaint.lower()
        lower = _LOWER.get(self.answer_format)
        if lower and any(word in words for word in ("response_format", "json", "schema")):
            return replace(self, answer_format=lower)
        if self.seed and "seed" in words:
            return replace(self, seed=False)
        if self.temperature and "temperature" in words:
            return replace(self, temperature=False)
        return None


class LateError(TimeoutError):
    """The call's time is over, though bytes may still drip in."""

    status_code = 408


def call(
    info: ModelInfo,
    server: Server,
    options: RequestOptions,
    messages: list[Message],
    schema: dict[str, Any] | None,
    seed: int,
    late: Callable[[Reply | BaseException], object] = lambda _answered: None,
) -> Reply | BaseException:
    """Make one call, whose answer is bound to a JSON schema if one is given.

    `late` is called in another thread with what came of the call after it was given up.

    Returns:
        The reply, or what litellm raised. It is not raised again, so that no traceback can
        show what the request held.
    """
    arguments: dict[str, Any] = {
        "model": info.name,
        "messages": messages,
        **parameters(info, options, schema, seed),
        "timeout": server.timeout * _LINGER,
        # Retries are ours alone: litellm's and its clients' would multiply with them.
        "num_retries": 0,
        "max_retries": 0,
        "drop_params": True,
        "caching": False,
    }
    if server.address:
        arguments["api_base"] = server.address
        of_provider = os.environ.get(f"{info.provider.upper()}_API_KEY")
        arguments["api_key"] = server.key or of_provider or _NO_KEY
    elif server.key:
        arguments["api_key"] = server.key

    def read(answered: Any) -> Reply | BaseException:
        if isinstance(answered, BaseException):
            return answered
        try:
            return _reply(info, server, messages, answered)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            return error

    return read(_within(server.timeout, arguments, lambda answered: late(read(answered))))


def parameters(
    info: ModelInfo, options: RequestOptions, schema: dict[str, Any] | None, seed: int
) -> dict[str, Any]:
    """What a request says besides its messages, by litellm's names."""
    found: dict[str, Any] = {"max_tokens": info.answer_tokens}
    if options.temperature:
        found["temperature"] = 0
    if options.seed:
        found["seed"] = seed
    if schema is not None and options.answer_format != "text":
        found["response_format"] = _response_format(options.answer_format, schema)
    return found


def _response_format(answer_format: AnswerFormat, schema: dict[str, Any]) -> dict[str, Any]:
    if answer_format == "object":
        return {"type": "json_object"}
    return {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": schema, "strict": True},
    }


def _within(seconds: float, arguments: dict[str, Any], late: Callable[[Any], object]) -> Any:
    """Call in a thread of its own, and leave it behind when the time is over."""
    # A server that sends a byte now and then never runs into the read timeout of an HTTP client,
    # and clients differ between providers: only the clock of the whole call holds for all. The
    # thread goes on for a while, and what it brings then is handed to `late`.
    complete = litellm().completion
    done: queue.SimpleQueue[Any] = queue.SimpleQueue()
    # Whoever takes it first decides: the clock that the call is given up, or the answer that
    # it came in time.
    decided = threading.Lock()

    def run() -> None:
        try:
            answered = complete(**arguments)
        except BaseException as error:  # noqa: BLE001 - handed over to the thread that asked
            answered = error
        if decided.acquire(blocking=False):
            done.put(answered)
        else:
            late(answered)

    threading.Thread(target=run, name="deltamem-call", daemon=True).start()
    try:
        return done.get(timeout=seconds)
    except queue.Empty:
        if decided.acquire(blocking=False):
            return LateError("no whole answer in time")
        return done.get()


def _reply(info: ModelInfo, server: Server, messages: list[Message], response: Any) -> Reply:
    choice, usage = response.choices[0], response.usage
    return checked_reply(
        info,
        str(choice.message.content or ""),
        str(choice.finish_reason or ""),
        (usage.prompt_tokens, usage.completion_tokens),
        sent=conversation_tokens(info.name, messages),
        key=server.key,
    )


def checked_reply(
    info: ModelInfo,
    content: str,
    finish: str,
    stated: tuple[Any, Any],
    *,
    sent: int,
    key: str | None = None,
) -> Reply:
    """What a server said, without what must not be kept and with counts that can be true.

    `stated` is how many tokens the server says that prompt and answer have, and `sent` how many
    we count in the prompt.
    """
    # Cut first, so that no work is done on an answer that is too long to be used anyway.
    # A server that sends the key back must not get it into a bank or a cache.
    text = hide_known(clean(content[: ANSWER_LIMIT + 1]), key)
    prompt = _credible(stated[0], sent)
    completion = _credible(stated[1], count_tokens(info.name, text), info.answer_tokens)
    cost = info.price.of(prompt, completion) if info.price else None
    return Reply(text, finish, prompt, completion, cost)


def _credible(stated: Any, ours: int, allowed: int = 0) -> int:
    """The server's count of tokens if it can be true, else ours; `allowed` may be unseen."""
    most = _ABSURD * (ours + allowed + _MESSAGE_TOKENS)
    return int(stated) if isinstance(stated, (int, float)) and 0 < stated <= most else ours


def conversation_tokens(model: str, messages: list[Message]) -> int:
    """The tokens of a conversation, counted here."""
    return sum(count_tokens(model, each["content"]) + _MESSAGE_TOKENS for each in messages)
