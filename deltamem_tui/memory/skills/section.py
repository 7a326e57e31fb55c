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
from collections.abc import Sequence
from dataclasses import dataclass

import orjson
from msgspec import structs

from deltamem_tui.bank import codec
from deltamem_tui.bank.node import REVISION_LIMIT, Node, born
from deltamem_tui.errors import BankCorruptError, BankError, RecordError
from deltamem_tui.memory.skills.form import SkillForm
from deltamem_tui.memory.skills.layout import SKILL_LIMITS
from deltamem_tui.memory.skills.markdown import Block, blocks, fenced
from deltamem_tui.text import clean


@dataclass(frozen=True, slots=True)
class NodeSection:
    """One node as a file holds it.

    Attributes:
        node: The node; its depth is 0, because a section alone does not know it.
        place: Its place among the nodes of its tree, in order of birth.
        changed: Whether its text differs from what was written, or from what its id was made from.
        line: The line of the file where the section begins, from 1.
    """

    tree: str
    node: Node
    place: int
    changed: bool
    line: int


@dataclass(frozen=True, slots=True)
class SkillPage:
    """What a file holds.

    Attributes:
        around: The lines that belong to no node, as number (from 1) and text, blank ones left out.
    """

    sections: Sequence[NodeSection]
    around: Sequence[tuple[int, str]]


def write(form: SkillForm, tree: str, node: Node, place: int, level: int = 2) -> str:
    """A node as markdown: its place in order of birth, and headings of a level over its texts.

    Raises:
        BankError: Its origin is longer than can be read back.
    """
    cleaned = _presentable(tree, node)
    parts = [f"<!-- deltamem {_facts(tree, cleaned, place)} -->"]
    headings = form.headings(tree)
    for name, text in cleaned.payload.items():
        if text or form.is_needed(tree, name):
            heading = headings[name]
            parts.append(f"{'#' * level} {heading}\n\n{fenced(text)}")
    return "\n\n".join(parts)


def read(form: SkillForm, text: str, source: str) -> SkillPage:
    """All sections of a file's text, and what stands around them.

    Raises:
        RecordError: A section's comment, or its text, is not that of a node.
    """
    text = clean(text)
    if text.count("\n") > SKILL_LIMITS.lines:
        raise RecordError(f"more than {SKILL_LIMITS.lines:,} lines", source=source)
    lines = text.split("\n")
    parsers: list[_SectionParser] = []
    around: list[tuple[int, str]] = []
    for block in blocks(lines):
        if block.kind == "marker":
            parsers.append(_SectionParser(form, block.text, block.start + 1, source))
        elif not (parsers and parsers[-1].takes(block, lines)):
            span = range(block.start, block.end)
            around += [(number + 1, lines[number]) for number in span if lines[number].strip()]
    return SkillPage([parser.section() for parser in parsers], around)


def _presentable(tree: str, node: Node) -> Node:
    """The node in clean text, as markdown can hold it.

    If that is another text than its id is made from, it becomes the next revision. So does a
    node that a merge had to put elsewhere.
    """
    payload = {name: clean(text) for name, text in node.payload.items()}
    cleaned = structs.replace(node, payload=payload)
    if payload == node.payload and _matches_id(tree, node):
        return cleaned
    return _revised(cleaned)


def _matches_id(tree: str, node: Node) -> bool:
    """Whether a node of revision 0 has the text that its id is made from."""
    if node.revision:
        return True
    parent = structs.replace(node, id=node.parent) if node.parent else None
    return born(tree, parent, node.label, node.payload, node.origin).id == node.id


def _revised(node: Node) -> Node:
    return structs.replace(node, revision=min(node.revision + 1, REVISION_LIMIT))


def _facts(tree: str, node: Node, place: int) -> str:
    """What stands in the comment: plain ASCII, in which nothing can end the comment."""
    record = {
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
    facts = json.dumps(record, separators=(",", ":")).replace(">", "\\u003e")
    if len(facts) > SKILL_LIMITS.facts:
        raise BankError(
            f"node {node.id} has more origin than fits into a skill",
            hint="export an archive, which holds all of it",
        )
    return facts


def _digest(node: Node) -> str:
    """A digest of all that a person may change in a section."""
    parts = [node.parent, node.label, node.consolidated, node.payload]
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()[:16]


class _SectionParser:
    """Parses one section, block by block."""

    def __init__(self, form: SkillForm, facts: str, line: int, source: str) -> None:
        self._form, self._line, self._source = form, line, source
        try:
            if len(facts) > SKILL_LIMITS.facts:
                raise ValueError(f"its comment is longer than {SKILL_LIMITS.facts:,} bytes")
            self._record = orjson.loads(facts)
            self._tree: str = self._record["tree"]
            if self._tree not in form.collections or type(self._record["place"]) is not int:
                raise ValueError(f"no tree {str(self._tree)[:20]!r} or no place")
        except (ValueError, KeyError, TypeError) as error:
            raise self._refused(error) from error
        self._fields = {text: name for name, text in form.headings(self._tree).items()}
        self._texts: dict[str, str] = {}
        self._seen: set[str] = set()
        self._open = ""
        self._loose: list[str] = []

    def takes(self, block: Block, lines: Sequence[str]) -> bool:
        """Take a block in, if it is part of the section: a text, or the heading over it."""
        if block.kind == "heading":
            self._close()
            # The first of its name is the node's; a second one belongs to the text around it.
            if block.text in self._fields and block.text not in self._seen:
                self._open = block.text
                self._seen.add(block.text)
            return bool(self._open)
        if not self._open:
            return False
        if block.kind == "fence" and not any(line.strip() for line in self._loose):
            self._put(block.text)
        else:  # without a fence, all up to the next heading is the text
            self._loose += lines[block.start : block.end]
        return True

    def _put(self, text: str) -> None:
        self._texts[self._fields[self._open]] = text
        self._open = ""
        self._loose = []

    def _close(self) -> None:
        """End a text that stands in no fence."""
        if text := "\n".join(self._loose).strip():
            self._put(text)
        self._open = ""
        self._loose = []

    def section(self) -> NodeSection:
        """The section, when all of it is there."""
        self._close()
        try:
            for heading, name in self._fields.items():
                if name not in self._texts and self._form.is_needed(self._tree, name):
                    raise ValueError(f"the text under {heading!r} is missing")
            collection = self._form.collections[self._tree]
            node = codec.from_line(
                self._node_line(), collection, self._source, f"line {self._line}"
            )
        except (ValueError, KeyError, TypeError) as error:
            raise self._refused(error) from error
        except BankCorruptError as error:
            raise self._refused(error.message.removeprefix("not a node: ")) from error
        changed = _digest(node) != self._record.get("digest") or not _matches_id(self._tree, node)
        node = structs.replace(_revised(node) if changed else node, depth=0)
        return NodeSection(self._tree, node, self._record["place"], changed, self._line)

    def _node_line(self) -> bytes:
        """The node's line, so that it is checked where all nodes are."""
        parent = self._record["parent"]
        known = ("id", "parent", "label", "revision", "consolidated", "origin")
        fields = {name: self._texts.get(name, "") for name in self._fields.values()}
        shape = {"kind": "residual" if parent else "root", "depth": 2 if parent else 1}
        return orjson.dumps({key: self._record[key] for key in known} | shape | fields)

    def _refused(self, reason: str | Exception) -> RecordError:
        if isinstance(reason, KeyError):
            reason = f"{reason.args[0]!r} is missing"
        return RecordError(
            f"not a node's section: {reason}",
            source=self._source,
            position=f"line {self._line}",
            hint="export the bank again, and change only the texts inside the fences",
        )
