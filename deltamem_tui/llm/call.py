"""One call through litellm: a request out, a reply or a classified failure back. No retries.

litellm's errors are read by status code, which is steadier than their classes. Their words are
shown only shortened, and with keys hidden.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from typing import Any, Literal

from deltamem_tui.errors import (
    AnswerError,
    LanguageModelError,
    ModelUnavailableError,
    PromptTooLongError,
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

    `key` is the cache's name for it, `schema` binds the answer if it is not free text, and other
    questions begin with the same `shared` characters of the first user message.
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
    """A call that brought no answer, which may work `again` later.

    `complaint` has the server's words if it refused the request's form; one that `may_be_billed`
    may have been answered, and be paid for, all the same.
    """

    error: LanguageModelError
    again: bool = False
    wait: float = 0.0
    complaint: str = ""
    may_be_billed: bool = False


@dataclass(frozen=True, slots=True)
class Server:
    """A server's address, its provider's own if None, and how many seconds to wait for an answer.

    The key is the environment's.
    """

    address: str | None = None
    timeout: float = TIMEOUT


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """The options of a request beside its messages. A server that refuses one is sent less.

    `most` is how many tokens of an answer the server takes, once it is known; `system`, whether
    it takes a system message.
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
        "timeout": server.timeout,
        # Retries are ours alone: litellm's and its clients' would multiply with them.
        "num_retries": 0,
        "max_retries": 0,
        "drop_params": True,
        "caching": False,
    }
    if server.address:
        key = os.environ.get(f"{info.provider.upper()}_API_KEY") or _NO_KEY
        arguments |= {"api_base": server.address, "api_key": key}
    sent = conversation_tokens(info.name, request.messages)
    if info.provider.startswith("ollama"):
        # Its default window is smaller than the model's, and it cuts longer prompts silently.
        arguments["num_ctx"] = min(info.window, int(sent * 1.25) + request.answer_tokens)
    try:
        return read_reply(info, _within(server.timeout, arguments), sent)
    except Exception as error:  # noqa: BLE001 - litellm's are of many kinds
        return _failure(error, info.name)


class _LateError(TimeoutError):
    status_code = 408


def _within(seconds: float, arguments: dict[str, Any]) -> Any:
    """Call in a thread of its own, and leave it behind when the time is over.

    A server that sends a byte now and then never runs into an HTTP client's timeout for a read.
    """
    complete, answer = litellm().completion, Future[Any]()

    def run() -> None:
        try:
            answer.set_result(complete(**arguments))
        except BaseException as error:  # noqa: BLE001 - raised in the thread that asked
            answer.set_exception(error)

    threading.Thread(target=run, name="deltamem-call", daemon=True).start()
    if not wait([answer], timeout=seconds).done:
        raise _LateError("no whole answer in time")
    return answer.result()


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


def read_reply(info: ModelInfo, response: Any, sent: int) -> Reply:
    """Return a server's answer without what must not be kept; we count `sent` in the prompt."""
    choice, usage = response.choices[0], getattr(response, "usage", None)
    message = choice.message
    calls: Any = getattr(message, "tool_calls", None) or ()
    # Some servers answer a JSON schema with one tool call.
    said = message.content or (calls[0].function.arguments if len(calls) == 1 else "")
    refusal = (message.provider_specific_fields or {}).get("refusal")
    stated = [getattr(usage, f"{which}_tokens", 0) for which in ("prompt", "completion")]
    cached = getattr(usage, "prompt_tokens_details", None)
    stated += [getattr(cached, f"{which}_tokens", 0) for which in ("cached", "cache_creation")]
    # Cut first, so that no work is done on an answer that is too long to be used anyway.
    # A server that sends the key back must not get it into a bank or a cache.
    text = hidden(clean(str(said or refusal or "")[: ANSWER_LIMIT + 1]), looks=False)
    prompt, completion, *cache = (max(n, 0) if isinstance(n, int) else 0 for n in stated)
    prompt, completion = prompt or sent, completion or count_tokens(info.name, text)
    cost = info.cost(prompt, completion, *cache if sum(cache) <= prompt else ())
    finish = "refusal" if refusal and not said else str(choice.finish_reason or "")
    return Reply(text, finish, prompt, completion, cost)


def conversation_tokens(model: str, messages: list[Message]) -> int:
    """Count the tokens of a conversation."""
    return sum(count_tokens(model, each["content"]) + _MESSAGE_TOKENS for each in messages)


