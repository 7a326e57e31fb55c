"""What went wrong with a call, and whether to try again.

litellm's errors are read by status code, which is steadier than their classes: a 403 and a 529
come as the same class. Its words are shown only shortened and with keys hidden.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from deltamem_tui.errors import (
    AnswerError,
    CredentialsError,
    LanguageModelError,
    ModelNotFoundError,
    ModelUnavailableError,
    PromptTooLongError,
    RequestRefusedError,
)
from deltamem_tui.llm.secrets import hide
from deltamem_tui.text import clean, one_line

_PREAMBLE = re.compile(r"^(?:(?:litellm\.)?\w*(?:Error|Exception|Timeout)\w*(?: Error)?[:\s-]+)+")
_NO_MODEL = re.compile(
    r"model[\w\s`'\"./:-]{0,80}(?:not (?:exist|found)|unknown|invalid)|no such model", re.IGNORECASE
)
_NO_KEY = re.compile(r"missing credentials|api_key client option|no api key", re.IGNORECASE)
_NO_MONEY = re.compile(
    r"insufficient[_ ](?:quota|balance|funds)|billing|exceeded your .*quota", re.IGNORECASE
)
_TOO_LONG = re.compile(
    r"context (?:length|window|size)|too many tokens|too long|maximum number of tokens",
    re.IGNORECASE,
)
_POLICY = re.compile(
    r"content[_ ](?:policy|filter|management)|safety (?:system|policy)", re.IGNORECASE
)
_WIDTH = 200
_LONGEST = 2_000


class QuestionCancelledError(LanguageModelError):
    """The answer is not wanted any more, so the model was not asked, or not asked again."""

    def __init__(self) -> None:
        super().__init__(
            "the question was cancelled before it was answered",
            hint="what is finished is kept; run again to go on",
        )


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that brought no answer.

    Attributes:
        error: What to tell a person if this is the end of it.
        again: Whether the same call may work later.
        wait: Seconds that the server asks to wait; None if it does not say.
        complaint: The server's words if it refused the request's form, else empty.
        perhaps_paid: Whether the model may have answered, and be paid for it, all the same.
    """

    error: LanguageModelError
    again: bool = False
    wait: float | None = None
    complaint: str = ""
    perhaps_paid: bool = False


def failure(raised: BaseException, model: str, now: float, key: str | None = None) -> Failure:
    """What an exception of litellm means; the key in use is hidden in what is shown.

    `now`, in seconds since 1970, is for a server that names a moment to wait for.
    """
    status = getattr(raised, "status_code", None)
    # Hidden before anything is cut: a part of a key would not be known for one.
    told = one_line(hide(clean(str(raised)), key), _LONGEST)
    words = one_line(_PREAMBLE.sub("", told), _WIDTH).rstrip(".")  # more follows it
    name = one_line(model, 80)
    if status == 401 or _NO_KEY.search(words):
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
        return _refused(status, words, name)
    return Failure(
        ModelUnavailableError(
            f"{name} did not answer: {_what(raised, words)}",
            hint="what is finished is kept; run again later to go on",
        ),
        again=True,
        wait=_retry_after(raised, now),
        perhaps_paid=not _was_turned_away(raised),
    )


def _was_turned_away(raised: BaseException) -> bool:
    """Whether the server said no, or was never reached; else the model may have answered."""
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


def _refused(status: int, words: str, name: str) -> Failure:
    if _TOO_LONG.search(words) or status == 413:
        return Failure(PromptTooLongError(f"the prompt does not fit the window of {name}"))
    if _POLICY.search(words):
        return Failure(AnswerError(f"{name} refuses this text by its content policy"))
    if _NO_MODEL.search(words):
        return Failure(_not_found(name))
    return Failure(RequestRefusedError(f"{name} refuses the request: {words}"), complaint=words)


def _not_found(name: str) -> ModelNotFoundError:
    return ModelNotFoundError(
        f"there is no model {name} at its provider", hint="check the name and the server's address"
    )


def _what(raised: BaseException, words: str) -> str:
    status = getattr(raised, "status_code", None)
    if status == 429:
        return "too many requests"
    if status in {408, 504}:
        return "no answer in time"
    return f"{words} ({status})" if _headers(raised) else words


def _headers(raised: BaseException) -> Mapping[str, str]:
    """What a server's answer had above its text; nothing if no server answered."""
    headers = getattr(raised, "litellm_response_headers", None)
    return headers if isinstance(headers, Mapping) else {}


def _retry_after(raised: BaseException, now: float) -> float | None:
    """The seconds that the server asks to wait, written as a number or as a date."""
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
