"""The scene of a coding agent: what the log names of the place where it worked."""

from __future__ import annotations

import re
from collections.abc import Iterable

from deltamem_tui.trajectory.readers.shapes import as_list, as_mapping, as_text

# Whose home it was is nobody's business, and the same project lies elsewhere for others.
_HOME = re.compile(
    r"^(?:/home/[^/]+|/Users/[^/]+|/root|[A-Za-z]:[\\/]Users[\\/][^\\/]+)(?=[\\/]|$)"
)
_REMOTE = re.compile(
    r"^(?:\w+://)?(?:[^@/\s]+@)?[\w.-]+\.\w+(?::\d+)?[:/](?P<path>[^\s?#]+?)(?:\.git)?/?$"
)
# `astropy__astropy-12907`: the owner, the repository, and the number of the issue.
_INSTANCE = re.compile(r"(?P<owner>[A-Za-z0-9-]+)__(?P<name>[\w.-]+)-\d+")


def workspace(
    *,
    repository: str = "",
    language: str = "",
    system: str = "",
    tools: Iterable[str] = (),
    directory: str = "",
) -> str:
    """The environment text of a coding agent, a line for everything that is known.

    Args:
        repository: `owner/name`, or the address it was cloned from.
        language: The main programming language.
        system: The operating system.
        tools: The names of the tools the agent was given.
        directory: Where it worked; the user's home folder in it becomes `~`.
    """
    lines = (
        ("Repository", repository_name(repository)),
        ("Language", language.strip()),
        ("Operating system", system.strip()),
        ("Working directory", without_home(directory.strip())),
        ("Tools", ", ".join(dict.fromkeys(tool for tool in tools if tool))),
    )
    return "\n".join(f"{name}: {value}" for name, value in lines if value)


def without_home(path: str) -> str:
    """A path with the user's home folder written `~`."""
    return _HOME.sub("~", path)


def repository_name(address: str) -> str:
    """`owner/name` of a clone address, whose user name and password are left out."""
    match = _REMOTE.match(address.strip())
    return match["path"] if match else address.strip()


def repository_of_issue(instance: str) -> str:
    """`owner/name` out of an issue's id as SWE-bench writes it; empty if it is another id."""
    match = _INSTANCE.fullmatch(instance)
    return f"{match['owner']}/{match['name']}" if match else ""


def tool_names(definitions: object) -> list[str]:
    """The names in a list of tool definitions, of any of the providers' shapes."""
    names = []
    for item in as_list(definitions):
        if isinstance(item, str):
            names.append(item)
            continue
        tool = as_mapping(item)
        function = as_mapping(tool.get("function"))
        names.append(as_text(function.get("name") or tool.get("name") or tool.get("title")))
    return [name for name in names if name]
