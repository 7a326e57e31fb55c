"""`deltamem.json`: what the bank was, and what was written for it, so that changes are seen."""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec
import orjson
from msgspec import Meta, Struct, structs

from deltamem_tui.bank import codec
from deltamem_tui.errors import RecordError
from deltamem_tui.memory.skills import finding
from deltamem_tui.memory.skills.form import form_named
from deltamem_tui.memory.skills.layout import SKILL_LIMITS, is_page
from deltamem_tui.text import one_line
from deltamem_tui.typed import converted

FORMAT = 1

_KNOWN = {"skills_format", "nodes", "files", "unfinished"}
_MARK = 8
_BRACKETS = 2 * SKILL_LIMITS.entries
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]

_OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


class ListedFile(Struct, frozen=True):
    """A file as it was written.

    Attributes:
        digest: The SHA-256 of its bytes, hexadecimal.
        around: A mark of 8 digits for each line around the texts of its nodes.
    """

    digest: Digest
    around: Annotated[str, Meta(pattern=r"^([0-9a-f]{8})*\Z")]

    @classmethod
    def of(cls, data: bytes, around: Iterable[tuple[int, str]]) -> ListedFile:
        """That of a file's bytes, and the lines around its nodes as `section.read` gives them."""
        return cls(digest_of(data), "".join(_mark(line) for _, line in around))

    def compared(self, around: Sequence[tuple[int, str]]) -> tuple[list[int], int]:
        """The numbers of the lines that were not written so, and how many written ones are gone."""
        left = Counter(self.around[at : at + _MARK] for at in range(0, len(self.around), _MARK))
        unknown = []
        for number, line in around:
            mark = _mark(line)
            if left[mark]:
                left[mark] -= 1
            else:
                unknown.append(number)
        return unknown, left.total()


@dataclass(frozen=True, slots=True)
class Listing:
    """The content of `deltamem.json`.

    Attributes:
        facts: The bank: name, method, description, domain, embedder, parameters, provenance.
        nodes: Per tree, the ids of all nodes that were written.
        files: What was written, by its path below the folder.
        unfinished: Digests of what was there before, by path, while another export takes its
            place; empty when it has.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    nodes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    files: Mapping[str, ListedFile] = field(default_factory=dict)
    unfinished: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def encoded(self) -> bytes:
        """The file's bytes."""
        record = {
            "skills_format": FORMAT,
            **self.facts,
            "nodes": self.nodes,
            "files": self.files,
        }
        if self.unfinished:
            record["unfinished"] = self.unfinished
        return orjson.dumps(record, option=_OPTIONS, default=structs.asdict)


def digest_of(data: bytes) -> str:
    """The digest by which a file is known again."""
    return hashlib.sha256(data).hexdigest()


def read(path: Path) -> Listing:
    """Read `deltamem.json`, whoever wrote it.

    Raises:
        RecordError: It is not of this format, or larger than it may be.
        StorageError: It cannot be read.
    """
    text = finding.read(path, SKILL_LIMITS.listing)
    try:
        if text.count(b"[") + text.count(b"{") > _BRACKETS:
            raise ValueError(f"more than {_BRACKETS:,} lists and objects")
        record = orjson.loads(text)
    except ValueError as error:
        raise RecordError(f"not JSON: {one_line(str(error), 120)}", source=str(path)) from error
    if not isinstance(record, dict) or record.get("skills_format") != FORMAT:
        raise RecordError(
            f"not an export of format {FORMAT}",
            source=str(path),
            hint="a newer version may read it; without this file the skills alone are read",
        )
    try:
        lists = converted(record, _Lists)
        for page in (*lists.files, *lists.unfinished):
            if not is_page(page):
                raise ValueError(f"{page[:80]!r} is not where an export writes")
        nodes = {
            name: lists.nodes.get(name, []) for name in form_named(record.get("method")).collections
        }
        if not all(codec.are_ids(ids) for ids in nodes.values() if ids):
            raise ValueError("not a list of ids")
    except (msgspec.ValidationError, ValueError) as error:
        raise RecordError(
            f"its lists of nodes and files are broken: {one_line(str(error), 120)}",
            source=str(path),
            hint="export the bank again; without this file the skills alone are read",
        ) from error
    facts = {key: value for key, value in record.items() if key not in _KNOWN}
    return Listing(facts, nodes, lists.files, lists.unfinished)


class _Lists(Struct):
    nodes: dict[str, list[str]] = {}
    files: dict[str, ListedFile] = {}
    unfinished: dict[str, list[Digest]] = {}


def _mark(line: str) -> str:
    return f"{zlib.crc32(line.rstrip().encode()):0{_MARK}x}"
