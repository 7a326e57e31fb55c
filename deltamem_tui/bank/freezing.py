"""Digests of a bank's files: what a frozen bank promises, and how the promise is checked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from deltamem_tui.bank import manifest, usage_log
from deltamem_tui.bank.disk import archive_view, files
from deltamem_tui.bank.disk.archive import LIMITS
from deltamem_tui.bank.manifest import Manifest

_CHANGED = "was changed since the bank was frozen"
_UNCOUNTED = frozenset({manifest.FILE_NAME, ".lock", usage_log.FILE_NAME})


def sealed(folder: Path, before: Manifest) -> Manifest:
    """Return the manifest of the bank in a folder that is to be frozen."""
    return promising(before, digests(folder))


def promising(before: Manifest, found: Mapping[str, str]) -> Manifest:
    """Return the manifest of a frozen bank, with the digest of every file, its own too.

    The manifest cannot hold the digest of its whole text: its own digest is that of the text
    without it.
    """
    found = {name: value for name, value in found.items() if name not in _UNCOUNTED}
    unsigned = replace(before, frozen=True, digests=dict(sorted(found.items())))
    own = {manifest.FILE_NAME: text_digest(manifest.encode(unsigned))}
    return replace(unsigned, digests={**unsigned.digests, **own})


def broken_promises(
    folder: Path, frozen: Manifest, between: Callable[[], None] = lambda: None
) -> Iterator[tuple[str, str]]:
    """Yield what has changed since the bank was frozen, as (file, what is wrong).

    `between` is called before each file is read. What it raises ends the check.
    """
    text = archive_view.read(folder / manifest.FILE_NAME, LIMITS.manifest)
    found = {}
    for path in contents(folder):
        between()
        found[path.name] = _digest_if_plain(path)
    yield from disagreements(frozen, text, found)


def disagreements(
    frozen: Manifest, text: bytes, found: Mapping[str, str | None]
) -> Iterator[tuple[str, str]]:
    """Yield where a frozen manifest and the files that were found disagree, as (file, what is
    wrong).
    """
    promised = {name: value for name, value in frozen.digests.items() if name != manifest.FILE_NAME}
    unsigned = manifest.encode(replace(frozen, digests=promised))
    as_written = text == manifest.encode(frozen)
    if frozen.digests.get(manifest.FILE_NAME) != text_digest(unsigned) or not as_written:
        yield manifest.FILE_NAME, _CHANGED
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


def digests(folder: Path) -> dict[str, str]:
    """`sha256:…` of every file of a bank but its manifest, by name."""
    return {path.name: digest(path) for path in contents(folder)}


def contents(folder: Path) -> list[Path]:
    """Return the files of a bank that digests cover, by name."""
    return [
        folder / name
        for name in archive_view.names(folder)
        if name not in _UNCOUNTED and not name.endswith(".draft")
    ]


def digest(path: Path) -> str:
    """`sha256:…` of one file."""
    with files.storage_errors(path), archive_view.opened(path) as stream:
        return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"


def text_digest(text: bytes) -> str:
    """`sha256:…` of some bytes."""
    return f"sha256:{hashlib.sha256(text).hexdigest()}"


def _digest_if_plain(path: Path) -> str | None:
    return digest(path) if archive_view.is_plain(path) else None
