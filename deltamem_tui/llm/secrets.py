"""Keys stay out of everything that is shown or kept: errors, journals, caches, debug output."""

from __future__ import annotations

import os
import re
from urllib.parse import urlsplit

_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
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


def host(address: str) -> str:
    """The part of a server's address that may be shown: no user, no password, no query."""
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname or '?'}{port}{parts.path}"
    except ValueError:
        return "the given address"
