"""A folder of Agent Skills → a bank, which appears whole or not at all.

The folder may come from anywhere: no link is followed, no limit is exceeded.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from msgspec import structs

from deltamem_tui.bank import transfer as installing
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.disk.archive import MANIFEST_BYTES
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.node import DEPTH_LIMIT, Node
from deltamem_tui.config import DEFAULT_EMBEDDER
from deltamem_tui.embedding.load import load
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ConfigurationError, RecordError
from deltamem_tui.memory.settings import Settings, from_record, stored_record
from deltamem_tui.memory.skills.layout import (
    ALL_BYTES,
    BANK_FILE,
    FILE_BYTES,
    LISTING_BYTES,
    MOST_FILES,
    ListedFile,
    Listing,
    digest_of_text,
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
# A link is not followed, and a pipe does not wait for a writer.
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class SkillBook:
    """The content of a folder of skills.

    Attributes:
        nodes: Per tree, the nodes in order of birth, parents before children.
        facts: The manifest of the bank it was exported from.
        changed: Ids of nodes whose text was changed since the export, or differs from what
            their id was made from.
        missing: Ids of nodes that were exported and are in no file any more.
        left: What is not taken in, file by file: changes outside the nodes' texts, and files
            that hold nothing for a bank.
    """

    nodes: Mapping[str, tuple[Node, ...]]
    facts: Mapping[str, Any] = field(default_factory=dict)
    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    left: tuple[RecordError, ...] = ()


def is_skills_folder(folder: Path) -> bool:
    """Return whether a folder is an export of a bank as skills."""
    return (folder / BANK_FILE).is_file()


def read_listing(folder: Path) -> Listing:
    """Read `deltamem.json`, whoever wrote it.

    Raises:
        RecordError: It is not of this format, or larger than it may be.
        StorageError: It cannot be read.
    """
    path = folder / BANK_FILE
    return listing_of(_bytes_of_file(path, LISTING_BYTES), str(path))


def text_of_file(path: Path, limit: int) -> str:
    """Read a whole plain file as clean text.

    Raises:
        RecordError: It is a link, not a plain file or not text, or has more than `limit` bytes.
        StorageError: It cannot be read.
    """
    try:
        return clean(_bytes_of_file(path, limit).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise RecordError("not UTF-8 text", source=str(path), hint="save it as UTF-8") from error


def _bytes_of_file(path: Path, limit: int) -> bytes:
    with files.storage_errors(path), os.fdopen(os.open(path, _LOOK), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise RecordError("not a plain file", source=str(path), hint="take it away")
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise RecordError(f"larger than the {limit:,} bytes allowed here", source=str(path))
    return data


def walk(folder: Path, *, hidden: bool = False) -> Iterator[str]:
    """Yield the paths of all files below a folder, in order of their names.

    Hidden ones belong to other programs.

    Raises:
        RecordError: One of them is a link, or there are too many.
        StorageError: The disk refused.
    """
    folders, seen = [""], 0
    while folders:
        inner = folders.pop()
        with files.storage_errors(folder / inner), os.scandir(folder / inner) as entries:
            found = sorted(entries, key=lambda each: each.name)
        for entry in found:
            seen += 1
            if seen > MOST_FILES:
                raise RecordError(f"more than {MOST_FILES:,} files", source=str(folder))
            if entry.name.startswith(".") and not hidden:
                continue
            path = f"{inner}/{entry.name}".lstrip("/")
            if entry.is_symlink():
                hint = "put in its place what it leads to, or take it away"
                raise RecordError("links are not followed", source=str(folder / path), hint=hint)
            if entry.is_dir():
                folders.append(path)
            else:
                yield path


def read_skills(folder: Path) -> SkillBook:
    """Read all skills and knowledge in a folder.

    Raises:
        RecordError: There is a link, more than there may be, or a file that is not what it
            should be, or a residual's parent is nowhere. The error names the file.
        StorageError: The disk refused.
    """
    return _SkillReader(folder, read_listing(folder)).book()


class _Found(NamedTuple):
    """A node of a folder, its place in its tree, and its file."""

    place: int
    node: Node
    source: str


class _SkillReader:
    """Reads a folder by the list of what was written into it."""

    def __init__(self, folder: Path, written: Listing) -> None:
        self._folder, self._written = folder, written
        self._method = method_of_skills(written.bank.get("method"))
        self._found: dict[str, dict[str, _Found]] = {name: {} for name in self._method.collections}
        self._changed: list[str] = []
        self._missing: list[str] = []
        self._left: list[RecordError] = []
        self._bytes_left = ALL_BYTES

    def book(self) -> SkillBook:
        """Read everything."""
        there = set(walk(self._folder)) - {BANK_FILE}
        for name, listed in self._written.files.items():
            if name in there:
                self._take(name, listed)
            else:
                self._missing += [each.id for each in listed.nodes]
        for name in sorted(there - self._written.files.keys()):
            self._leave(self._folder / name, "holds no node of this bank")
        return SkillBook(
            {name: _in_order(found) for name, found in self._found.items()},
            self._written.bank,
            tuple(self._changed),
            tuple(self._missing),
            tuple(self._left),
        )

    def _leave(self, path: Path, reason: str, hint: str = "it was left out") -> None:
        self._left.append(RecordError(reason, source=str(path), hint=hint))

    def _text(self, path: Path) -> str:
        text = text_of_file(path, min(FILE_BYTES, self._bytes_left))
        self._bytes_left -= len(text.encode())
        return text

    def _take(self, name: str, listed: ListedFile) -> None:
        """Take in a file that an export wrote."""
        path, changed_before = self._folder / name, len(self._changed)
        text = self._text(path)
        fields = headings(self._method, listed.tree) if listed.nodes else {}
        try:
            texts = parsed(text, fields)
            for number, record in enumerate(listed.nodes, 1):
                if number not in texts:
                    self._missing.append(record.id)
                    continue
                node, changed = node_of(self._method, listed.tree, record, texts[number])
                self._put(listed.tree, _Found(record.place, node, str(path)))
                self._changed += [node.id] * changed
        except ValueError as error:
            raise RecordError(
                f"not a page of a bank: {error}",
                source=str(path),
                hint="export the bank again, and change only the texts inside the fences",
            ) from error
        if digest_of_text(text) != listed.digest and len(self._changed) == changed_before:
            hint = "change the texts inside the fences of pages"
            self._leave(path, "changed outside the fences, which is not taken in", hint)

    def _put(self, tree: str, found: _Found) -> None:
        known = self._found[tree].setdefault(found.node.id, found)
        if known is not found:
            raise RecordError(
                f"duplicate node {found.node.id} (also in {known.source})",
                source=found.source,
                hint="keep one of the two",
            )


def _in_order(found: Mapping[str, _Found]) -> tuple[Node, ...]:
    """Return the nodes of a tree in order of birth with their depths, each after its parent."""
    done: dict[str, Node] = {}
    for first in sorted(found.values(), key=lambda each: (each.place, each.source)):
        above, each = [], first
        while each.node.id not in done:
            above.append(each)
            parent = each.node.parent
            if parent and parent not in found:
                raise RecordError(
                    f"the parent {parent} of node {each.node.id} is in no file",
                    source=each.source,
                    hint="bring its file back, or take this one out",
                )
            if len(above) > DEPTH_LIMIT:  # or in a ring
                raise RecordError(f"deeper than {DEPTH_LIMIT:,}", source=each.source)
            if not parent:
                break
            each = found[parent]
        for each in reversed(above):
            depth = done[each.node.parent].depth + 1 if each.node.parent else 1
            if depth > DEPTH_LIMIT:
                raise RecordError(f"deeper than {DEPTH_LIMIT:,}", source=each.source)
            done[each.node.id] = structs.replace(each.node, depth=depth)
    return tuple(done.values())


def embedder_name(book: SkillBook) -> str:
    """Return the embedder of the exported bank; the default if its list names none."""
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

    Raises:
        RecordError: The skills hold no node, or facts that no bank can have.
        BankExistsError: Something is at `path`, and is not to be replaced.
        BankBusyError: Another process writes the bank that is to be replaced.
        StorageError: The disk refused. In all cases what was there is as it was.
    """
    if not any(book.nodes.values()) and book.missing:
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
        raise RecordError("more provenance than a bank can hold", source=BANK_FILE)
    return kept | {"installed_from": _text(book, "name") or "skills"}


def _vectors(
    embedder: Embedder, nodes: Sequence[Node], key: str, advance: Callable[[int], None]
) -> Iterator[NDArray[np.float32]]:
    for start in range(0, len(nodes), _EMBEDDED_AT_ONCE):
        part = nodes[start : start + _EMBEDDED_AT_ONCE]
        yield from embedder.embed_passages([node.payload[key] for node in part])
        advance(len(part))
