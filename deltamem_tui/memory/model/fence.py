"""Fences around what others wrote, so that a model can tell the material from the request.

Text inside of a fence cannot close it: whatever could be read as the fence's mark loses its
bracket, also with white space, another script's bracket or invisible characters in it.
"""

from __future__ import annotations

import re

from deltamem_tui.text import clean

_MARK = "record"
_INVISIBLE = "[\u00ad\u200b-\u200d\u2060]*"
_LOOKALIKE = re.compile(
    rf"[<\uff1c\u2039\u3008](?=[\s/\u2044\u2215\uff0f\u00ad\u200b-\u200d\u2060]*{_INVISIBLE.join(_MARK)})",
    re.IGNORECASE,
)


def block(name: str, text: str) -> str:
    """A fenced block: what it is, and what somebody wrote."""
    inside = fenced(text) or "(nothing)"
    return f'<{_MARK} of="{name}">\n{inside}\n</{_MARK}>'


def fenced(text: str) -> str:
    """`text`, clean and unable to close the fence it is put behind."""
    return _LOOKALIKE.sub("(", clean(text)).strip()
