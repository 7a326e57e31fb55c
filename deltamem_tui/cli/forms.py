"""The forms of a bank that other programs read: Agent Skills, a document, JSON Lines.

No form but the archive can be opened as a bank; skills can be installed as one again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank


@dataclass(frozen=True, slots=True)
class Form:
    """A form in which a bank can be written.

    Attributes:
        ending: What the name of the file or folder ends with.
        note: What to do with it, for a person.
        write: Writes a bank to a path, with or without replacing what is there, and tells
            what was written.
    """

    ending: str
    note: str
    write: Callable[[Bank, Path, bool], dict[str, Any]]


def _skills(bank: Bank, path: Path, replace: bool) -> dict[str, Any]:
    from dataclasses import asdict

    from deltamem_tui.memory.skills.writing import write_skills

    return asdict(write_skills(bank, path, replace=replace)) | {"folder": path}


def _markdown(bank: Bank, path: Path, replace: bool) -> dict[str, Any]:
    from deltamem_tui.memory.travel.plain import write_markdown

    write_markdown(bank, path, replace=replace)
    return {"file": path, "nodes": _nodes(bank)}


def _jsonl(bank: Bank, path: Path, replace: bool) -> dict[str, Any]:
    from deltamem_tui.memory.travel.plain import write_jsonl

    write_jsonl(bank, path, replace=replace)
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
