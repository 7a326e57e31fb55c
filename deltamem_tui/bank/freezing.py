"""Digests of a bank's files: what a frozen bank promises, and how the promise is checked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from deltamem_tui.bank import files, manifest
from deltamem_tui.bank.manifest import Manifest

_CHANGED = "was changed since the bank was frozen"
_UNCOUNTED = frozenset({manifest.FILE_NAME, ".lock"})


def sealed(folder: Path, before: Manifest) -> Manifest:
    """The manifest of a bank that is to be frozen, with the digest of every file, its own too.

    The manifest cannot hold the digest of its whole text: its own digest is that of the text
    without it.
    """
    promising = replace(before, frozen=True, digests=digests(folder))
    own = {manifest.FILE_NAME: _text_digest(manifest.encode(promising))}
    return replace(promising, digests={**promising.digests, **own})


def broken_promises(folder: Path, frozen: Manifest) -> Iterator[tuple[str, str]]:
    """What is no longer as it was when the bank was frozen, as (file, what is wrong)."""
    promised = {name: text for name, text in frozen.digests.items() if name != manifest.FILE_NAME}
    unsigned = manifest.encode(replace(frozen, digests=promised))
    path = folder / manifest.FILE_NAME
    with files.storage_errors(path):
        as_written = path.read_bytes() == manifest.encode(frozen)
    if frozen.digests.get(manifest.FILE_NAME) != _text_digest(unsigned) or not as_written:
        yield manifest.FILE_NAME, _CHANGED
    present = {path.name: path for path in contents(folder)}
    for name in sorted(set(promised) - set(present)):
        yield name, "is missing"
    for name, path in present.items():
        if name not in promised:
            yield name, "was not there when the bank was frozen"
        elif not path.is_file() or path.is_symlink():
            yield name, "is not a plain file"
        elif digest(path) != promised[name]:
            yield name, _CHANGED


def digests(folder: Path) -> dict[str, str]:
    """`sha256:…` of every file of a bank but its manifest, by name."""
    return {path.name: digest(path) for path in contents(folder)}


def contents(folder: Path) -> list[Path]:
    """The files of a bank but its manifest and lock, by name."""
    with files.storage_errors(folder):
        return sorted(
            path
            for path in folder.iterdir()
            if path.name not in _UNCOUNTED and not path.name.endswith(".draft")
        )


def digest(path: Path) -> str:
    """`sha256:…` of one file."""
    with files.storage_errors(path), path.open("rb") as stream:
        return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"


def _text_digest(text: bytes) -> str:
    return f"sha256:{hashlib.sha256(text).hexdigest()}"
