"""One call through litellm: a request out, a reply or a classified failure back. No retries.

litellm's errors are read by status code, which is steadier than their classes. Their words are
shown only shortened, and with keys hidden.
"""

from __future__ import annotations

import math
import os
import queue
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, Literal
from urllib.parse import urlsplit

from deltamem_tui.errors import (
    AnswerError,
    CredentialsError,
    LanguageModelError,
    ModelNotFoundError,
    ModelUnavailableError,
    PromptTooLongError,
    RequestRefusedError,
)
from deltamem_tui.llm.answers import ANSWER_LIMIT
from deltamem_tui.llm.cost import Usage
from deltamem_tui.llm.models import AnswerFormat, ModelInfo, count_tokens, litellm
from deltamem_tui.text import clean, one_line

# Some servers want a key to be there without looking at it.
_NO_KEY = "none"
TIMEOUT = 120.0
# Our own clock gives a call up; the connection is closed a little later.
_LINGER = 1.5
# Tokenizers differ, templates add and thoughts are not shown, but no count is this far from ours.
_ABSURD = 10
# What a chat template adds to one message: its role and its ends.
_MESSAGE_TOKENS = 8
_LOWER: dict[AnswerFormat, AnswerFormat] = {"schema": "object", "object": "text"}
_WIDTH = 200
_LONGEST = 2_000

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
        refusal: What the model said where it declined to answer.
    """

    text: str
    finish: str
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    refusal: str = ""

    @property
    def usage(self) -> Usage:
        """What the call took."""
        return Usage(1, 0, self.prompt_tokens, self.completion_tokens, self.cost)


@dataclass(frozen=True, slots=True)
class Server:
    """Where to call, and how long to wait.

    Attributes:
        address: The base address of a server that is not the provider's own.
        key: The key; None to let litellm find the provider's in the environment.
        timeout: Seconds for a whole call, up to the last byte of its answer.
    """

    address: str | None = None
    key: str | None = None
    timeout: float = TIMEOUT


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """What a request says besides its messages. A server that refuses a part is sent less.

    Attributes:
        most: The most tokens of the answer that the server takes; None until one is known.
        temperature: 0 for the first try of a question; None where a server takes none.
    """

    answer_format: AnswerFormat
    seed: int | None
    temperature: float | None = 0.0
    most: int | None = None

    def without(
        self, complaint: str, prompt_tokens: int, answer_tokens: int
    ) -> RequestOptions | None:
        """Return fewer options if the server's complaint is about one that can be left out."""
        words = complaint.lower()
        lower = _LOWER.get(self.answer_format)
        if lower and any(word in words for word in ("format", "json", "schema")):
            return replace(self, answer_format=lower)
        if self.seed is not None and "seed" in words:
            return replace(self, seed=None)
        if self.temperature is not None and "temperature" in words:
            return replace(self, temperature=None)
        window = stated_window(complaint)
        room = window - int(prompt_tokens * 1.1) - 16 if window else 0
        if _LEAST_ANSWER <= room < min(answer_tokens, self.most or answer_tokens):
            return replace(self, most=room)
        return None


_LEAST_ANSWER = 64
_WINDOW = re.compile(
    r"(?:context (?:length|window|size)|n_ctx|max(?:imum)?[_ ]model[_ ]len\w*)\D{0,20}(\d{3,7})",
    re.IGNORECASE,
)


def stated_window(complaint: str) -> int | None:
    """Return the window in tokens that a server names in its complaint; None if it names none."""
    found = _WINDOW.search(complaint)
    return int(found[1]) if found else None


