"""A reply: what came back from a model, before anybody judged it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Message = dict[Literal["role", "content"], str]


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back from one call.

    Attributes:
        text: What the model said, without control characters; it may be empty.
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
