"""Import large libraries without Python's collector looking through them again and again.

A library of a hundred thousand objects that will live as long as the process makes the
collector of reference cycles run over all of them many times while they are imported, for
nothing; and once more later, which takes a third of a second in which no other thread goes on.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def importing(library: str) -> Iterator[None]:
    """Let the collector rest while a library is first imported, and pass over it for good.

    It passes over all else that is there by then, too: cycles that were given up before are
    not taken down any more. They are few beside a library for which that pays.

    Args:
        library: The library's name; nothing happens if it was imported before.
    """
    if library in sys.modules:
        yield
        return
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.freeze()
            gc.enable()
