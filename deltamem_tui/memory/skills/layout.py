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
body holds nothing that was learnt; the other files, which they only read, hold all of it. A text
stands under a heading of the third level, inside a fence that it cannot close. Where a page has
several nodes, each begins with its number on the page: `## 2. the kitchen at night`.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any

import msgspec
import orjson
from msgspec import Meta, Struct, structs

from deltamem_tui.bank import codec
from deltamem_tui.bank.node import REVISION_LIMIT, Node, born
from deltamem_tui.errors import BankCorruptError, RecordError, UsageError
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.method import Method
from deltamem_tui.memory.methods import DEFAULT, method_named
from deltamem_tui.text import clean, one_line

BANK_FILE, SKILL_FILE, HOW_FILE = "deltamem.json", "SKILL.md", "how.md"
REFERENCES, KNOWLEDGE, PAGE_SUFFIX = "references", "knowledge", ".md"
FORMAT = 2
NAME_LIMIT, DESCRIPTION_LIMIT = 64, 1024

_MEGABYTE = 1024 * 1024
_WORDS_LENGTH = 56  # of a name, which leaves room for digits
_ID_DIGITS = 6
_TITLE_WIDTH = 80
_NAME = "[a-z0-9]+(?:-[a-z0-9]+)*"
_PAGE = re.compile(rf"(?:{_NAME}/(?:SKILL|how|references/{_NAME})|{KNOWLEDGE}/{_NAME})\.md")
_BETWEEN = re.compile(r"[^a-z0-9]+")
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|!&~]")
_BACKTICKS = re.compile(r"`+")
_FENCE = re.compile(r"(`{3,})[^`]*")
_NUMBERED = re.compile(r"## (\d{1,9})\. .*")
_RULE = re.compile("-{3,}")
_EXPANDED = re.compile(r"\$(?=[\w{(])|(?<!\w)@(?=\S)")


@dataclass(frozen=True, slots=True)
class SkillLimits:
    """Limits of a folder of Agent Skills, in bytes; `entries` and `lines` (of a file) are numbers.

    Exports keep to them too, so that what was written can be read back. Front matter, of one skill
    and of all together, is slow to read.
    """

    entries: int = 500_000
    file: int = 32 * _MEGABYTE
    total: int = 256 * _MEGABYTE
    lines: int = 1_000_000
    listing: int = 64 * _MEGABYTE
    front_matter: int = 64 * 1024
    front_matters: int = 4 * _MEGABYTE


SKILL_LIMITS = SkillLimits()


def is_name(text: str) -> bool:
    """Tell if a skill may have this name: 1 to 64 of a–z, 0–9 and single hyphens."""
    return len(text) <= NAME_LIMIT and re.fullmatch(_NAME, text) is not None


def is_page(path: str) -> bool:
    """Tell if an export may write a file there: a path inside its folder, and no way out."""
    parts = path.removesuffix(PAGE_SUFFIX).split("/")
    return _PAGE.fullmatch(path) is not None and all(len(each) <= NAME_LIMIT for each in parts)


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
    """Return a method by the name in a stranger's list; the usual one if none is named.

    Raises:
        RecordError: There is no such method here.
    """
    try:
        return method_named(str(name or DEFAULT))
    except UsageError as error:
        raise RecordError(error.message, hint=error.hint) from error


def headings(method: Method, tree: str) -> dict[str, str]:
    """Return the field under each heading."""
    return {method.display[tree].label(name): name for name in method.collections[tree].fields}


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
    """Return what stands over a node."""
    warning = "Warning: " if node.label == "failure" else ""
    title = display.of_title(node) if not display.layered else node.title
    return escaped(warning + one_line(title, _TITLE_WIDTH))


def section(method: Method, tree: str, node: Node) -> str:
    """Return the texts of a node as markdown."""
    return "\n\n".join(
        f"### {heading}\n\n{fenced(node.payload[name])}"
        for heading, name in headings(method, tree).items()
        if node.payload[name] or name not in method.display[tree].optional
    )


@dataclass(slots=True)
class SkillPage:
    """The content of a page of a bank's skills.

    Attributes:
        texts: By the number of a node on the page, its texts by their headings.
        around: A digest of the lines outside of these texts.
    """

    texts: dict[int, dict[str, str]] = field(default_factory=dict)
    around: str = ""


