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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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

TIMEOUT = 120.0
# Some servers want a key to be there without looking at it.
_NO_KEY = "none"
# What a chat template adds to one message: its role and its ends.
_MESSAGE_TOKENS = 8
_LEAST_ANSWER = 64
_LOWER: dict[AnswerFormat, AnswerFormat] = {"schema": "object", "object": "text"}
_SHOWN = 200
_LONGEST = 2_000

Message = dict[Literal["role", "content"], str]
OnAnswer = Callable[[Usage], object]
"""Called with what an answer took, in the thread in which the answer came."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A question to a model, until it is answered or given up.

    Attributes:
        key: The cache's name for it.
        schema: What the answer is bound to; None for free text.
        shared: How many characters of the first user message other questions begin with too.
    """

    key: str
    messages: list[Message]
    schema: dict[str, Any] | None
    answer_tokens: int
    cancelled: threading.Event
    on_answer: OnAnswer
    attempt: int = 1
    shared: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to one call before it is checked, with why it ended: `stop`, `length` and so on."""

    text: str
    finish: str
    prompt_tokens: int
    completion_tokens: int
    cost: float | None

    @property
    def usage(self) -> Usage:
        """Tokens and money that the call took."""
        return Usage(1, 0, self.prompt_tokens, self.completion_tokens, self.cost)


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


@dataclass(frozen=True, slots=True)
class Server:
    """A server's address, and how many seconds to wait for an answer.

    Without an address it is the provider's own; without a key, the environment's is used.
    """

    address: str | None = None
    key: str | None = None
    timeout: float = TIMEOUT

    def arguments(self, provider: str) -> dict[str, Any]:
        """Return what litellm is told of it."""
        key = self.key
        if self.address:
            key = key or os.environ.get(f"{provider.upper()}_API_KEY") or _NO_KEY
        found = {"timeout": self.timeout, "api_base": self.address, "api_key": key}
        return {name: value for name, value in found.items() if value}


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """The options of a request beside its messages. A server that refuses one is sent less.

    Attributes:
        most: The most tokens of the answer that the server takes; None until one is known.
        system: Whether the server takes a system message.
    """

    answer_format: AnswerFormat
    temperature: float | None = 0.0
    most: int | None = None
    system: bool = True

    def without(
        self, complaint: str, prompt_tokens: int, answer_tokens: int
    ) -> RequestOptions | None:
        """Return fewer options if the server's complaint is about one that can be left out."""
        words = complaint.lower()
        lower = _LOWER.get(self.answer_format)
        if lower and any(word in words for word in ("format", "json", "schema")):
            return replace(self, answer_format=lower)
        if self.temperature is not None and "temperature" in words:
            return replace(self, temperature=None)
        if self.system and "system" in words and "role" in words:
            return replace(self, system=False)
        room = (_stated_window(complaint) or 0) - int(prompt_tokens * 1.1) - 16
        if _LEAST_ANSWER <= room < min(answer_tokens, self.most or answer_tokens):
            return replace(self, most=room)
        return None

    def parameters(self, schema: dict[str, Any] | None, answer_tokens: int) -> dict[str, Any]:
        """Return what a request says besides its messages, by litellm's names."""
        found: dict[str, Any] = {"max_tokens": min(answer_tokens, self.most or answer_tokens)}
        if self.temperature is not None:
            found["temperature"] = self.temperature
        if schema is not None and self.answer_format == "object":
            found["response_format"] = {"type": "json_object"}
        elif schema is not None and self.answer_format == "schema":
            form = {"name": "answer", "schema": schema, "strict": True}
            found["response_format"] = {"type": "json_schema", "json_schema": form}
        return found


_WINDOW = re.compile(
    r"(?:context (?:length|window|size)|n_ctx|max(?:imum)?[_ ]model[_ ]len\w*)\D{0,20}(\d{3,7})",
    re.IGNORECASE,
)


def _stated_window(complaint: str) -> int | None:
    """Return the window in tokens that a server names in its complaint."""
    found = _WINDOW.search(complaint)
    return int(found[1]) if found else None


def call(
    info: ModelInfo, server: Server, options: RequestOptions, request: ChatRequest
) -> Reply | Failure:
    """Make one call, whose answer is bound to the request's JSON schema if it has one.

    What litellm raises is not raised again: no traceback can show what the request held.
    """
    arguments: dict[str, Any] = {
        "model": info.name,
        "messages": _messages(info, options, request),
        **options.parameters(request.schema, request.answer_tokens),
        **server.arguments(info.provider),
        # Retries are ours alone: litellm's and its clients' would multiply with them.
        "num_retries": 0,
        "max_retries": 0,
        "drop_params": True,
        "caching": False,
    }
    sent = conversation_tokens(info.name, request.messages)
    if info.provider.startswith("ollama"):
        # Its default window is smaller than the model's, and it cuts longer prompts silently.
        arguments["num_ctx"] = min(info.window, int(sent * 1.25) + request.answer_tokens)
    try:
        return _reply(info, server, _within(server.timeout, arguments), sent)
    except Exception as error:  # noqa: BLE001 - litellm's are of many kinds
        return _failure(error, info.name, server.key)


