"""Import large libraries without Python's collector looking through them again and again.

A library of a hundred thousand objects that will live as long as the process makes the
collector of reference cycles run over all of them many times while they are imported, for
nothing.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def importing(library: str) -> Iterator[None]:
    """Let the collector rest while a library is first imported.

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
            gc.enable()
