"""Batches: questions that are written down for a batch service, and the answers that come back.

A request is a line `{"custom_id", "method", "url", "body"}`, and a result a line `{"custom_id",
"response": {"status_code", "body"}, "error"}`: the form of OpenAI's batch service, which vLLM's
`run-batch` reads and writes too. The id is the key of the answer in the response cache. Of each
question that was asked a small file remembers what its answer will be on the bill as, until the
answer is there; so an answer is paid once, and one to what was never asked is known as that.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from deltamem_tui.errors import AnswerError, BudgetError, PromptTooLongError, StorageError
from deltamem_tui.llm.cache import ASKED, ResponseCache, read_record, write_record
from deltamem_tui.llm.call import (
    Reply,
    RequestOptions,
    checked_reply,
    conversation_tokens,
    failure,
    parameters,
)
from deltamem_tui.llm.client import ChatRequest
from deltamem_tui.llm.models import ModelInfo, batch_price, litellm
from deltamem_tui.text import clean, one_line

URL = "/v1/chat/completions"
_KEY = re.compile(r"[0-9a-f]{64}")
_WIDTH = 200
# Of what litellm makes of our options, what a service may be sent.
_NAMES = frozenset(
    {"max_tokens", "max_completion_tokens", "temperature", "seed", "response_format"}
)


class ServiceError(Exception):
    """A request that a batch service could not answer; its words are never shown as they are."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status_code = status


class BatchCaller:
    """Takes the place of a server for one bank. Nothing is ever sent.

    Attributes:
        noted: The question that was asked last.
    """

    def __init__(self, info: ModelInfo, cache: ResponseCache, owner: str, seed: int = 0) -> None:
        """Prepare for one bank, whose id is `owner`."""
        self.noted: ChatRequest | None = None
        self._info = replace(info, price=batch_price(info))
        self._cache = cache
        self._folder = cache.folder / ASKED / hashlib.sha256(owner.encode()).hexdigest()[:16]
        self._seed = seed

    @property
    def model(self) -> str:
        """The model that is asked."""
        return self._info.name

    def reply(self, request: ChatRequest) -> Reply:
        """Note a question instead of asking it.

        Raises:
            LanguageModelError: What the service said of it, if it refused this very question.
            BudgetError: It waits for an answer.
        """
        if refused := (self.asked(request.key) or {}).get("refused"):
            raise _failed(int(refused["status"]), str(refused["words"]), self._info.name)
        self.noted = request
        raise BudgetError("the question waits for the answers of a batch")

    def line(self, request: ChatRequest) -> bytes:
        """Return the line of a file of requests."""
        library = litellm()
        name, provider, _, _ = library.get_llm_provider(self._info.name)
        options = RequestOptions(self._info.answer_format, self._seed if self._info.seed else None)
        wanted = parameters(options, request.schema, request.answer_tokens)
        # A service that takes this form takes OpenAI's names, whoever's model it is.
        speaks = provider if provider in library.openai_compatible_providers else "openai"
        sent = library.utils.get_optional_params(
            model=name, custom_llm_provider=speaks, drop_params=True, **wanted
        )
        body = {"model": name, "messages": request.messages}
        body |= {each: value for each, value in sent.items() if each in _NAMES}
        record = {"custom_id": request.key, "method": "POST", "url": URL, "body": body}
        return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)

    def asked(self, key: str) -> dict[str, Any] | None:
        """Return what is remembered of a question; None if it was not asked."""
        return read_record(self._folder / f"{key}.json") if _KEY.fullmatch(key) else None

    def is_answered(self, key: str) -> bool:
        """Return whether the cache has the answer."""
        return bool(_KEY.fullmatch(key)) and self._cache.get(key) is not None

    def remember(self, request: ChatRequest, bill: Mapping[str, Any]) -> None:
        """Remember a question, with what its line of the bill says but for the numbers.

        Raises:
            StorageError: The disk refused.
        """
        sent = conversation_tokens(self._info.name, request.messages)
        self._write(request.key, {"bill": bill, "sent": sent})

    def refuse(self, key: str, question: Mapping[str, Any], error: ServiceError) -> None:
        """Remember that the service refuses this very question, if it would do so again.

        Such a question is not asked again, and counts as asking directly would have it count.

        Raises:
            StorageError: The disk refused.
        """
        words = one_line(clean(str(error)), _WIDTH)
        if isinstance(_failed(error.status_code, words, ""), PromptTooLongError | AnswerError):
            refused = {"status": error.status_code, "words": words}
            self._write(key, {**question, "refused": refused})

    def read(self, question: Mapping[str, Any], response: object) -> Reply:
        """Read the answer in a result's `response`.

        Raises:
            ServiceError: The service says that there is none.
            ValueError: It is not of the form that it should be.
        """
        status, body = _get(response, "status_code"), _get(response, "body")
        if status != 200:
            words = _get(_get(body, "error"), "message") or _get(body, "message")
            raise ServiceError(status if type(status) is int else 500, str(words or "no reason"))
        choices = _get(body, "choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        content = _get(_get(choice, "message"), "content")
        if not isinstance(_get(choice, "message"), dict) or not isinstance(content, str | None):
            raise ValueError("there is no message of a model in it")
        usage, finish = _get(body, "usage"), _get(choice, "finish_reason")
        stated = (_get(usage, "prompt_tokens"), _get(usage, "completion_tokens"))
        sent = question.get("sent")
        sent = sent if type(sent) is int else 0
        return checked_reply(
            self._info, content or "", one_line(str(finish or ""), 40), stated, sent=sent
        )

    def keep(self, key: str, reply: Reply) -> None:
        """Keep an answer that is on the bill, and forget the question.

        Raises:
            StorageError: The disk refused.
        """
        self._cache.put(key, self._info.name, reply)
        (self._folder / f"{key}.json").unlink(missing_ok=True)

    def _write(self, key: str, record: Mapping[str, Any]) -> None:
        try:
            write_record(self._folder / f"{key}.json", record)
        except OSError as error:
            reason = f"cannot remember a question: {error.strerror}"
            raise StorageError(reason, source=str(self._folder)) from error


def _failed(status: int, words: str, model: str) -> Exception:
    return failure(ServiceError(status, words), model, 0.0).error


def _get(value: object, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None
