"""A folder of Agent Skills → a bank, which appears whole or not at all.

The folder is a stranger's: no link is followed, no limit is exceeded. Skills that were written
elsewhere become roots.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.collection import DEPTH_LIMIT
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.disk.archive import MANIFEST_BYTES
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.bank.transfer import installing
from deltamem_tui.config import DEFAULT_EMBEDDER
from deltamem_tui.embedding.load import load
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ConfigurationError, RecordError
from deltamem_tui.memory.method import Method
from deltamem_tui.memory.settings import Settings, from_record, stored_record
from deltamem_tui.memory.skills.layout import (
    BANK_FILE,
    REFERENCES,
    SKILL_FILE,
    SKILL_LIMITS,
    ListedFile,
    Listing,
    SkillLimits,
    file_digest,
    headings,
    listing_of,
    method_of_skills,
    node_of,
    parsed,
)
from deltamem_tui.text import clean, one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_EMBEDDED_AT_ONCE = 256
_PROVENANCE_LIMIT = MANIFEST_BYTES // 2  # the manifest holds other things, and is indented
_ADOPTED_BY = "skill"
_OWN_MARK = "deltamem-bank:"
_RULE = "---"
# A link is not followed, and a pipe does not wait for a writer.
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class SkillBook:
    """The content of a folder of skills.

    Attributes:
        nodes: Per tree, the nodes in order of birth, parents before children.
        facts: The manifest of the bank it was exported from; empty for other skills.
        changed: Ids of nodes whose text was changed since the export, or differs from what
            their id was made from.
        adopted: Folders of skills that another program wrote; each became a root.
        missing: Ids of nodes that were exported and are in no file any more.
        left: What is not taken in, file by file: changes outside the nodes' texts, and files
            that hold nothing for a bank.
    """

    nodes: Mapping[str, tuple[Node, ...]]
    facts: Mapping[str, Any] = field(default_factory=dict)
    changed: tuple[str, ...] = ()
    adopted: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    left: tuple[RecordError, ...] = ()


def is_skills_folder(folder: Path) -> bool:
    """Tell if a folder holds skills: an export of a bank, or folders with a SKILL.md."""
    if (folder / BANK_FILE).is_file() or (folder / SKILL_FILE).is_file():
        return True
    with os.scandir(folder) as entries:
        return any(entry.is_dir() and Path(entry, SKILL_FILE).is_file() for entry in entries)


def read_skills(folder: Path, limits: SkillLimits = SKILL_LIMITS) -> SkillBook:
    """Read all skills and knowledge in a folder.

    Raises:
        RecordError: There is a link, more than there may be, or a file that is not what it
            should be; a residual's parent is nowhere, or an export was interrupted. The error
            names the file.
        StorageError: The disk refused.
    """
    is_export = os.path.lexists(folder / BANK_FILE)
    written = read_listing(folder) if is_export else Listing()
    if written.unfinished:
        raise RecordError(
            "an export into this folder was interrupted, so it holds parts of two",
            source=str(folder / BANK_FILE),
            hint="export the bank again with --replace",
        )
    return _SkillReader(folder, written, limits).book()


def read_listing(folder: Path) -> Listing:
    """Read `deltamem.json`, whoever wrote it.

    Raises:
        RecordError: It is not of this format, or larger than it may be.
        StorageError: It cannot be read.
    """
    path = folder / BANK_FILE
    return listing_of(read_file(path, SKILL_LIMITS.listing), str(path))


def read_file(path: Path, limit: int) -> bytes:
    """Read a whole plain file.

    Raises:
        RecordError: It is a link or not a plain file, or has more than `limit` bytes.
        StorageError: It cannot be read.
    """
    with files.storage_errors(path), os.fdopen(os.open(path, _LOOK), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise RecordError("not a plain file", source=str(path), hint="take it away")
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise RecordError(
            f"larger than the {limit:,} bytes that it may have here", source=str(path)
        )
    return data


class _SkillReader:
    """Reads a folder by the list of what was written into it."""

    def __init__(self, folder: Path, written: Listing, limits: SkillLimits) -> None:
        self._folder, self._written, self._limits = folder, written, limits
        self._method = method_of_skills(written.bank.get("method"))
        self._found: dict[str, dict[str, tuple[int, Node, str]]] = {
            name: {} for name in self._method.collections
        }
        self._changed: list[str] = []
        self._missing: list[str] = []
        self._adopted: list[str] = []
        self._left: list[RecordError] = []
        self._entries_seen = self._bytes = self._front_matters = 0

    def book(self) -> SkillBook:
        """Read everything."""
        there, skills, others = self._look()
        for name, listed in self._written.files.items():
            if name in there:
                self._take(name, listed)
            else:
                self._missing += [each.id for each in listed.nodes]
        for path in skills:
            self._adopt(path)
        self._left += [_left(path, "holds no node of a bank") for path in sorted(others)]
        return SkillBook(
            {name: self._in_order(name) for name in self._found},
            self._written.bank,
            tuple(self._changed),
            tuple(self._adopted),
            tuple(self._missing),
            tuple(self._left),
        )

    def _look(self) -> tuple[set[str], list[Path], list[Path]]:
        """Return the listed files that are there, the skills from elsewhere, and all else."""
        there: set[str] = set()
        skills: list[Path] = []
        others: list[Path] = []

        def look(folder: Path, prefix: str) -> None:
            known, left = len(there) + len(skills), len(others)
            for entry in self._entries(folder):
                path, inner = Path(entry), f"{prefix}{entry.name}"
                depth = prefix.count("/")
                if inner in self._written.files:
                    there.add(inner)
                elif entry.name == SKILL_FILE and depth < 2:
                    skills.append(path)
                elif entry.is_dir(follow_symlinks=False) and (
                    not depth or (depth == 1 and entry.name == REFERENCES)
                ):
                    look(path, f"{inner}/")
                elif inner != BANK_FILE:
                    others.append(path)
            if prefix and len(there) + len(skills) == known and len(others) > left:
                others[left:] = [folder]  # nothing for a bank: it is reported as one

        look(self._folder, "")
        return there, skills, others

    def _entries(self, folder: Path) -> list[os.DirEntry[str]]:
        """Return the entries of a folder; hidden ones belong to other programs."""
        left = self._limits.entries - self._entries_seen
        with files.storage_errors(folder), os.scandir(folder) as entries:
            found = list(islice(entries, left + 1))
        self._entries_seen += len(found)
        if len(found) > left:
            most = f"more than {self._limits.entries:,} files and folders"
            raise RecordError(most, source=str(self._folder))
        visible = sorted(
            (entry for entry in found if not entry.name.startswith(".")), key=lambda each: each.name
        )
        for entry in visible:
            if entry.is_symlink():
                raise RecordError(
                    "a link, and links are not followed",
                    source=str(Path(entry)),
                    hint="put in its place what it leads to, or take it away",
                )
        return visible

    def _text(self, path: Path) -> tuple[str, bytes]:
        data = read_file(path, min(self._limits.file, self._limits.total - self._bytes))
        self._bytes += len(data)
        try:
            return clean(data.decode("utf-8-sig")), data
        except UnicodeDecodeError as error:
            raise RecordError(
                "not UTF-8 text", source=str(path), hint="save it as UTF-8"
            ) from error

    def _take(self, name: str, listed: ListedFile) -> None:
        """Take in a file that an export wrote."""
        path = self._folder / name
        text, data = self._text(path)
        fields = headings(self._method, listed.tree) if listed.nodes else {}
        try:
            page = parsed(text, fields, numbered=len(listed.nodes) > 1)
            for number, record in enumerate(listed.nodes, 1):
                if number not in page.texts:
                    self._missing.append(record.id)
                    continue
                node, changed = node_of(self._method, listed.tree, record, page.texts[number])
                self._put(listed.tree, record.place, node, path)
                self._changed += [node.id] * changed
        except ValueError as error:
            raise RecordError(
                f"not a page of a bank: {error}",
                source=str(path),
                hint="export the bank again, and change only the texts inside the fences",
            ) from error
        if page.around != listed.around and file_digest(data) != listed.digest:
            where = "a SKILL.md" if not listed.nodes else "the text outside the fences"
            hint = "change the texts inside the fences of the other files"
            reason = f"{where} was changed, which is not taken in"
            self._left.append(RecordError(reason, source=str(path), hint=hint))

    def _put(self, tree: str, place: int, node: Node, path: Path) -> None:
        if node.id in self._found[tree]:
            raise RecordError(
                f"node {node.id} stands twice, also in {self._found[tree][node.id][2]}",
                source=str(path),
                hint="keep one of the two",
            )
        self._found[tree][node.id] = (place, node, str(path))

    def _adopt(self, path: Path) -> None:
        """Make a root of a skill that another program wrote."""
        head, body = _parted(self._text(path)[0])
        self._front_matters += len(head)
        if len(head) > self._limits.front_matter or (
            self._front_matters > self._limits.front_matters
        ):
            raise RecordError(
                f"more front matter than the {self._limits.front_matter:,} bytes of one skill "
                f"or the {self._limits.front_matters:,} of all",
                source=str(path),
            )
        if _OWN_MARK in head:
            reason = f"a skill of a bank, whose {BANK_FILE} is not here"
            self._left.append(_left(path, reason))
            return
        tree, node = _adopted_root(self._method, head, body, str(path))
        self._put(tree, 2**31 + len(self._adopted), structs.replace(node, depth=0), path)
        self._adopted.append(str(path.parent))

    def _in_order(self, tree: str) -> tuple[Node, ...]:
        """Return the nodes in order of birth with their depths, each after its parent."""
        found = self._found[tree]
        nodes: dict[str, Node] = {}
        for _, node, source in sorted(found.values(), key=lambda each: (each[0], each[2])):
            way = [] if node.id in nodes else [node]
            while way and (parent := way[-1].parent) and parent not in nodes:
                if parent not in found:
                    raise RecordError(
                        f"the parent {parent} of node {way[-1].id} is in no file",
                        source=found[way[-1].id][2],
                        hint="bring its file back, or take this one out",
                    )
                way.append(found[parent][1])
                if len(way) > DEPTH_LIMIT:
                    break
            for each in reversed(way):
                depth = nodes[each.parent].depth + 1 if each.parent in nodes else 1
                if depth > DEPTH_LIMIT or len(way) > DEPTH_LIMIT:
                    raise RecordError(
                        f"node {each.id} is above itself, or deeper than {DEPTH_LIMIT:,}",
                        source=source,
                        hint=f"put its parent right in {BANK_FILE}",
                    )
                nodes[each.id] = structs.replace(each, depth=depth)
        return tuple(nodes.values())


def _left(path: Path, reason: str) -> RecordError:
    return RecordError(reason, source=str(path), hint="it was left out")


def _parted(text: str) -> tuple[str, str]:
    """Return a file's front matter and its body; without front matter, all is body."""
    first, *lines = text.split("\n")
    if first.rstrip() == _RULE:
        for number, line in enumerate(lines):
            if line.rstrip() == _RULE:
                return "\n".join(lines[:number]), "\n".join(lines[number + 1 :])
    return "", text


