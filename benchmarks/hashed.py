"""A question at the shell to a million hashed nodes: memory at its peak, mapped files included.

The first question derives what the rows hold from their dense vectors, eight gigabytes, and
keeps it in the cache; the second finds it there. Time is held against reading the dense
vectors once with numpy, which the plain scan would do several times.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from time import perf_counter

import numpy as np

from benchmarks import big_bank, goals
from benchmarks.goals import Goal

ROWS = 1_000_000
_MOST_MEGABYTES = 300.0


def run() -> str:
    """Measure in processes of their own, with a cache of their own."""
    bank = big_bank.hashed(ROWS)
    command = [sys.executable, "-m", "deltamem_tui", "recall", str(bank.path)]
    question = big_bank.trigger(ROWS + 1)
    with tempfile.TemporaryDirectory() as cache:
        first, again = (_measured([*command, question], cache) for _ in range(2))
    vectors = bank.tree("task").embeddings
    started = perf_counter()
    for row in range(0, ROWS, 4096):
        np.count_nonzero(vectors[row : row + 4096])
    reading = perf_counter() - started
    return goals.line(
        "hashed",
        [
            Goal("first_recall_megabytes", first[1], "at most", _MOST_MEGABYTES),
            Goal("recall_megabytes", again[1], "at most", _MOST_MEGABYTES),
            Goal("recall_to_reading_once", again[0] / reading, "below", 1.0),
        ],
        {"rows": ROWS, "first_s": first[0], "again_s": again[0], "reading_s": reading},
    )


def _measured(command: list[str], cache: str) -> tuple[float, float]:
    """Return the seconds and the most megabytes that a command takes."""
    environment = {**os.environ, "XDG_CACHE_HOME": cache}
    started = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return perf_counter() - started, used.ru_maxrss * 1024 / 1e6
