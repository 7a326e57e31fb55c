"""Digests of a bank's files: what a frozen bank promises, and how the promise is checked."""

from __future__ import annotations

import hashlib
from pathlib import Path

from deltamem_tui.bank import files, manifest

_UNCOUNTED = frozenset({manifest.FILE_NAME, ".lock"})


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
