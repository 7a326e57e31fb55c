"""Text as markdown: what a bank says can neither format nor link nor close a fence."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|!&~]")
_BACKTICKS = re.compile(r"`+")


def escaped(text: str) -> str:
    """A text on one line in which nothing is markdown."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def fenced(text: str) -> str:
    """A text inside a fence that it cannot close."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"
