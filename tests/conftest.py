"""What makes two workers on two cores quick, and every test patient on a busy machine."""

from __future__ import annotations

import gc
import os
import tempfile
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests import effort

effort.register()

# Thousands of tests are made and none is thrown away: the collector of cycles has nothing to do.
gc.disable()

# Two processes of two threads each wait for one another, which burns time on busy cores.
# The libraries read this when they are first imported, here and in every program of a test.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A helper of the hooks would outlive the test that started it.
os.environ.setdefault("DELTAMEM_NO_HELPER", "1")

# Nothing here outlives a run, so it need not reach a disk where there is memory to hold it: a
# sixth of the time went into renames that wait for one. Workers and programs inherit this.
MEMORY = Path("/dev/shm")
ENOUGH = 4 << 30  # bytes; a run holds a fourth of it

LONGEST = "test_wheel.py"


def room_in_memory() -> bool:
    """Whether there is a folder in memory for what the tests write."""
    if not os.access(MEMORY, os.W_OK | os.X_OK):
        return False
    room = os.statvfs(MEMORY)
    return room.f_bavail * room.f_frsize >= ENOUGH


if "TMPDIR" not in os.environ and room_in_memory():
    folder = MEMORY / f"dm{os.getuid()}"  # short, for screens on which whole paths are looked for
    folder.mkdir(exist_ok=True)
    folder.chmod(0o711)  # like /tmp, it lets through who knows the way: a test reads as nobody
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = None  # pytest's capture has asked for it already


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let the seed of the run draw hypothesis' examples too; refuse a stale installation."""
    if not entry_points(group="deltamem.domains"):
        pytest.exit("entry points changed: run .venv/bin/pip install --no-deps -e .", returncode=4)
    if config.getoption("hypothesis_seed", None) is None:
        config.option.hypothesis_seed = effort.SEED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how to draw the same cases again if a test failed."""
    if terminalreporter.stats.keys() & {"failed", "error"}:
        terminalreporter.write_line(effort.how_to_draw_again())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes a minute, so that no worker ends with it alone.

    A quick run of all tests leaves cases out; what is asked for by its name is run whole.
    """
    items.sort(key=lambda item: item.path.name != LONGEST)
    by_name = config.option.keyword or any(".py" in each for each in config.args)
    if not by_name and not effort.thorough():
        out = set(effort.left_out(items))
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if item not in out]


def pytest_collection_finish() -> None:
    """Let the collector of cycles look only at what tests make, not at every test there is."""
    gc.collect()
    gc.freeze()
    # Libraries loaded later are not thrown away either: a fifth of the browser's tests went into
    # looking through them whenever 700 objects were new.
    gc.set_threshold(100_000, 10, 10)
    gc.enable()
