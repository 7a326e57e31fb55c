"""Keys stay out of everything that is shown or kept: errors, journals, caches, debug output."""

from __future__ import annotations

import os
import re
from urllib.parse import urlsplit

# Narrow, because what is hidden is hidden in answers too: what a bank learns must not depend on
# a variable such as MAX_TOKENS.
_NAMES = re.compile(r"_KEY$|_TOKEN$|SECRET|PASSWORD", re.IGNORECASE)
_LOOKS = re.compile(
    r"(?i:bearer)\s+[^\s\"',;]+"
    r"|\b(?:sk|pk|rk|gsk|xai|hf|key)[-_][\w*-]{6,}"
    r"|\bAIza[\w-]{10,}"
    r"|\beyJ[\w-]{10,}(?:\.[\w-]+)*"
    r"|(?<=://)[^/\s@]+(?=@)"
)
_HIDDEN = "[hidden]"
_SHORTEST = 6


def hide(text: str, key: str | None = None) -> str:
    """`text` without the key in use, the secrets of the environment, and what looks like a key."""
    return _LOOKS.sub(_HIDDEN, hide_known(text, key))


def hide_known(text: str, key: str | None = None) -> str:
    """`text` without the key in use and the secrets of the environment."""
    values = [value for name, value in os.environ.items() if _NAMES.search(name)]
    for value in sorted({key or "", *values}, key=len, reverse=True):
        if len(value) >= _SHORTEST or value == key:
            text = text.replace(value, _HIDDEN) if value else text
    return text


def without_secrets(mistyped: str) -> str:
    """What was given as a server's address and is none, without user, password and query."""
    bare = mistyped.partition("?")[0]
    return hide(f"{_HIDDEN}@{bare.rpartition('@')[2]}" if "@" in bare else bare)


def host(address: str) -> str:
    """The part of a server's address that may be shown: no user, no password, no query."""
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname or '?'}{port}{parts.path}"
    except ValueError:
        return "the given address"