def _adopted_root(method: Method, head: str, body: str, source: str) -> tuple[str, Node]:
    """Return the root that a skill with such a front matter and body becomes, and its tree."""
    import yaml

    name = next((each for each, shown in method.display.items() if shown.instruction), None)
    if name is None:
        raise RecordError(f"the method {method.name} keeps no skills", source=source)
    try:
        description = clean(_description(head)).strip()  # YAML can spell out any character
    except yaml.YAMLError as error:
        reason = one_line(str(error), 120)
        raise RecordError(f"the front matter is not plain YAML: {reason}", source=source) from error
    if not description or not body.strip():
        raise RecordError(
            "a skill needs a description in its front matter, and a body", source=source
        )
    collection = method.collections[name]
    texts = dict.fromkeys((collection.fields[0], collection.key), description)
    texts[method.display[name].instruction] = body.strip()
    payload = {each: texts.get(each, "") for each in collection.fields}
    origin = Origin(extractor=_ADOPTED_BY, outcome_source="unknown")
    return name, born(name, None, "success", payload, origin)


def _description(head: str) -> str:
    """Return the text under `description` in the outermost mapping; empty if there is none."""
    # YAML can name a part and repeat it, so that a few lines become more than any machine holds:
    # nothing is built of the front matter, its description is picked out while it is parsed.
    import yaml

    found, key, level, in_mapping = "", None, 0, False
    for event in yaml.parse(head, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
        if level == 0 and isinstance(event, yaml.NodeEvent):
            in_mapping = isinstance(event, yaml.MappingStartEvent)
        elif level == 1 and in_mapping and isinstance(event, yaml.NodeEvent):
            text = event.value if isinstance(event, yaml.ScalarEvent) else ""
            if key is None:
                key = text
            else:
                found, key = (text if key == "description" else found), None
        level += isinstance(event, yaml.CollectionStartEvent)
        level -= isinstance(event, yaml.CollectionEndEvent)
    return found


def embedder_name(book: SkillBook) -> str:
    """Return the embedder of the exported bank; the default for skills from elsewhere."""
    embedder = book.facts.get("embedder")
    model = embedder.get("model") if isinstance(embedder, Mapping) else None
    return one_line(model, 200) if isinstance(model, str) and model else DEFAULT_EMBEDDER


def install_skills(
    book: SkillBook,
    path: Path,
    *,
    embedder: Embedder | None = None,
    replacing: bool = False,
    frozen: bool = False,
    advance: Callable[[int], None] = lambda _: None,
) -> Bank:
    """Make a bank of what `read_skills` found. Ids, labels and origins are kept, counts are not.

    The last part of `path` is the name of the bank. `embedder_name` is loaded if no embedder is
    given, and `advance` is called with the number of nodes embedded since its last call.

    Returns:
        The bank.

    Raises:
        RecordError: The skills hold no node, or facts that no bank can have.
        BankExistsError: Something is at `path`, and is not to be replaced.
        BankBusyError: Another process writes the bank that is to be replaced.
        StorageError: The disk refused. In all cases what was there is as it was.
    """
    if not any(book.nodes.values()) and (book.missing or not book.facts):
        raise RecordError("no skill and no knowledge here", hint="name a folder of Agent Skills")
    method = method_of_skills(book.facts.get("method"))
    parameters = _parameters(book, method.settings)
    loaded = embedder or load(embedder_name(book))
    manifest = Manifest(
        name=path.name,
        method=method.name,
        collections=method.collections,
        description=_text(book, "description"),
        domain=_text(book, "domain") or "generic",
        embedder=asdict(loaded.card),
        settings=stored_record(parameters),
        provenance=_provenance(book),
    )
    with installing.place(path, replacing=replacing) as draft:
        bank = Bank.create(draft, manifest)
        with bank.writing() as batch:
            for tree, nodes in book.nodes.items():
                key = method.collections[tree].key
                vectors = _vectors(loaded, nodes, key, advance)
                for node, vector in zip(nodes, vectors, strict=True):
                    batch.add_node(tree, node, vector)
            batch.log("install", {"from": "skills", "changed": list(book.changed)})
        if frozen:
            bank.freeze()
    return Bank.open(path)


def _parameters(book: SkillBook, kind: type[Settings]) -> Settings:
    record = book.facts.get("parameters")
    if not isinstance(record, Mapping):
        return kind.preset(_text(book, "domain"))
    try:
        return from_record(kind, {str(name): value for name, value in record.items()})
    except (ConfigurationError, TypeError, ValueError) as error:
        raise RecordError(
            f"the exported parameters cannot be used: {one_line(str(error), 120)}",
            hint="correct them in deltamem.json",
        ) from error


def _text(book: SkillBook, key: str) -> str:
    value = book.facts.get(key)
    return one_line(value, 1000) if isinstance(value, str) else ""


def _provenance(book: SkillBook) -> dict[str, Any]:
    before = book.facts.get("provenance")
    kept = dict(before) if isinstance(before, Mapping) else {}
    try:
        size = len(orjson.dumps(kept))
    except TypeError:  # nested deeper than can be written again
        size = _PROVENANCE_LIMIT + 1
    if size > _PROVENANCE_LIMIT:
        raise RecordError(
            "more provenance than a bank can hold",
            source=BANK_FILE,
            hint="take out of it what is not needed",
        )
    return kept | {"installed_from": _text(book, "name") or "skills"}


def _vectors(
    embedder: Embedder, nodes: Sequence[Node], key: str, advance: Callable[[int], None]
) -> Iterator[NDArray[np.float32]]:
    for start in range(0, len(nodes), _EMBEDDED_AT_ONCE):
        part = nodes[start : start + _EMBEDDED_AT_ONCE]
        yield from embedder.embed_passages([node.payload[key] for node in part])
        advance(len(part))
