"""`bank.json`: what a bank is, apart from what it has learnt; and what a frozen bank promises.

A bank of format 1 names neither its method nor its collections, as all banks were alike then. It
is read under the keys of the present format, and written as it was until a commit upgrades it.

A frozen bank promises the digest of every file. The manifest cannot hold the digest of its whole
text: its own digest is that of the text without it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import msgspec
import orjson
from msgspec import Meta

from deltamem_tui.bank import journal, usage_log
from deltamem_tui.bank.disk import archive, files
from deltamem_tui.bank.journal import MANIFEST_NAME, Commit
from deltamem_tui.bank.node import DEPTH_LIMIT, Collection, parse_collections
from deltamem_tui.errors import (
    BankError,
    BankNotFoundError,
    Remedy,
    StorageError,
)
from deltamem_tui.text import one_line
from deltamem_tui.typed import converted

FORMAT = 2
FILE_NAME = MANIFEST_NAME

METHOD_1 = "deltamem"
_TREE_1 = Collection(
    fields=("activation_condition", "execution_procedure", "termination_condition"),
    key="activation_condition",
    depth=DEPTH_LIMIT,
)
COLLECTIONS_1: Mapping[str, Collection] = {"task": _TREE_1, "env": _TREE_1}


@dataclass(frozen=True, slots=True)
class Manifest:
    """A bank's description of itself.

    Attributes:
        name: What the bank was called when it was made; see `Bank.name`.
        domain: The kind of environment it was learnt in; picks prompts and presets.
        settings: The method's numbers.
        provenance: Who built it, from what; as free facts.
        digests: For a frozen bank, `sha256:…` of every other file.
        origin: The id under which the bank counts (see `ledger`); empty in a bank
            that was made before there were any.
        format: The format version on disk.
    """

    name: str
    method: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,31}\Z")]
    collections: Mapping[str, Collection]
    description: str = ""
    domain: str = "generic"
    embedder: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    frozen: bool = False
    digests: Mapping[str, str] = field(default_factory=dict)
    origin: Annotated[str, Meta(pattern=r"^([0-9a-f]{16})?\Z")] = ""
    format: int = FORMAT

    @property
    def dimensions(self) -> int:
        """The width of the bank's vectors."""
        return int(self.embedder["dimensions"])

    @property
    def counts_as(self) -> str:
        """The id under which the bank counts: its origin, or else a digest of its name."""
        return self.origin or hashlib.sha256(f"bank {self.name}".encode()).hexdigest()[:16]

    @property
    def flat_settings(self) -> dict[str, Any]:
        """The settings, those of a tree as `<tree>.<name>`."""
        flat = {}
        for name, value in self.settings.items():
            if isinstance(value, dict):
                flat.update({f"{name}.{inner}": each for inner, each in value.items()})
            else:
                flat[name] = value
        return flat

    @property
    def upgraded(self) -> Manifest:
        """The same in the present format."""
        return self if self.format == FORMAT else replace(self, format=FORMAT)

    def called(self, name: str) -> Manifest:
        """Return the same under another name.

        A bank without an origin of its own counts under its name: it goes on under the old one.
        """
        return self if name == self.name else replace(self, name=name, origin=self.counts_as)


_KEYS = (
    "name",
    "description",
    "domain",
    "method",
    "collections",
    "embedder",
    "settings",
    "provenance",
    "frozen",
    "digests",
)


def read(folder: Path, commit: Commit | None = None) -> Manifest:
    """Read the manifest of the bank in `folder`.

    Raises:
        BankNotFoundError: The folder holds no manifest.
        BankError: The bank has another format version.
        BankCorruptError: The manifest breaks the format's rules.
    """
    place = folder / FILE_NAME
    path = journal.present(place, commit or Commit())
    if not files.exists(path) and not files.exists(place):
        raise BankNotFoundError("no bank here", source=str(folder), hint=Remedy.MAKE_BANK)
    try:
        text = files.read(path, archive.MANIFEST_BYTES)
    except StorageError:
        if path == place or files.exists(path):
            raise
        text = files.read(place, archive.MANIFEST_BYTES)  # it was renamed at just this moment
    found = _checked(path, _record(text, path))
    if files.is_archive(folder):
        with files.storage_errors(folder):
            archive.require_names(folder, found.collections)
    return found