class _LateError(TimeoutError):
    status_code = 408


def _within(seconds: float, arguments: dict[str, Any]) -> Any:
    """Call in a thread of its own, and leave it behind when the time is over.

    A server that sends a byte now and then never runs into an HTTP client's timeout for a read.
    """
    complete = litellm().completion
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def run() -> None:
        try:
            answers.put(complete(**arguments))
        except BaseException as error:  # noqa: BLE001 - raised in the thread that asked
            answers.put(error)

    threading.Thread(target=run, name="deltamem-call", daemon=True).start()
    try:
        answer = answers.get(timeout=seconds)
    except queue.Empty:
        raise _LateError("no whole answer in time") from None
    if isinstance(answer, BaseException):
        raise answer
    return answer


def _messages(
    info: ModelInfo, options: RequestOptions, request: ChatRequest
) -> list[dict[str, Any]]:
    """Return the messages as this server takes them, with a mark up to where it may cache them."""
    messages: list[dict[str, Any]] = [
        {"role": each["role"], "content": each["content"]} for each in request.messages
    ]
    has_system = messages[0]["role"] == "system"
    user = messages[int(has_system)]
    text, at = user["content"], request.shared
    if has_system and not options.system:
        user["content"] = f"{messages.pop(0)['content']}\n\n{text}"
    elif at and info.marks_cache:
        mark = {"cache_control": {"type": "ephemeral"}}
        first, rest = ({"type": "text", "text": part} for part in (text[:at], text[at:]))
        user["content"] = [first | mark, rest]
    return messages


def _reply(info: ModelInfo, server: Server, response: Any, sent: int) -> Reply:
    choice, usage = response.choices[0], response.usage
    message = choice.message
    calls: Any = getattr(message, "tool_calls", None) or ()
    # Some servers answer a JSON schema with one tool call.
    said = message.content or (calls[0].function.arguments if len(calls) == 1 else "")
    refusal = (message.provider_specific_fields or {}).get("refusal")
    details = getattr(usage, "prompt_tokens_details", None)
    return checked_reply(
        info,
        str(said or refusal or ""),
        "refusal" if refusal and not said else str(choice.finish_reason or ""),
        (usage.prompt_tokens, usage.completion_tokens, getattr(details, "cached_tokens", 0)),
        sent=sent,
        key=server.key,
    )


def checked_reply(
    info: ModelInfo,
    content: str,
    finish: str,
    stated: Sequence[Any],
    *,
    sent: int,
    key: str | None = None,
) -> Reply:
    """Return a server's answer without what must not be kept.

    `stated` is how many tokens the server says that prompt and answer have, and how many of the
    prompt it had in its cache; `sent` how many we count in the prompt.
    """
    # Cut first, so that no work is done on an answer that is too long to be used anyway.
    # A server that sends the key back must not get it into a bank or a cache.
    text = _hidden(clean(content[: ANSWER_LIMIT + 1]), key, looks=False)
    prompt, completion, cached = (max(n, 0) if isinstance(n, int) else 0 for n in stated)
    prompt, completion = prompt or sent, completion or count_tokens(info.name, text)
    return Reply(
        text, finish, prompt, completion, info.cost(prompt, completion, min(cached, prompt))
    )


def conversation_tokens(model: str, messages: list[Message]) -> int:
    """Count the tokens of a conversation."""
    return sum(count_tokens(model, each["content"]) + _MESSAGE_TOKENS for each in messages)


POLICY = r"content[_ ](policy|filter|management)|safety (system|policy)"
_PREAMBLE = re.compile(r"^(?:(?:litellm\.)?\w*(?:Error|Exception|Timeout)\w*(?: Error)?[:\s-]+)+")
_NO_KEY_WORDS = r"missing credentials|api_key client option|no api key"
_NO_MODEL = r"model[\w\s`'\"./:-]{0,80}(not (exist|found)|unknown|invalid)|no such model"
_NO_MONEY = r"insufficient[_ ](quota|balance|funds)|billing|exceeded your .*quota"
_TOO_LONG = r"context[ _](length|window|size)|too many tokens|too long|maximum number of tokens"
_NO_JSON = r"<!doctype|<html|\bdata: ?\{|\[200 OK\]"
_NO_CREDIT = "the account for {} has no credit left"
_PAGE = "the server of {} answers with a page or a stream, not with JSON"
_ANY: set[int | None] = set()
_FORM: set[int | None] = {400, 422}
_PASSING = {429: "too many requests", 408: "no answer in time", 504: "no answer in time"}


