"""The files of a bank's Agent Skills: their names, their text, and the list of what was written.

```
DIR/
  deltamem.json                the bank, and each file and node that was written for it
  <skill>/SKILL.md             a root that says how: when to use it, and which files to read
  <skill>/how.md               what was learnt at that root
  <skill>/references/<x>.md    one residual below it
  knowledge/<x>.md             any other root, with all below it
```

Agents expand SKILL.md when they load it: they run commands in it and fill in arguments. So its
body holds nothing that was learnt; the other files, which they only read, hold all of it. Each
node on a page begins with its number, `## 1. the kitchen`, and each of its texts is under a heading
of the third level, inside a fence that it cannot close.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Container, Mapping
from functools import partial
from typing import Any

import msgspec
import orjson
from msgspec import Struct, structs

from deltamem_tui.bank.node import REVISION_LIMIT, Node, born, from_line, to_line
from deltamem_tui.errors import BankCorruptError, RecordError, UsageError
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.method import DEFAULT, Method, method_named
from deltamem_tui.text import clean, one_line

BANK_FILE, SKILL_FILE, HOW_FILE = "deltamem.json", "SKILL.md", "how.md"
REFERENCES, KNOWLEDGE, PAGE_SUFFIX = "references", "knowledge", ".md"
FORMAT = 3
DESCRIPTION_LIMIT = 1024
MOST_FILES, FILE_BYTES, ALL_BYTES, LISTING_BYTES = 500_000, 8 * 2**20, 256 * 2**20, 64 * 2**20
"""Limits of a folder of skills. Exports keep to them too, so that they can be read back."""

_WORDS_LENGTH = 56  # of a name of at most 64 characters, which leaves room for digits
_ID_DIGITS = 6
_TITLE_WIDTH = 80
_BETWEEN = re.compile(r"[^a-z0-9]+")
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|!&~]")
_BACKTICKS = re.compile(r"`+")
_FENCE = re.compile(r"(`{3,})[^`]*")
_NUMBERED = re.compile(r"## (\d{1,9})\. .*")
_RULE = re.compile("-{3,}")
_EXPANDED = re.compile(r"\$(?=[\w{(])|(?<!\w)@(?=\S)")


def slug(text: str, length: int = _WORDS_LENGTH) -> str:
    """Return the start of a text as a name of at most `length` characters; it may be empty."""
    plain = unicodedata.normalize("NFKD", text[: 8 * length]).encode("ascii", "ignore").decode()
    name = _BETWEEN.sub("-", plain.lower()).strip("-")
    if len(name) > length:
        name = name[: length + 1].rpartition("-")[0] or name[:length]
    return name.strip("-")


class Names:
    """Names of nodes in one folder: their words, and digits of the id where those are taken."""

    def __init__(self, *reserved: str) -> None:
        self._taken = set(reserved)

    def name(self, node: Node) -> str:
        """Return a name for a node that no other has."""
        words = slug(node.title)
        choices = (words, f"{words}-{node.id[:_ID_DIGITS]}".strip("-"), f"node-{node.id}")
        name = next(each for each in choices if each and each not in self._taken)
        self._taken.add(name)
        return name


def method_of_skills(name: object) -> Method:
    """Return a method by the name in a folder's list; the usual one if none is named.

    Raises:
        RecordError: There is no such method here.
    """
    try:
        return method_named(str(name or DEFAULT))
    except UsageError as error:
        raise RecordError(error.message, hint=error.hint) from error


# Pages


def escaped(text: str) -> str:
    """Return a text of one line with its markdown escaped."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def fenced(text: str) -> str:
    """Return a text inside a fence that it cannot close."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def inert(text: str) -> str:
    """Return a text of one line that stays as it is where an agent expands commands and files.

    Three hyphens together end the front matter for some readers, even inside a word.
    """
    plain = one_line(text, DESCRIPTION_LIMIT).replace("`", "'").replace("<", "‹")
    return one_line(_RULE.sub("—", _EXPANDED.sub(r"\g<0> ", plain)), DESCRIPTION_LIMIT)


def title_of(node: Node, display: Display) -> str:
    """Return the heading of a node."""
    warning = "Warning: " if node.label == "failure" else ""
    title = display.of_title(node) if not display.layered else node.title
    return escaped(warning + one_line(title, _TITLE_WIDTH))


def headings(method: Method, tree: str) -> dict[str, str]:
    """Return the field under each heading."""
    return {method.display[tree].label(name): name for name in method.collections[tree].fields}


def section(method: Method, tree: str, node: Node) -> str:
    """Return the texts of a node as markdown."""
    return "\n\n".join(
        f"### {heading}\n\n{fenced(node.payload[name])}"
        for heading, name in headings(method, tree).items()
        if node.payload[name] or name not in method.display[tree].optional
    )


def parsed(page: str, fields: Container[str]) -> dict[int, dict[str, str]]:
    """Return the texts on a page by the number of their node and their heading.

    Raises:
        ValueError: Two nodes have one number.
    """
    found: dict[int, dict[str, str]] = {}
    texts: dict[str, str] = {}
    heading = ""
    lines = iter(page.split("\n"))
    for line in lines:
        if number := _NUMBERED.fullmatch(line):
            if int(number[1]) in found:
                raise ValueError(f"two nodes have the number {number[1]}")
            texts, heading = found.setdefault(int(number[1]), {}), ""
        elif line.startswith("#"):
            name = line.removeprefix("### ").strip()
            heading = name if name in fields and name not in texts else ""
        elif fence := _FENCE.fullmatch(line):
            inside = iter(partial(next, lines, fence[1]), fence[1])
            text = "\n".join(inside)
            if heading:
                texts[heading], heading = text, ""
    return found


# The list


class NodeRecord(Struct, frozen=True):
    """A node without its texts, as the list holds it.

    Attributes:
        place: Its place among the nodes of its tree, in order of birth.
        digest: A digest of all that a person may change.
    """

    id: str
    parent: str | None
    label: str
    revision: int
    consolidated: bool
    origin: dict[str, Any]
    place: int
    digest: str


class ListedFile(Struct, frozen=True):
    """A file as it was written: the SHA-256 of its text, and its nodes in order of their numbers.

    A SKILL.md has no nodes.
    """

    digest: str
    tree: str = ""
    nodes: tuple[NodeRecord, ...] = ()


class Listing(Struct, frozen=True):
    """The content of `deltamem.json`.

    Attributes:
        bank: What the bank was: name, method, description, domain, embedder, parameters.
        files: What was written, by its path below the folder.
    """

    bank: dict[str, Any] = {}
    files: dict[str, ListedFile] = {}
    skills_format: int = FORMAT

    def encoded(self) -> bytes:
        """Return the file's bytes."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"


