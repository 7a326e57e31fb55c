"""Readers: any agent's log in, trajectories out. One module per format.

The names are loaded when they are first asked for (PEP 562): hooks need one small module of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deltamem_tui.trajectory.logs.record import Notice as Notice
    from deltamem_tui.trajectory.readers.native import from_record as from_record
    from deltamem_tui.trajectory.readers.native import to_line as to_line
    from deltamem_tui.trajectory.readers.reader import Reader as Reader
    from deltamem_tui.trajectory.readers.reader import Reading as Reading
    from deltamem_tui.trajectory.readers.reading import read_log as read_log
    from deltamem_tui.trajectory.readers.reading import read_logs as read_logs
    from deltamem_tui.trajectory.readers.registry import Claim as Claim
    from deltamem_tui.trajectory.readers.registry import detect as detect
    from deltamem_tui.trajectory.readers.registry import reader_named as reader_named
    from deltamem_tui.trajectory.readers.registry import readers as readers

_HOMES = {
    "logs.record": ("Notice",),
    "readers.native": ("from_record", "to_line"),
    "readers.reader": ("Reader", "Reading"),
    "readers.reading": ("read_log", "read_logs"),
    "readers.registry": ("Claim", "detect", "reader_named", "readers"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"deltamem_tui.trajectory.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