def _failure(raised: BaseException, model: str, key: str | None = None) -> Failure:
    """Classify an exception of litellm; the key in use is hidden in what is shown."""
    status, name = getattr(raised, "status_code", None), one_line(model, 80)
    # Hidden before anything is cut: a part of a key would not be known for one.
    words = _PREAMBLE.sub("", one_line(_hidden(clean(str(raised)), key), _LONGEST))
    shown = one_line(words, _SHOWN).rstrip(".")  # more follows it
    if lasting := _lasting(status, words, shown, name):
        of_form = isinstance(lasting, PromptTooLongError) or status in _FORM
        return Failure(lasting, complaint=words if of_form else "")
    found = getattr(raised, "litellm_response_headers", None)  # none if no server answered
    headers: Mapping[str, str] = found if isinstance(found, Mapping) else {}
    reason = _PASSING.get(status or 0) or (f"{shown} ({status})" if headers else shown)
    hint = "what is finished is kept; run again later to go on"
    return Failure(
        ModelUnavailableError(f"{name} did not answer: {reason}", hint=hint),
        again=True,
        wait=_retry_after(headers),
        may_be_billed=not headers and status != 429 and not _was_unreachable(raised),
    )


_KEY_HINT, _MODEL_HINT = "check the API key", "check the name and the server's address"
# By status and words: what a failure is that asking again would not mend. The first one counts.
_LASTING: tuple[tuple[set[int | None], str, type[LanguageModelError], str, str | None], ...] = (
    ({401}, "", CredentialsError, "the key for {} is missing or refused", _KEY_HINT),
    (_ANY, _NO_KEY_WORDS, CredentialsError, "the key for {} is missing or refused", _KEY_HINT),
    ({403}, "", CredentialsError, "this key may not use {}", "check its rights and the region"),
    ({402}, "", ModelUnavailableError, _NO_CREDIT, "top it up and run again"),
    ({429}, _NO_MONEY, ModelUnavailableError, _NO_CREDIT, "top it up and run again"),
    ({413}, "", PromptTooLongError, "the prompt does not fit the window of {}", None),
    (_FORM, _TOO_LONG, PromptTooLongError, "the prompt does not fit the window of {}", None),
    (_FORM, POLICY, AnswerError, "{} refuses this text by its content policy", None),
    ({404}, "", ModelNotFoundError, "there is no model {} at its provider", _MODEL_HINT),
    (_FORM, _NO_MODEL, ModelNotFoundError, "there is no model {} at its provider", _MODEL_HINT),
    (_FORM, "", RequestRefusedError, "{} refuses the request", None),
    ({None, 200, 500}, _NO_JSON, RequestRefusedError, _PAGE, "a chat server's often ends in /v1"),
)


def _lasting(status: int | None, words: str, shown: str, name: str) -> LanguageModelError | None:
    """Return the error of a failure that asking again would not mend; None if it may pass."""
    for statuses, pattern, kind, message, hint in _LASTING:
        if status in (statuses or {status}) and re.search(pattern, words, re.IGNORECASE):
            detail, variable = "", re.search(r"\b[A-Z]\w+_API_KEY\b", words)
            if kind is PromptTooLongError and (window := _stated_window(words)):
                detail = f" ({window:,} tokens by its server)"
            elif kind is RequestRefusedError and not pattern:
                detail = f": {shown}"
            known = kind is CredentialsError and variable
            return kind(message.format(name) + detail, hint=f"set {known[0]}" if known else hint)
    return None


def _was_unreachable(raised: BaseException) -> bool:
    """Return whether no connection came about; else the model may have answered."""
    import httpx

    each: BaseException | None = raised
    while each is not None and not isinstance(each, httpx.ConnectError | httpx.ConnectTimeout):
        each = each.__cause__ or each.__context__
    return each is not None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server asks to wait; None if it names no number."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
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


def _hidden(text: str, key: str | None = None, *, looks: bool = True) -> str:
    """Return `text` without the key in use, the environment's secrets, and their `looks`."""
    values = {value for name, value in os.environ.items() if _SECRET_NAMES.search(name)}
    known = {value for value in values if len(value) > 5} | ({key} if key else set())
    for value in sorted(known, key=len, reverse=True):
        text = text.replace(value, _HIDDEN)
    return _SECRET_LOOKS.sub(_HIDDEN, text) if looks else text


def host(address: str) -> str:
    """Return the part of a server's address that may be shown: no user, password or query."""
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname or '?'}{port}{parts.path}"
    except ValueError:
        return "the given address"
