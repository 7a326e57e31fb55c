"""Rows in pieces: dealt out to a few threads, and given back to the system when they were read."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from numpy.typing import NDArray

PIECE_ROWS = 16_384
_FEWEST_PIECES = 2  # For one piece, a thread costs more than it saves.
_MOST_THREADS = 8  # More only queue for the same memory.


def pieces_of(rows: int, size: int | None = None) -> list[slice]:
    """Rows in pieces of some size, without one of that which is dealt out to threads."""
    step = size or PIECE_ROWS
    return [slice(start, start + step) for start in range(0, rows, step)]


def each_piece(work: Callable[[slice], None], pieces: Sequence[slice]) -> None:
    """Do the work on every piece; on several threads if there are enough pieces."""
    threads = min(cores(), _MOST_THREADS, len(pieces) // _FEWEST_PIECES)
    if threads < 2:
        for piece in pieces:
            work(piece)
        return
    # A pool for each scan: kept threads would not survive a fork, and starting them is cheap.
    with ThreadPoolExecutor(threads, thread_name_prefix="recall") as pool:
        for _ in pool.map(work, pieces):
            pass


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def release(array: NDArray[Any]) -> None:
    """Give the pages of a mapped file that were read back to the system, which may keep them."""
    owner: Any = array
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = getattr(owner, "base", None)
    if owner is not None and hasattr(mmap, "MADV_DONTNEED"):
        owner.madvise(mmap.MADV_DONTNEED)
