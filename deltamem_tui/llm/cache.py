"""The response cache: an answer that was paid for once is not paid for again.

One small JSON file an answer, named by the digest of everything that could change it: model,
server, schema and messages. A file appears whole, by renaming, so any number of processes share
the folder without locks; one that cannot be read counts as not there.

In `asked/` are the questions of batches that have no answer yet, by the id that they have in a
batch, which is the key of the answer. Batches have the form of OpenAI's service and vLLM's.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec
import orjson

from deltamem_tui import paths
from deltamem_tui.errors import AnswerError, BudgetError, Remedy, StorageError
from deltamem_tui.llm.call import (
    POLICY,
    ChatRequest,
    Reply,
    RequestOptions,
    conversation_tokens,
    read_reply,
)
from deltamem_tui.llm.models import ModelInfo, batch_price, litellm
from deltamem_tui.text import clean, one_line

FORMAT = 2
URL = "/v1/chat/completions"
_ASKED = "asked"
_LARGEST_FILE = 4_000_000
_KEY = re.compile(r"[0-9a-f]{64}")
# Of what litellm makes of our options, what a batch service may be sent.
_NAMES = frozenset({"max_tokens", "max_completion_tokens", "temperature", "response_format"})


class ResponseCache:
    """Answers on disk."""

    def __init__(self, folder: Path | None = None) -> None:
        """Take the user's cache folder if none is given. Nothing is read or made yet."""
        self.folder = folder or paths.user_folder("cache") / "answers"

    @staticmethod
    def key(request: Mapping[str, Any]) -> str:
        """Return the digest of a request: 64 hexadecimal digits."""
        data = orjson.dumps([FORMAT, request], option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(data).hexdigest()

    def get(self, key: str) -> Reply | None:
        """Return the answer to a request; None if it was not answered before."""
        record = _read_record(self._path(key))
        try:
            reply = msgspec.convert(record, Reply)
        except msgspec.ValidationError:
            return None
        return replace(reply, text=clean(reply.text), finish=clean(reply.finish))

    def put(self, key: str, model: str, reply: Reply) -> None:
        """Keep an answer.

        Raises:
            StorageError: The disk refused. The answer is as good as before.
        """
        _write_record(self._path(key), {"model": model, **asdict(reply)})

    def size(self) -> tuple[int, int]:
        """Return how many answers there are, and their bytes."""
        paths = [*self.folder.glob("[0-9a-f][0-9a-f]/*.json")]
        return len(paths), sum(path.stat().st_size for path in paths)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"


def _read_record(path: Path) -> dict[str, Any] | None:
    """Return what a small file holds; None if it is not there or cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
        found = orjson.loads(data) if len(data) <= _LARGEST_FILE else None
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write a file that appears whole or not at all, readable by its owner only."""
    draft = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".draft")
        with os.fdopen(descriptor, "wb") as file:
            file.write(orjson.dumps(record) + b"\n")
        Path(draft).replace(path)
    except OSError as error:
        reason, hint = f"cannot keep an answer: {error.strerror}", Remedy.KEEP_NO_ANSWERS
        raise StorageError(reason, source=str(path.parent.parent), hint=hint) from error
    finally:
        if draft:
            Path(draft).unlink(missing_ok=True)


class BatchCaller:
    """Takes the place of a server for one bank: notes the last question, and sends none."""

    def __init__(self, info: ModelInfo, cache: ResponseCache, owner: str) -> None:
        """Prepare for one bank, whose id is `owner`."""
        self.noted: ChatRequest | None = None
        self._info = replace(info, price=batch_price(info))
        self._cache = cache
        self._folder = cache.folder / _ASKED / hashlib.sha256(owner.encode()).hexdigest()[:16]

    def reply(self, request: ChatRequest) -> Reply:
        """Note a question instead of asking it.

        Raises:
            BudgetError: Always: it waits for an answer.
        """
        self.noted = request
        raise BudgetError("the question waits for the answers of a batch")

    def line(self, request: ChatRequest) -> bytes:
        """Return the line of a file of requests."""
        library = litellm()
        name, provider, _, _ = library.get_llm_provider(self._info.name)
        options = RequestOptions(self._info.answer_format)
        wanted = options.parameters(request.schema, request.answer_tokens)
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
        return _read_record(self._folder / f"{key}.json") if _KEY.fullmatch(key) else None

    def is_answered(self, key: str) -> bool:
        """Return whether the cache has the answer."""
        return bool(_KEY.fullmatch(key)) and self._cache.get(key) is not None

    def remember(self, request: ChatRequest, bill: Mapping[str, Any]) -> None:
        """Remember a question, with what its line of the bill says but for the numbers.

        Raises:
            StorageError: The disk refused.
        """
        sent = conversation_tokens(self._info.name, request.messages)
        _write_record(self._folder / f"{request.key}.json", {"bill": bill, "sent": sent})

    def read(self, question: Mapping[str, Any], response: object) -> Reply:
        """Read the answer in a result's `response`.

        Raises:
            AnswerError: The service says that there is none, or it is not of the right form.
        """
        status, body = _get(response, "status_code"), _get(response, "body")
        if status != 200:
            words = _get(body, "error", "message") or _get(body, "message") or "no reason"
            shown = one_line(clean(str(words)), 200)
            if status == 400 and re.search(POLICY, shown, re.IGNORECASE):
                return Reply("", "content_filter", 0, 0, 0.0)  # it would say so again
            raise AnswerError(f"the service gave no answer ({status}): {shown}")
        library, sent = litellm(), question.get("sent")
        try:
            answer = library.utils.convert_to_model_response_object(
                response_object=body, model_response_object=library.ModelResponse()
            )
            return read_reply(self._info, answer, sent if type(sent) is int else 0)
        except Exception as error:  # litellm's are of many kinds
            raise AnswerError("there is no message of a model in it") from error

    def keep(self, key: str, reply: Reply) -> None:
        """Keep an answer that is on the bill, and forget the question.

        Raises:
            StorageError: The disk refused.
        """
        self._cache.put(key, self._info.name, reply)
        (self._folder / f"{key}.json").unlink(missing_ok=True)


def _get(value: object, *names: str) -> Any:
    """Return what is in nested objects below some names; None if it is not there."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
