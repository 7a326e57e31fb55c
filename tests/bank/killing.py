"""A process that is killed for good at one of its effects on the disk, whichever thread has it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from deltamem_tui.bank.disk import files
from tests.bank.fragile import NEVER, FragileOS


def run_until_killed(action: Callable[[], object], last: int = NEVER) -> int | None:
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
            fragile = FragileOS(last, "exit")
            with fragile.at_work(), pytest.MonkeyPatch.context() as patch:
                for place, name in ((Path, "rename"), (files, "exchange"), (shutil, "rmtree")):
                    patch.setattr(place, name, fragile.guarded(name, getattr(place, name)))
                action()
            os.write(writing, str(len(fragile.names)).encode())
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reading) as stream:
        count = stream.read()
    assert os.waitstatus_to_exitcode(status) in {0, 9}
    return int(count) if count else None
