"""The folder of a coding agent, as the text of its environment."""

from __future__ import annotations

import re
from collections.abc import Iterable

# The home folder is private, and the same project lies elsewhere for others.
_HOME = re.compile(
    r"^(?:/home/[^/]+|/Users/[^/]+|/root|[A-Za-z]:[\\/]Users[\\/][^\\/]+)(?=[\\/]|$)"
)
_REMOTE = re.compile(
    r"^(?:\w+://)?(?:[^@/\s]+@)?[\w.-]+\.\w+(?::\d+)?[:/](?P<path>[^\s?#]+?)(?:\.git)?/?$"
)


def workspace(
    *,
    repository: str = "",
    language: str = "",
    system: str = "",
    tools: Iterable[str] = (),
    directory: str = "",
) -> str:
    """Return the environment text of a coding agent, a line for everything that is known."""
    lines = (
        ("Repository", repository_name(repository)),
        ("Language", language.strip()),
        ("Operating system", system.strip()),
        ("Working directory", without_home(directory.strip())),
        ("Tools", ", ".join(dict.fromkeys(tool for tool in tools if tool))),
    )
    return "\n".join(f"{name}: {value}" for name, value in lines if value)


def without_home(path: str) -> str:
    """Return a path with the user's home folder written `~`."""
    return _HOME.sub("~", path)


def repository_name(address: str) -> str:
    """`owner/name` of a clone address, whose user name and password are left out."""
    match = _REMOTE.match(address.strip())
    return match["path"] if match else address.strip()
