"""Fences around what others wrote, so that a model can tell the material from the request.

A fence ends with the sign it began with, a digest of what is in it: no text can hold its own,
and the same text has the same one, so a prompt stays the same from run to run. A mark that is
written plainly inside loses its bracket besides, for models that do not look closely; what is
disguised stays as it is, and lacks the sign.
"""

from __future__ import annotations

import hashlib
import re

from deltamem_tui.text import clean

_MARK = "record"
_PLAIN = re.compile(rf"<(?=\s*/?\s*{_MARK})", re.IGNORECASE)
# 64 bits: too many to find a text that holds its own sign by trying.
_SIGN_LENGTH = 16


def block(name: str, text: str) -> str:
    """A fenced block: what it is, and what somebody wrote."""
    inside = fenced(text) or "(nothing)"
    sign = hashlib.sha256(inside.encode()).hexdigest()[:_SIGN_LENGTH]
    return f'<{_MARK} of="{name}" sign="{sign}">\n{inside}\n</{_MARK} sign="{sign}">'


def fenced(text: str) -> str:
    """`text`, clean and without a plain mark that could be taken for its fence's."""
    return _PLAIN.sub("(", clean(text)).strip()
