"""A process that is killed for good at one of its effects on the disk, whichever thread has it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank.disk import files
from tests.bank.fragile import EFFECTS


class _Deadly:
    """The `os` module, of whose effects one is the last that the process has."""

    def __init__(self, last: int) -> None:
        self.count = 0
        self._last = last

    def __getattr__(self, name: str) -> Any:
        found = getattr(os, name)
        return self.counted(found) if name in EFFECTS else found

    def counted(self, effect: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            self.count += 1
            if self.count == self._last:
                os._exit(9)
            return effect(*arguments, **options)

        return run


def run_until_killed(action: Callable[[], object], last: int = -1) -> int | None:
    """Do something in a process that is killed before one of its effects.

    Args:
        action: What to do.
        last: The number of the effect, from 1; it is not killed if there are fewer.

    Returns:
        How many effects there were; None if it was killed.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            deadly = _Deadly(last)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(files, "os", deadly)
                patch.setattr(Path, "rename", deadly.counted(Path.rename))
                patch.setattr(files, "exchange", deadly.counted(files.exchange))
                patch.setattr(shutil, "rmtree", deadly.counted(shutil.rmtree))
                action()
            os.write(writing, str(deadly.count).encode())
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reading) as stream:
        count = stream.read()
    assert os.waitstatus_to_exitcode(status) in {0, 9}
    return int(count) if count else None