def listing_of(text: bytes, source: str) -> Listing:
    """Parse `deltamem.json`, whoever wrote it.

    Raises:
        RecordError: It is not of this format.
    """
    try:
        if text.count(b"[") + text.count(b"{") > 2 * MOST_FILES:
            raise ValueError("too many lists and objects")
        found = msgspec.json.decode(text, type=Listing)
        if found.skills_format != FORMAT:
            raise ValueError(f"format {found.skills_format}, and this version reads {FORMAT}")
        trees = method_of_skills(found.bank.get("method")).collections
        for each in found.files.values():
            if each.nodes and each.tree not in trees:
                raise ValueError(f"there is no tree {each.tree[:40]!r}")
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise RecordError(
            f"not a list of exported skills: {one_line(str(error), 120)}",
            source=source,
            hint="export the bank again",
        ) from error
    return found


def digest_of_text(text: str) -> str:
    """Return the digest by which a file is known again, whatever its line ends."""
    return hashlib.sha256(text.encode()).hexdigest()


def record_of(tree: str, node: Node, place: int) -> tuple[NodeRecord, Node]:
    """Return the record of a node, and the node in clean text, as markdown can hold it.

    If that is another text than its id is made from, it becomes the next revision. So does a
    node that a merge had to put elsewhere.
    """
    payload = {name: clean(text) for name, text in node.payload.items()}
    cleaned = structs.replace(node, payload=payload)
    if payload != node.payload or not _matches_id(tree, node):
        cleaned = _revised(cleaned)
    origin = orjson.loads(to_line(cleaned))["origin"]
    record = NodeRecord(
        node.id,
        node.parent,
        node.label,
        cleaned.revision,
        node.consolidated,
        origin,
        place,
        _node_digest(cleaned),
    )
    return record, cleaned


def node_of(
    method: Method, tree: str, record: NodeRecord, texts: Mapping[str, str]
) -> tuple[Node, bool]:
    """Return the node of a record and its texts, of depth 0, and whether a person changed it.

    A changed one is its next revision.

    Raises:
        ValueError: A text is missing, or it is not a node.
    """
    payload = {}
    for heading, name in headings(method, tree).items():
        if heading not in texts and name not in method.display[tree].optional:
            raise ValueError(f"the text under {heading!r} is missing")
        payload[name] = texts.get(heading, "")
    shape = {"kind": "residual", "depth": 2} if record.parent else {"kind": "root", "depth": 1}
    known = structs.asdict(record)
    del known["place"], known["digest"]
    try:
        line = orjson.dumps(known | shape | payload)
        node = from_line(line, method.collections[tree], "", "")
    except (BankCorruptError, TypeError) as error:
        reason = error.message if isinstance(error, BankCorruptError) else str(error)
        raise ValueError(reason.removeprefix("not a node: ")) from error
    changed = _node_digest(node) != record.digest or not _matches_id(tree, node)
    return structs.replace(_revised(node) if changed else node, depth=0), changed


def _matches_id(tree: str, node: Node) -> bool:
    """Return whether a node of revision 0 has the text that its id is made from."""
    if node.revision:
        return True
    parent = structs.replace(node, id=node.parent) if node.parent else None
    return born(tree, parent, node.label, node.payload, node.origin).id == node.id


def _revised(node: Node) -> Node:
    return structs.replace(node, revision=min(node.revision + 1, REVISION_LIMIT))


def _node_digest(node: Node) -> str:
    parts = [node.parent, node.label, node.consolidated, node.payload]
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()[:16]