def call(
    info: ModelInfo,
    server: Server,
    options: RequestOptions,
    messages: list[Message],
    schema: dict[str, Any] | None,
    answer_tokens: int,
) -> Reply | BaseException:
    """Make one call, whose answer is bound to a JSON schema if one is given.

    Returns:
        The reply, or what litellm raised. It is not raised again, so that no traceback can
        show what the request held.
    """
    arguments: dict[str, Any] = {
        "model": info.name,
        "messages": messages,
        **parameters(options, schema, answer_tokens),
        "timeout": server.timeout * _LINGER,
        # Retries are ours alone: litellm's and its clients' would multiply with them.
        "num_retries": 0,
        "max_retries": 0,
        "drop_params": True,
        "caching": False,
    }
    if info.provider.startswith("ollama"):
        # Its default window is smaller than the model's, and it cuts longer prompts silently.
        sent = conversation_tokens(info.name, messages)
        arguments["num_ctx"] = min(info.window, int(sent * 1.25) + answer_tokens)
    if server.address:
        arguments["api_base"] = server.address
        of_provider = os.environ.get(f"{info.provider.upper()}_API_KEY")
        arguments["api_key"] = server.key or of_provider or _NO_KEY
    elif server.key:
        arguments["api_key"] = server.key
    answered = _within(server.timeout, arguments)
    if isinstance(answered, BaseException):
        return answered
    try:
        return _reply(info, server, messages, answered, answer_tokens)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        return error


def parameters(
    options: RequestOptions, schema: dict[str, Any] | None, answer_tokens: int
) -> dict[str, Any]:
    """Return what a request says besides its messages, by litellm's names."""
    found: dict[str, Any] = {"max_tokens": min(answer_tokens, options.most or answer_tokens)}
    if options.temperature is not None:
        found["temperature"] = options.temperature
    if options.seed is not None:
        found["seed"] = options.seed
    if schema is not None and options.answer_format == "object":
        found["response_format"] = {"type": "json_object"}
    elif schema is not None and options.answer_format == "schema":
        form = {"name": "answer", "schema": schema, "strict": True}
        found["response_format"] = {"type": "json_schema", "json_schema": form}
    return found


class _LateError(TimeoutError):
    status_code = 408


def _within(seconds: float, arguments: dict[str, Any]) -> Any:
    """Call in a thread of its own, and leave it behind when the time is over."""
    # A server that sends a byte now and then never runs into the read timeout of an HTTP client:
    # only the clock of the whole call holds for all.
    complete = litellm().completion
    done: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def run() -> None:
        try:
            done.put(complete(**arguments))
        except BaseException as error:  # noqa: BLE001 - handed over to the thread that asked
            done.put(error)

    threading.Thread(target=run, name="deltamem-call", daemon=True).start()
    try:
        return done.get(timeout=seconds)
    except queue.Empty:
        return _LateError("no whole answer in time")


def _reply(
    info: ModelInfo, server: Server, messages: list[Message], response: Any, answer_tokens: int
) -> Reply:
    choice, usage = response.choices[0], response.usage
    message = choice.message
    content = message.content or _tool_arguments(message)
    return checked_reply(
        info,
        str(content or ""),
        str(choice.finish_reason or ""),
        (usage.prompt_tokens, usage.completion_tokens),
        sent=conversation_tokens(info.name, messages),
        answer_tokens=answer_tokens,
        key=server.key,
        refusal=str((message.provider_specific_fields or {}).get("refusal") or ""),
    )


def _tool_arguments(message: Any) -> str:
    """Return the arguments of a lone tool call: some servers answer a JSON schema with one."""
    calls: Any = getattr(message, "tool_calls", None) or ()
    return str(calls[0].function.arguments or "") if len(calls) == 1 else ""


def checked_reply(
    info: ModelInfo,
    content: str,
    finish: str,
    stated: tuple[Any, Any],
    *,
    sent: int,
    answer_tokens: int = 0,
    key: str | None = None,
    refusal: str = "",
) -> Reply:
    """Return a server's answer without what must not be kept, with counts that can be true.

    `stated` is how many tokens the server says that prompt and answer have, and `sent` how many
    we count in the prompt.
    """
    # Cut first, so that no work is done on an answer that is too long to be used anyway.
    # A server that sends the key back must not get it into a bank or a cache.
    text = hide_known(clean(content[: ANSWER_LIMIT + 1]), key)
    prompt = _credible(stated[0], sent)
    completion = _credible(stated[1], count_tokens(info.name, text), answer_tokens)
    cost = info.price.of(prompt, completion) if info.price else None
    return Reply(text, finish, prompt, completion, cost, one_line(hide(clean(refusal), key), 200))


