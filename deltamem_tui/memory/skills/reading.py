"""A folder of Agent Skills → the nodes of a bank; those written elsewhere become roots."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from deltamem_tui.bank.codec import DEPTH_LIMIT
from deltamem_tui.bank.node import TREES, Node, Origin, Payload, TreeName, born
from deltamem_tui.errors import RecordError
from deltamem_tui.memory.skills import section
from deltamem_tui.memory.skills.section import Section
from deltamem_tui.memory.skills.writing import BANK_FILE, FORMAT, KNOWLEDGE, REFERENCES, SKILL_FILE
from deltamem_tui.text import clean, one_line

EXTRACTOR = "skill"
FILE_LIMIT = 16 * 1024 * 1024
FILES_LIMIT = 1_000_000
TOTAL_LIMIT = 2 * 1024 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SkillBook:
    """What a folder of skills holds.

    Attributes:
        nodes: Per tree, the nodes in order of birth, parents before children.
        facts: What the folder says of the bank it was exported from; empty for others' skills.
        changed: Ids of nodes whose text was changed since they were exported.
        adopted: Folders of skills that another program wrote; each became a root.
        left: Files that hold nothing for a bank, with the reason.
    """

    nodes: Mapping[TreeName, tuple[Node, ...]]
    facts: Mapping[str, Any] = field(default_factory=dict)
    changed: tuple[str, ...] = ()
    adopted: tuple[str, ...] = ()
    left: tuple[RecordError, ...] = ()


def is_skills_folder(folder: Path) -> bool:
    """Whether a folder holds skills: an export of a bank, or folders with a SKILL.md."""
    if (folder / BANK_FILE).is_file() or (folder / SKILL_FILE).is_file():
        return True
    with os.scandir(folder) as entries:
        return any(entry.is_dir() and Path(entry, SKILL_FILE).is_file() for entry in entries)


def read_skills(folder: Path) -> SkillBook:
    """Read all skills and knowledge in a folder.

    Raises:
        RecordError: A file is too large or a link, a section is no node's, an id stands
            twice, or a residual's parent is nowhere. The error names the file.
    """
    facts = _facts(folder / BANK_FILE)
    found: dict[TreeName, dict[str, tuple[Section, str]]] = {name: {} for name in TREES}
    adopted: list[str] = []
    left: list[RecordError] = []
    for path in _markdown(folder):
        source = str(path)
        text = _text(path)
        sections = list(section.read(text, source))
        for each in sections:
            _take(found[each.tree], each, source)
        if not sections and path.name == SKILL_FILE:
            each = _adopted(path, text)
            _take(found["task"], each, source)
            adopted.append(str(path.parent))
        elif not sections:
            reason = "holds no node of a bank"
            left.append(RecordError(reason, source=source, hint="it was left out"))
    return SkillBook(
        nodes={name: _in_order(sections) for name, sections in found.items()},
        facts=facts,
        changed=tuple(
            each.node.id
            for sections in found.values()
            for each, _ in sections.values()
            if each.changed
        ),
        adopted=tuple(adopted),
        left=tuple(left),
    )


def _take(found: dict[str, tuple[Section, str]], each: Section, source: str) -> None:
    if each.node.id in found:
        raise RecordError(
            f"node {each.node.id} stands twice, also in {found[each.node.id][1]}",
            source=source,
            position=f"line {each.line}",
            hint="keep one of the two",
        )
    found[each.node.id] = (each, source)


def _in_order(found: Mapping[str, tuple[Section, str]]) -> tuple[Node, ...]:
    """The nodes in order of birth with their depths, each after its parent."""
    ordered = sorted(found.values(), key=lambda item: (item[0].place, item[1], item[0].line))
    nodes: dict[str, Node] = {}
    for each, source in ordered:
        way: list[Node] = []
        step: Node | None = each.node
        while step is not None and step.id not in nodes:
            way.append(step)
            if len(way) > min(len(found), DEPTH_LIMIT):
                raise RecordError(
                    f"node {each.node.id} is above itself",
                    source=source,
                    hint="name another parent",
                )
            step = _parent(step, found, source)
        for node in reversed(way):
            depth = nodes[node.parent].depth + 1 if node.parent else 1
            nodes[node.id] = replace(node, depth=depth)
    return tuple(nodes.values())


def _parent(node: Node, found: Mapping[str, tuple[Section, str]], source: str) -> Node | None:
    if node.parent is None:
        return None
    if node.parent not in found:
        raise RecordError(
            f"the parent {node.parent} of node {node.id} is in no file",
            source=source,
            hint="bring its file back, or take this one out",
        )
    return found[node.parent][0].node


def _adopted(path: Path, text: str) -> Section:
    """A skill that another program wrote, as a root: its description says when, its body how."""
    import yaml

    source = str(path)
    head, body = _parted(clean(text))
    try:
        record = yaml.safe_load(head)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise RecordError(
            f"the front matter is not YAML: {one_line(str(error), 120)}", source=source
        ) from error
    description = record.get("description") if isinstance(record, dict) else None
    if not isinstance(description, str) or not description.strip() or not body.strip():
        raise RecordError(
            "a skill needs a description in its front matter, and a body", source=source
        )
    origin = Origin(extractor=EXTRACTOR, outcome_source="unknown")
    payload = Payload(description.strip(), body.strip())
    node = born("task", None, "success", payload, origin)
    return Section("task", replace(node, depth=0), place=2**31, changed=False, line=1)


def _parted(text: str) -> tuple[str, str]:
    """A file's front matter and its body."""
    lines = text.split("\n")
    if lines[0].rstrip() == "---":
        for number, line in enumerate(lines[1:], start=1):
            if line.rstrip() == "---":
                return "\n".join(lines[1:number]), "\n".join(lines[number + 1 :])
    return "", text


def _markdown(folder: Path) -> Iterator[Path]:
    """The files of skills and knowledge, in order of their names."""
    total = count = 0
    for path in sorted(_candidates(folder)):
        if any(part.is_symlink() for part in (path, *path.relative_to(folder).parents[:-1])):
            raise RecordError(
                "a link, not a file", source=str(path), hint="put the file in its place"
            )
        count, total = count + 1, total + path.stat().st_size
        if count > FILES_LIMIT or total > TOTAL_LIMIT:
            raise RecordError(
                f"more than {FILES_LIMIT:,} files or {TOTAL_LIMIT:,} bytes", source=str(folder)
            )
        yield path


def _candidates(folder: Path) -> Iterator[Path]:
    for skill in (folder, *folder.glob("*")):
        yield from skill.glob(SKILL_FILE)
        yield from (skill / REFERENCES).glob("*.md")
    yield from (folder / KNOWLEDGE).glob("*.md")


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > FILE_LIMIT:
            raise RecordError(f"larger than the {FILE_LIMIT:,} bytes of a file", source=str(path))
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise RecordError("not UTF-8 text", source=str(path), hint="save it as UTF-8") from error
    except OSError as error:
        raise RecordError(f"cannot be read: {error.strerror}", source=str(path)) from error


def _facts(path: Path) -> Mapping[str, Any]:
    """What an export says of its bank; nothing if the skills are not from a bank."""
    if not path.is_file():
        return {}
    try:
        facts = orjson.loads(_text(path))
    except orjson.JSONDecodeError as error:
        raise RecordError(f"not JSON: {error}", source=str(path)) from error
    if not isinstance(facts, dict) or facts.get("skills_format") != FORMAT:
        raise RecordError(
            f"not an export of format {FORMAT}",
            source=str(path),
            hint="a newer version may read it; without this file the skills alone are read",
        )
    return facts