POLICY = r"content[_ ](policy|filter|management)|safety (system|policy)"
_PREAMBLE = re.compile(r"^(?:(?:litellm\.)?\w*(?:Error|Exception|Timeout)\w*(?: Error)?[:\s-]+)+")
_KEYLESS = r"missing credentials|api_key client option|no api key"
_NO_MONEY = r"insufficient[_ ](quota|balance|funds)|billing|exceeded your .*quota"
_NO_MODEL = r"model[\w\s`'\"./:-]{0,80}(not (exist|found)|unknown|invalid)|no such model"
_TOO_LONG = r"context[ _](length|window|size)|too many tokens|too long|maximum number of tokens"
_NO_JSON = r"<!doctype|<html|\bdata: ?\{|\[200 OK\]"
_FORM = r"^(400|422) "
_PASSING = {429: "too many requests", 408: "no answer in time", 504: "no answer in time"}
# By status and words: what a failure is that asking again would not mend. The first one counts.
_LASTING: tuple[tuple[str, type[LanguageModelError], str, str | None], ...] = (
    (
        f"^401|{_KEYLESS}",
        LanguageModelError,
        "the key for {} is missing or refused",
        "check the key",
    ),
    ("^403", LanguageModelError, "this key may not use {}", "check its rights and the region"),
    (
        f"^402|^429.*({_NO_MONEY})",
        ModelUnavailableError,
        "the account for {} has no credit left",
        "top it up and run again",
    ),
    (
        f"^413|{_FORM}.*({_TOO_LONG})",
        PromptTooLongError,
        "the prompt does not fit the window of {}",
        None,
    ),
    (f"{_FORM}.*({POLICY})", AnswerError, "{} refuses this text by its content policy", None),
    (
        f"^404|{_FORM}.*({_NO_MODEL})",
        LanguageModelError,
        "there is no model {} at its provider",
        "check the name and the server's address",
    ),
    (_FORM, LanguageModelError, "{} refuses the request: ", None),
    (
        f"^(None|200|500) .*({_NO_JSON})",
        LanguageModelError,
        "the server of {} answers with a page or a stream, not with JSON",
        "a chat server's often ends in /v1",
    ),
)


def _failure(raised: BaseException, model: str) -> Failure:
    """Classify an exception of litellm."""
    status, name = getattr(raised, "status_code", None), one_line(model, 80)
    # Hidden before anything is cut: a part of a key would not be known for one.
    words = _PREAMBLE.sub("", one_line(hidden(clean(str(raised))), _LONGEST))
    page = re.search(_NO_JSON, words, re.IGNORECASE)
    shown = "a page, not JSON" if page else one_line(words, _SHOWN).rstrip(".")  # more follows it
    for pattern, kind, message, advice in _LASTING:
        if not re.search(pattern, f"{status} {words}", re.IGNORECASE):
            continue
        text = message.format(name) + (shown if message.endswith(": ") else "")
        if kind is PromptTooLongError and (window := _stated_window(words)):
            text += f" ({window:,} tokens by its server)"
        variable = re.search(r"\b[A-Z]\w+_API_KEY\b", words)
        hint = f"set {variable[0]}" if variable and "key" in message else advice
        of_form = kind is PromptTooLongError or status in {400, 422}
        return Failure(kind(text, hint=hint), complaint=words if of_form else "")
    found = getattr(raised, "litellm_response_headers", None)  # none if no server answered
    headers: Mapping[str, str] = found if isinstance(found, Mapping) else {}
    reason = _PASSING.get(status or 0) or (f"{shown} ({status})" if headers else shown)
    hint = "what is finished is kept; run again later to go on"
    seconds = re.fullmatch(r"\d{1,9}(\.\d+)?", headers.get("retry-after", ""))
    return Failure(
        ModelUnavailableError(f"{name} did not answer: {reason}", hint=hint),
        again=True,
        wait=float(seconds[0]) if seconds else 0.0,
        may_be_billed=not headers and status != 429,
    )


# Narrow, because what is hidden is hidden in answers too: what a bank learns must not depend on
# a variable such as MAX_TOKENS.
_SECRET_NAMES = re.compile(r"_KEY$|_TOKEN$|SECRET|PASSWORD", re.IGNORECASE)
_SECRET_LOOKS = re.compile(
    r"(?i:bearer)\s+[^\s\"',;]+|\b(?:sk|gsk|xai|hf)[-_][\w*-]{6,}|(?<=://)[^/\s@]+(?=@)"
)
_HIDDEN = "[hidden]"


def hidden(text: str, *, looks: bool = True) -> str:
    """Return `text` without the environment's secrets and, if asked, what `looks` like one."""
    values = {value for name, value in os.environ.items() if _SECRET_NAMES.search(name)}
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, _HIDDEN) if len(value) > 5 else text
    return _SECRET_LOOKS.sub(_HIDDEN, text) if looks else text
