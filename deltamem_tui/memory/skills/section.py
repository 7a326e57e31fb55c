"""One node as a section of markdown, and back.

A section opens with a comment that holds what a reader of the text need not see, as JSON.
Then come the node's texts, each under a heading and inside a fence that the text cannot
close, so that they read as data and come back as they were:

    <!-- deltamem {"id": …} -->

    ## When

    ```text
    the task is to boil water
    ```

A text that a person changed comes back as the node's next revision.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import orjson

from deltamem_tui.bank import codec
from deltamem_tui.bank.node import Node, Payload, TreeName
from deltamem_tui.errors import BankCorruptError, RecordError
from deltamem_tui.memory.skills.markdown import fenced
from deltamem_tui.text import clean

FIELDS: dict[TreeName, tuple[str, str, str]] = {
    "task": ("When", "How", "Done when"),
    "env": ("Where", "What", "Done when"),
}
_PLACES = {heading: place for names in FIELDS.values() for place, heading in enumerate(names)}
_MARKER = re.compile(r"<!-- deltamem (\{.*\}) -->")
_HEADING = re.compile(r"#{1,6} +(.+?) *#*")
_FENCE = re.compile(r"(`{3,})[^`]*")


@dataclass(frozen=True, slots=True)
class Section:
    """One node as a file holds it.

    Attributes:
        tree: The tree that the node belongs to.
        node: The node; its depth is 0, because a section alone does not know it.
        place: Its place among the nodes of its tree, in order of birth.
        changed: Whether the text is another than the one that was written.
        line: The line of the file where the section begins, from 1.
    """

    tree: TreeName
    node: Node
    place: int
    changed: bool
    line: int


def write(tree: TreeName, node: Node, place: int, level: int = 2) -> str:
    """A node as markdown.

    Args:
        tree: The tree that holds the node.
        node: The node.
        place: Its place in order of birth.
        level: The level of the headings over its texts.
    """
    cleaned = replace(
        node, payload=Payload(*(clean(text) for text in asdict(node.payload).values()))
    )
    parts = [f"<!-- deltamem {_facts(tree, cleaned, place)} -->"]
    for heading, text in zip(FIELDS[tree], asdict(cleaned.payload).values(), strict=True):
        if text:
            parts.append(f"{'#' * level} {heading}\n\n{fenced(text)}")
    return "\n\n".join(parts)


def read(text: str, source: str) -> Iterator[Section]:
    """All sections of a file, in its order.

    Args:
        text: The file's text.
        source: The file's name, for errors.

    Raises:
        RecordError: A section's comment, or its text, is not that of a node.
    """
    for line, match, below in _parts(clean(text).split("\n"), _MARKER):
        yield _section(match[1], _texts(below), line, source)


def _facts(tree: TreeName, node: Node, place: int) -> str:
    """What stands in the comment: plain ASCII, in which nothing can end the comment."""
    facts = {
        "tree": tree,
        "id": node.id,
        "parent": node.parent,
        "label": node.label,
        "revision": node.revision,
        "consolidated": node.consolidated,
        "origin": orjson.loads(codec.to_line(node))["origin"],
        "place": place,
        "digest": _digest(node),
    }
    return json.dumps(facts, separators=(",", ":")).replace(">", "\\u003e")


def _digest(node: Node) -> str:
    """A digest of all that a person may change in a section."""
    said = [node.parent, node.label, node.consolidated, node.payload]
    return hashlib.sha256(orjson.dumps(said)).hexdigest()[:16]


def _section(facts: str, texts: tuple[str, str, str], line: int, source: str) -> Section:
    position = f"line {line}"
    try:
        record = orjson.loads(facts)
        tree, place = record["tree"], record["place"]
        if tree not in FIELDS or type(place) is not int:
            raise ValueError(f"no tree {str(tree)[:20]!r} or no place")
        for heading, said in zip(FIELDS[tree][:2], texts, strict=False):
            if not said:
                raise ValueError(f"the text under {heading!r} is missing")
        node = codec.from_line(_line(record, texts), source, position)
    except (ValueError, KeyError, TypeError) as error:
        reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
        raise _refused(reason, source, position) from error
    except BankCorruptError as error:
        raise _refused(error.message.removeprefix("not a node: "), source, position) from error
    changed = _digest(node) != record.get("digest")
    node = replace(node, depth=0, revision=node.revision + changed)
    return Section(tree, node, place, changed, line)


def _line(record: dict[str, Any], texts: tuple[str, str, str]) -> bytes:
    """The node's line, so that a stranger's node is checked where all of them are."""
    parent = record["parent"]
    known = ("id", "parent", "label", "revision", "consolidated", "origin")
    fields = zip(asdict(Payload("", "")), texts, strict=True)
    shape = {"kind": "residual" if parent else "root", "depth": 2 if parent else 1}
    return orjson.dumps({key: record[key] for key in known} | shape | dict(fields))


def _refused(reason: str, source: str, position: str) -> RecordError:
    return RecordError(
        f"not a node's section: {reason}",
        source=source,
        position=position,
        hint="export the bank again, and change only the texts inside the fences",
    )


def _texts(lines: list[str]) -> tuple[str, str, str]:
    """The three texts of a section, by their headings."""
    texts = ["", "", ""]
    for _, match, below in _parts(lines, _HEADING):
        if match[1] in _PLACES:
            texts[_PLACES[match[1]]] = _unfenced(below)
    return texts[0], texts[1], texts[2]


def _parts(
    lines: list[str], opening: re.Pattern[str]
) -> Iterator[tuple[int, re.Match[str], list[str]]]:
    """The parts that begin with a line of a kind: its number from 1, the line, and those below."""
    found = [
        (number, match)
        for number in _outside_fences(lines)
        if (match := opening.fullmatch(lines[number]))
    ]
    ends = [number for number, _ in found[1:]] + [len(lines)]
    for (number, match), end in zip(found, ends, strict=False):
        yield number + 1, match, lines[number + 1 : end]


def _unfenced(lines: list[str]) -> str:
    """What a fence holds; the lines themselves where a person took the fence away."""
    for start, line in enumerate(lines):
        if match := _FENCE.fullmatch(line):
            body = lines[start + 1 :]
            return "\n".join(body[: body.index(match[1])] if match[1] in body else body)
        if line.strip():
            break
    return "\n".join(lines).strip()


def _outside_fences(lines: list[str]) -> Iterator[int]:
    """The numbers of the lines that stand in no fence."""
    fence = ""
    for number, line in enumerate(lines):
        if fence:
            if line == fence:
                fence = ""
        elif match := _FENCE.fullmatch(line):
            fence = match[1]
        else:
            yield number
