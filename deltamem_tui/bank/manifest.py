"""`bank.json`: what a bank is, apart from what it has learnt."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from deltamem_tui.bank import codec
from deltamem_tui.bank.commits import file_swap
from deltamem_tui.bank.commits.journal import Commit
from deltamem_tui.bank.disk import archive_view, files
from deltamem_tui.bank.limits import LIMITS
from deltamem_tui.errors import BankCorruptError, BankFormatError, BankNotFoundError, StorageError

FORMAT = 1
FILE_NAME = "bank.json"
NO_BANK_HINT = "`deltamem init` makes a new one"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a bank is.

    Attributes:
        name: What the bank was called when it was made; see `Bank.name`.
        description: What it is for, in a person's words.
        domain: The kind of environment it was learnt in; picks prompts and presets.
        embedder: What the bank remembers of its embedding model.
        parameters: Per tree, the method's numbers.
        provenance: Who built it, from what; as free facts.
        frozen: Whether the bank may no longer be written.
        digests: For a frozen bank, `sha256:…` of every other file.
        origin: The id under which the bank counts (see `origins`); empty in a bank that was
            made before there were any.
        format: The format version on disk.
    """

    name: str
    description: str = ""
    domain: str = "generic"
    embedder: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    frozen: bool = False
    digests: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    format: int = FORMAT

    @property
    def dimensions(self) -> int:
        """The width of the bank's vectors."""
        return int(self.embedder["dimensions"])

    @property
    def counts_as(self) -> str:
        """The id under which the bank counts: its origin, or else a digest of its name."""
        return self.origin or hashlib.sha256(f"bank {self.name}".encode()).hexdigest()[:16]

    def called(self, name: str) -> Manifest:
        """The same under another name.

        A bank without an origin of its own counts under its name: it goes on under the old one.
        """
        return self if name == self.name else replace(self, name=name, origin=self.counts_as)


_TYPES: Mapping[str, type] = {
    "name": str,
    "description": str,
    "domain": str,
    "embedder": dict,
    "parameters": dict,
    "provenance": dict,
    "frozen": bool,
    "digests": dict,
}


def read(folder: Path, commit: Commit | None = None) -> Manifest:
    """Read the manifest of the bank in `folder`.

    Args:
        folder: The bank's folder.
        commit: The last commit, which may have replaced the manifest.

    Raises:
        BankNotFoundError: The folder holds no manifest.
        BankFormatError: The bank has another format version.
        BankCorruptError: The manifest breaks the format's rules.
    """
    path, text = _present_text(folder / FILE_NAME, commit or Commit())
    try:
        record = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise _corrupt(path, f"not JSON: {error}") from error
    if not isinstance(record, dict):
        raise _corrupt(path, "not a JSON object")
    found = record.get("format")
    if type(found) is not int or found != FORMAT:
        raise BankFormatError(
            f"bank format {str(found)[:40]!r} is not known, only {FORMAT}",
            source=str(path),
            hint="a newer version of deltamem may read it",
        )
    return _checked(path, record)


def _present_text(place: Path, commit: Commit) -> tuple[Path, bytes]:
    """The file that counts, and what it holds."""
    path = file_swap.present(place, commit)
    if not archive_view.exists(path) and not archive_view.exists(place):
        raise BankNotFoundError("no bank here", source=str(place.parent), hint=NO_BANK_HINT)
    try:
        return path, archive_view.read(path, LIMITS.manifest)
    except StorageError:
        if path == place or archive_view.exists(path):
            raise
        # The draft was renamed to its place at just this moment.
        return place, archive_view.read(place, LIMITS.manifest)


def _checked(path: Path, record: dict[str, Any]) -> Manifest:
    for key, kind in _TYPES.items():
        if not isinstance(record.get(key), kind):
            raise _corrupt(path, f"{key!r} is missing or not a {kind.__name__}")
    dimensions = record["embedder"].get("dimensions")
    if type(dimensions) is not int or not 0 < dimensions <= 1_000_000:
        raise _corrupt(path, "'embedder.dimensions' is not a positive number")
    if not all(isinstance(value, dict) for value in record["parameters"].values()):
        raise _corrupt(path, "'parameters' must hold one object per tree")
    origin = record.get("origin", "")
    if origin != "" and not codec.is_id(origin):
        raise _corrupt(path, "'origin' is not an id of 16 hexadecimal digits")
    return Manifest(**{key: record[key] for key in _TYPES}, origin=origin)


def write(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest of the bank in `folder` in one step."""
    files.replace(folder / FILE_NAME, encode(manifest))


def encode(manifest: Manifest) -> bytes:
    """The manifest as the text of `bank.json`: indented, for people and for `git diff`."""
    record = {"format": manifest.format} | {key: getattr(manifest, key) for key in _TYPES}
    if manifest.origin:  # else the text stays that which a frozen bank has promised
        record["origin"] = manifest.origin
    return orjson.dumps(record, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _corrupt(path: Path, message: str) -> BankCorruptError:
    return BankCorruptError(message, source=str(path), hint="restore the file from a copy")