def _checked(path: Path, record: dict[str, Any]) -> Manifest:
    if missing := [key for key in _KEYS if key not in record]:
        raise files.corrupt(path, f"{missing[0]!r} is missing")
    try:
        found = converted(record, Manifest)
    except msgspec.ValidationError as error:
        reason, _, key = str(error).partition(" - at `$.")
        message = f"{key.rstrip('`')!r}: {reason[:1].lower()}{reason[1:]}"
        raise files.corrupt(path, one_line(message, 200)) from error
    dimensions = found.embedder.get("dimensions")
    if type(dimensions) is not int or not 0 < dimensions <= 1_000_000:
        raise files.corrupt(path, "'embedder.dimensions' is not a positive number")
    if not all(isinstance(found.settings.get(name, {}), dict) for name in found.collections):
        raise files.corrupt(path, "'settings' must hold an object per tree")
    return found


def write(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest of the bank in `folder` in one step."""
    files.replace(folder / FILE_NAME, encode(manifest))


def encode(manifest: Manifest) -> bytes:
    """Return the manifest as the text of `bank.json`, in its own format: indented, for people."""
    record = {key: getattr(manifest, key) for key in _KEYS}
    if manifest.format == 1:
        del record["method"], record["collections"]
        record = {"parameters" if key == "settings" else key: record[key] for key in record}
    else:
        record["collections"] = msgspec.to_builtins(manifest.collections)
    if manifest.origin:  # else the text stays that which a frozen bank has promised
        record["origin"] = manifest.origin
    text = {"format": manifest.format, **record}
    return orjson.dumps(text, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _record(text: bytes, path: Path) -> dict[str, Any]:
    """Return what a manifest says, whatever its format, with `collections` as it declares them."""
    try:
        record = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise files.corrupt(path, f"not JSON: {error}") from error
    if not isinstance(record, dict):
        raise files.corrupt(path, "not a JSON object")
    found = record.get("format")
    if type(found) is not int or found not in (1, FORMAT):
        raise BankError(
            f"bank format {str(found)[:40]!r} is not known, only 1 and {FORMAT}",
            source=str(path),
            hint="a newer version of deltamem may read it",
        )
    if found == 1:
        settings = record.pop("parameters", None)
        return {
            **record,
            "method": METHOD_1,
            "collections": COLLECTIONS_1,
            "settings": settings,
        }
    try:
        return {**record, "collections": parse_collections(record.get("collections"))}
    except ValueError as error:
        raise files.corrupt(path, f"'collections': {one_line(str(error), 200)}") from error


_CHANGED = "was changed since the bank was frozen"
_UNCOUNTED = frozenset({FILE_NAME, ".lock", usage_log.FILE_NAME})


def promising(before: Manifest, found: Mapping[str, str]) -> Manifest:
    """Return the manifest of a frozen bank, of the digests of its files."""
    found = {name: value for name, value in sorted(found.items()) if name not in _UNCOUNTED}
    unsigned = replace(before, frozen=True, digests=found)
    return replace(unsigned, digests={**found, FILE_NAME: _text_digest(encode(unsigned))})


def broken_promises(folder: Path, frozen: Manifest) -> Iterator[tuple[str, str]]:
    """Yield what has changed since the bank was frozen, as (file, what is wrong)."""
    text = files.read(folder / FILE_NAME, archive.MANIFEST_BYTES)
    paths = contents(folder)
    found = {path.name: digest(path) if files.is_plain(path) else None for path in paths}
    yield from disagreements(frozen, text, found)


def disagreements(
    frozen: Manifest, text: bytes, found: Mapping[str, str | None]
) -> Iterator[tuple[str, str]]:
    """Yield where a frozen manifest and the files found disagree, as (file, what is wrong)."""
    promised = {name: value for name, value in frozen.digests.items() if name != FILE_NAME}
    own = _text_digest(encode(replace(frozen, digests=promised)))
    if frozen.digests.get(FILE_NAME) != own or text != encode(frozen):
        yield FILE_NAME, _CHANGED
    for name in sorted(set(promised) - set(found)):
        yield name, "is missing"
    for name, value in found.items():
        if name in _UNCOUNTED:
            continue
        if name not in promised:
            yield name, "was not there when the bank was frozen"
        elif value is None:
            yield name, "is not a plain file"
        elif value != promised[name]:
            yield name, _CHANGED


def contents(folder: Path) -> list[Path]:
    """Return the files of a bank that digests cover, by name."""
    names = [name for name in files.names(folder) if not name.endswith(".draft")]
    return [folder / name for name in names if name not in _UNCOUNTED]


def digest(path: Path) -> str:
    """Return `sha256:…` of one file."""
    return _text_digest(files.mapped(path, files.size(path)))


def _text_digest(text: bytes | memoryview) -> str:
    return f"sha256:{hashlib.sha256(text).hexdigest()}"