def parsed(text: str, fields: Container[str], *, numbered: bool) -> SkillPage:
    """Parse a page; every line is looked at once.

    Raises:
        ValueError: A number stands twice, or there are too many lines.
    """
    if text.count("\n") > SKILL_LIMITS.lines:
        raise ValueError(f"more than {SKILL_LIMITS.lines:,} lines")
    page, around = SkillPage(), hashlib.sha256()
    texts = page.texts.setdefault(1, {}) if not numbered else {}
    heading, loose = "", list[str]()
    for fence, lines in [*_blocks(text), ("", ["#"])]:  # the last ends what is open
        is_around = True
        said = "\n".join(loose).strip()
        if not fence and lines[0].startswith("#"):
            if heading and said:
                texts[heading] = said
            name, loose = lines[0].removeprefix("### ").strip(), []
            is_field = lines[0].startswith("### ") and name in fields and name not in texts
            heading = name if is_field else ""
            if numbered and (found := _NUMBERED.fullmatch(lines[0])):
                if int(found[1]) in page.texts:
                    raise ValueError(f"the number {found[1]} stands twice")
                texts = page.texts.setdefault(int(found[1]), {})
        elif heading and fence and not said:
            texts[heading] = "\n".join(lines[1:])
            heading, is_around = "", False
        elif heading:  # without a fence, all up to the next heading is the text
            loose += lines
            is_around = False
        if is_around:
            around.update("".join(f"{line.rstrip()}\n" for line in lines if line.strip()).encode())
    page.around = around.hexdigest()[:16]
    return page


def _blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """Cut a text into fences with all that is inside, and single lines."""
    lines = iter(text.split("\n"))
    for line in lines:
        if found := _FENCE.fullmatch(line):
            inside = iter(partial(next, lines, found[1]), found[1])
            yield found[1], [line, *inside]
        else:
            yield "", [line]


Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]


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
    """A file as it was written; a SKILL.md has no nodes.

    Attributes:
        digest: The SHA-256 of its bytes, hexadecimal.
        around: See `SkillPage`.
        nodes: Its nodes in order of their numbers.
    """

    digest: Digest
    around: str = ""
    tree: str = ""
    nodes: tuple[NodeRecord, ...] = ()


class Listing(Struct, frozen=True):
    """The content of `deltamem.json`.

    Attributes:
        bank: What the bank was: name, method, description, domain, embedder, parameters.
        files: What was written, by its path below the folder.
        unfinished: Digests of what was there before, by path, while another export takes its
            place; empty when it has.
    """

    bank: dict[str, Any] = {}
    files: dict[str, ListedFile] = {}
    unfinished: dict[str, tuple[Digest, ...]] = {}
    skills_format: int = FORMAT

    def encoded(self) -> bytes:
        """Return the file's bytes: a line each for the files and the nodes."""
        lines = {
            path: {
                **structs.asdict(each),
                "nodes": [orjson.Fragment(msgspec.json.encode(node)) for node in each.nodes],
            }
            for path, each in self.files.items()
        }
        record = structs.asdict(self) | {"files": lines}
        options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        return orjson.dumps({"skills_format": FORMAT, **record}, option=options)


def listing_of(text: bytes, source: str) -> Listing:
    """Parse `deltamem.json`, whoever wrote it.

    Raises:
        RecordError: It is not of this format.
    """
    brackets = 2 * SKILL_LIMITS.entries
    try:
        if text.count(b"[") + text.count(b"{") > brackets:
            raise ValueError(f"more than {brackets:,} lists and objects")
        found = msgspec.json.decode(text, type=Listing)
        for path in (*found.files, *found.unfinished):
            if not is_page(path):
                raise ValueError(f"{path[:80]!r} is not where an export writes")
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
    if found.skills_format != FORMAT:
        raise RecordError(
            f"an export of format {found.skills_format}, and this version reads {FORMAT}",
            source=source,
            hint="export the bank again",
        )
    return found


def file_digest(data: bytes) -> str:
    """Return the digest by which a file is known again."""
    return hashlib.sha256(data).hexdigest()


def record_of(tree: str, node: Node, place: int) -> tuple[NodeRecord, Node]:
    """Return the record of a node, and the node in clean text, as markdown can hold it.

    If that is another text than its id is made from, it becomes the next revision. So does a
    node that a merge had to put elsewhere.
    """
    payload = {name: clean(text) for name, text in node.payload.items()}
    cleaned = structs.replace(node, payload=payload)
    if payload != node.payload or not _matches_id(tree, node):
        cleaned = _revised(cleaned)
    origin = orjson.loads(codec.to_line(cleaned))["origin"]
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
    """Return the node of a record and its texts, of depth 0, and if a person changed it.

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
        node = codec.from_line(line, method.collections[tree], "", "")
    except (BankCorruptError, TypeError) as error:
        reason = error.message if isinstance(error, BankCorruptError) else str(error)
        raise ValueError(reason.removeprefix("not a node: ")) from error
    changed = _node_digest(node) != record.digest or not _matches_id(tree, node)
    return structs.replace(_revised(node) if changed else node, depth=0), changed


def _matches_id(tree: str, node: Node) -> bool:
    """Tell if a node of revision 0 has the text that its id is made from."""
    if node.revision:
        return True
    parent = structs.replace(node, id=node.parent) if node.parent else None
    return born(tree, parent, node.label, node.payload, node.origin).id == node.id


def _revised(node: Node) -> Node:
    return structs.replace(node, revision=min(node.revision + 1, REVISION_LIMIT))


def _node_digest(node: Node) -> str:
    parts = [node.parent, node.label, node.consolidated, node.payload]
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()[:16]