def _credible(stated: Any, ours: int, allowed: int = 0) -> int:
    """Return the server's count of tokens if it can be true, else ours; `allowed` may be unseen."""
    most = _ABSURD * (ours + allowed + _MESSAGE_TOKENS)
    return int(stated) if isinstance(stated, int | float) and 0 < stated <= most else ours


def conversation_tokens(model: str, messages: list[Message]) -> int:
    """Count the tokens of a conversation."""
    return sum(count_tokens(model, each["content"]) + _MESSAGE_TOKENS for each in messages)


_PREAMBLE = re.compile(r"^(?:(?:litellm\.)?\w*(?:Error|Exception|Timeout)\w*(?: Error)?[:\s-]+)+")
_NO_MODEL = re.compile(
    r"model[\w\s`'\"./:-]{0,80}(?:not (?:exist|found)|unknown|invalid)|no such model", re.IGNORECASE
)
_NO_CREDENTIALS = re.compile(r"missing credentials|api_key client option|no api key", re.IGNORECASE)
_NO_MONEY = re.compile(
    r"insufficient[_ ](?:quota|balance|funds)|billing|exceeded your .*quota", re.IGNORECASE
)
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|too many tokens|too long|maximum number of tokens",
    re.IGNORECASE,
)
_POLICY = re.compile(
    r"content[_ ](?:policy|filter|management)|safety (?:system|policy)", re.IGNORECASE
)
_NOT_CHAT = re.compile(r"<!doctype|<html|\bdata: ?\{|\[200 OK\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that brought no answer.

    Attributes:
        error: What to tell a person if this is the end of it.
        again: Whether the same call may work later.
        wait: Seconds that the server asks to wait; None if it does not say.
        complaint: The server's words if it refused the request's form, else empty.
        may_be_billed: Whether the model may have answered, and be paid for it, all the same.
    """

    error: LanguageModelError
    again: bool = False
    wait: float | None = None
    complaint: str = ""
    may_be_billed: bool = False


def failure(raised: BaseException, model: str, now: float, key: str | None = None) -> Failure:
    """Classify an exception of litellm; the key in use is hidden in what is shown.

    `now`, in seconds since 1970, is for a server that names a moment to wait for.
    """
    status = getattr(raised, "status_code", None)
    # Hidden before anything is cut: a part of a key would not be known for one.
    said = one_line(hide(clean(str(raised)), key), _LONGEST)
    words = _PREAMBLE.sub("", said)
    shown = one_line(words, _WIDTH).rstrip(".")  # more follows it
    name = one_line(model, 80)
    if status == 401 or _NO_CREDENTIALS.search(words):
        return Failure(
            CredentialsError(f"the key for {name} is missing or refused", hint="check the API key")
        )
    if status == 403:
        return Failure(
            CredentialsError(
                f"this key may not use {name}", hint="check the key's rights and the region"
            )
        )
    if status == 404:
        return Failure(_not_found(name))
    if status == 402 or (status == 429 and _NO_MONEY.search(words)):
        return Failure(
            ModelUnavailableError(
                f"the account for {name} has no credit left", hint="top it up and run again"
            )
        )
    if status in {400, 413, 422}:
        return _refused(status, words, shown, name)
    if _NOT_CHAT.search(words) and status in {None, 200, 500}:
        return Failure(
            RequestRefusedError(
                f"the server of {name} answers with a page or a stream, not with JSON",
                hint="check its address: a chat server's often ends in /v1",
            )
        )
    reason = {429: "too many requests", 408: "no answer in time", 504: "no answer in time"}
    detail = reason.get(status or 0) or (f"{shown} ({status})" if _headers(raised) else shown)
    return Failure(
        ModelUnavailableError(
            f"{name} did not answer: {detail}",
            hint="what is finished is kept; run again later to go on",
        ),
        again=True,
        wait=_retry_after(raised, now),
        may_be_billed=not _was_turned_away(raised),
    )


def _refused(status: int, words: str, shown: str, name: str) -> Failure:
    if _TOO_LONG.search(words) or status == 413:
        window = stated_window(words)
        limit = f" ({window:,} tokens by its server)" if window else ""
        error = PromptTooLongError(f"the prompt does not fit the window of {name}{limit}")
        return Failure(error, complaint=words)
    if _POLICY.search(words):
        return Failure(AnswerError(f"{name} refuses this text by its content policy"))
    if _NO_MODEL.search(words):
        return Failure(_not_found(name))
    return Failure(RequestRefusedError(f"{name} refuses the request: {shown}"), complaint=words)


def _not_found(name: str) -> ModelNotFoundError:
    return ModelNotFoundError(
        f"there is no model {name} at its provider", hint="check the name and the server's address"
    )


def _was_turned_away(raised: BaseException) -> bool:
    """Return whether the server said no or was never reached; else it may have answered."""
    # litellm's own status says nothing: a connection that broke is a 500 to it.
    import httpx

    never = (httpx.HTTPStatusError, httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
    each: BaseException | None = raised
    seen: set[int] = set()
    while each is not None and id(each) not in seen:
        if isinstance(each, never) or _headers(each):
            return True
        seen.add(id(each))
        each = each.__cause__ or each.__context__
    return getattr(raised, "status_code", None) == 429


def _headers(raised: BaseException) -> Mapping[str, str]:
    """Return the headers of a server's answer; empty if no server answered."""
    headers = getattr(raised, "litellm_response_headers", None)
    return headers if isinstance(headers, Mapping) else {}


def _retry_after(raised: BaseException, now: float) -> float | None:
    """Return the seconds that the server asks to wait, written as a number or as a date."""
    value = _headers(raised).get("retry-after")
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() - now
    return max(seconds, 0.0) if math.isfinite(seconds) else None


# Narrow, because what is hidden is hidden in answers too: what a bank learns must not depend on
# a variable such as MAX_TOKENS.
_SECRET_NAMES = re.compile(r"_KEY$|_TOKEN$|SECRET|PASSWORD", re.IGNORECASE)
_SECRET_LOOKS = re.compile(
    r"(?i:bearer)\s+[^\s\"',;]+"
    r"|\b(?:sk|pk|rk|gsk|xai|hf|key)[-_][\w*-]{6,}"
    r"|\bAIza[\w-]{10,}"
    r"|\beyJ[\w-]{10,}(?:\.[\w-]+)*"
    r"|(?<=://)[^/\s@]+(?=@)"
)
_HIDDEN = "[hidden]"
_SHORTEST = 6


def hide(text: str, key: str | None = None) -> str:
    """Return `text` without the key in use, known secrets, and what looks like a key."""
    return _SECRET_LOOKS.sub(_HIDDEN, hide_known(text, key))


def hide_known(text: str, key: str | None = None) -> str:
    """Return `text` without the key in use and the secrets of the environment."""
    values = [value for name, value in os.environ.items() if _SECRET_NAMES.search(name)]
    for value in sorted({key or "", *values}, key=len, reverse=True):
        if len(value) >= _SHORTEST or value == key:
            text = text.replace(value, _HIDDEN) if value else text
    return text


def without_secrets(mistyped: str) -> str:
    """Return a mistyped server address without user, password and query."""
    bare = mistyped.partition("?")[0]
    return hide(f"{_HIDDEN}@{bare.rpartition('@')[2]}" if "@" in bare else bare)


def host(address: str) -> str:
    """Return the part of a server's address that may be shown: no user, password or query."""
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname or '?'}{port}{parts.path}"
    except ValueError:
        return "the given address"
