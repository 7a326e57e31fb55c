"""The forms of a bank that other programs read: Agent Skills, a document, JSON Lines.

No form but the archive can be opened as a bank; skills can be installed as one again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltamem_tui.errors import UsageError
from deltamem_tui.paths import ARCHIVE_SUFFIX
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank


@dataclass(frozen=True, slots=True)
class Replacing:
    """What may go of that which lies where a form is written.

    Attributes:
        allowed: What an export wrote.
        changed: That too where somebody changed it since, as far as a form can tell.
    """

    allowed: bool = False
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """A form in which a bank can be written.

    Attributes:
        ending: What the name of the file or folder ends with.
        note: What to do with it, for a person.
        write: Writes a bank to a path, and tells what was written.
    """

    ending: str
    note: str
    write: Callable[[Bank, Path, Replacing], dict[str, Any]]


def _skills(bank: Bank, path: Path, replacing: Replacing) -> dict[str, Any]:
    from dataclasses import asdict

    from deltamem_tui.memory.skills.writing import write_skills

    written = write_skills(bank, path, replace=replacing.allowed, discard_changes=replacing.changed)
    return asdict(written) | {"folder": path}


def _markdown(bank: Bank, path: Path, replacing: Replacing) -> dict[str, Any]:
    from deltamem_tui.memory.transfer.plain import write_markdown

    write_markdown(bank, path, replace=replacing.allowed)
    return {"file": path, "nodes": _nodes(bank)}


def _jsonl(bank: Bank, path: Path, replacing: Replacing) -> dict[str, Any]:
    from deltamem_tui.memory.transfer.plain import write_jsonl

    write_jsonl(bank, path, replace=replacing.allowed)
    return {"file": path, "nodes": _nodes(bank)}


def _nodes(bank: Bank) -> int:
    from deltamem_tui.bank.node import TREES

    return sum(len(bank.tree(name)) for name in TREES)


FORMS: Mapping[str, Form] = {
    "skills": Form(
        "-skills",
        "put the folders where your agent looks for skills; `deltamem install` reads them back",
        _skills,
    ),
    "markdown": Form(".md", "a document to read; it cannot be installed again", _markdown),
    "jsonl": Form(".jsonl", "a node a line, with its chain; it cannot be installed again", _jsonl),
}

_ENDINGS = {"an archive": ARCHIVE_SUFFIX, "markdown": ".md", "jsonl": ".jsonl"}


def checked_name(form: str, path: Path) -> Path:
    """A path to write a form to, which is not called like a file of another form.

    Raises:
        UsageError: It is; whoever met the file would take it for what it is not.
    """
    for other, ending in _ENDINGS.items():
        if other != form and path.name.endswith(ending):
            raise UsageError(
                f"{one_line(path.name, 80)} is called like {other}, and --as {form} writes none",
                hint=f"end it with {FORMS[form].ending}, or leave --as {form}",
            )
    return path
