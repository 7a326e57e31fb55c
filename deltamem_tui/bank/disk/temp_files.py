"""Drafts: what is written beside its place first, and what a killed process left of them.

A draft is claimed by a lock on itself, which the system lets go of when its process ends,
however it ends. So whoever makes the next draft in a folder can distinguish those that are
still being written from those that were left behind, and clears these away.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NAME = re.compile(r"\..+\.[0-9a-f]{8}\.draft", re.DOTALL)
_ATTEMPTS = 16
# A link is not followed, and a pipe does not wait for a writer.
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def beside(path: Path, make: Callable[[Path], object]) -> Iterator[Path]:
    """Provide a claimed draft beside `path`; gone when the block ends, unless it was moved away.

    `make` makes it, as an empty file or folder.
    """
    clear(path.parent)
    draft, claim = _claimed(path, make)
    try:
        yield draft
    finally:
        _remove(draft)
        if claim is not None:
            os.close(claim)


def clear(folder: Path) -> None:
    """Remove the drafts in a folder whose process has ended. Others, and what fails, stay."""
    with suppress(OSError), os.scandir(folder) as entries:
        left = [folder / entry.name for entry in entries if _NAME.fullmatch(entry.name)]
        for draft in left:
            _remove_if_left(draft)


def _claimed(path: Path, make: Callable[[Path], object]) -> tuple[Path, int | None]:
    """Return a draft, and the claim on it; there is none where the file system knows no locks."""
    for _ in range(_ATTEMPTS):
        draft = path.parent / f".{path.name}.{secrets.token_hex(4)}.draft"
        make(draft)
        try:
            claim = _claim(draft)
        except (BlockingIOError, FileNotFoundError):
            continue  # a process that clears away took it for one that was left
        except OSError:
            return draft, None
        if draft.exists():
            return draft, claim
        os.close(claim)
    raise BlockingIOError(f"no draft could be kept beside {path.name}")


def _claim(draft: Path) -> int:
    """Lock a draft, if no other process has; the lock lasts as long as the descriptor is open."""
    descriptor = os.open(draft, _LOOK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _remove_if_left(draft: Path) -> None:
    with suppress(OSError):
        kind = stat.S_IFMT(draft.lstat().st_mode)
        if kind not in {stat.S_IFDIR, stat.S_IFREG}:
            return
        claim = _claim(draft)
        try:
            _remove(draft)
        finally:
            os.close(claim)


def _remove(draft: Path) -> None:
    if draft.is_dir():
        shutil.rmtree(draft, ignore_errors=True)
        return
    with suppress(OSError):
        draft.unlink(missing_ok=True)
