"""`deltamem --help` against importing the library that draws it, and `recall` against numpy's.

A question at the shell is a process of its own. What it takes of the processor is held against
`import numpy`, which it cannot do without.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

from benchmarks import goals
from benchmarks.goals import Goal
from benchmarks.timing import in_turns

ROUNDS = 20

_PROGRAM = [sys.executable, "-m", "deltamem_tui"]
_NUMPY = [sys.executable, "-c", "import numpy"]
_COMMANDS = {
    "help": [*_PROGRAM, "--help"],
    "import_typer": [sys.executable, "-c", "import typer"],
    "bare_python": [sys.executable, "-c", "pass"],
}
_SHIPPED = Path(__file__).parent.parent / "memory_banks" / "scienceworld"
_TASK = "Your task is to find an animal. First, focus on the thing. Then, move it to the box."
_LIMITS = {"hashing": 3.0, "minilm": 6.0}
_MOST_MEGABYTES = 100.0


def run() -> str:
    """Measure fresh processes in turns."""
    timings = in_turns({name: _Process(command) for name, command in _COMMANDS.items()}, ROUNDS)
    ratio = timings.ratio("help", "import_typer")
    stated = [Goal("help_to_import_typer", ratio, "at most", 1.5)]
    return goals.line("start", stated + _recalls(), timings.milliseconds())


def _recalls() -> list[Goal]:
    """`recall` from banks of each embedder that needs no torch, fastest round against fastest."""
    with TemporaryDirectory() as folder:
        commands = {"numpy": _NUMPY}
        for embedder in _LIMITS:
            bank = str(copytree(_SHIPPED, Path(folder) / embedder))
            for change in (["unfreeze", bank], ["reembed", bank, "--embedder", embedder]):
                subprocess.run([*_PROGRAM, *change], check=True, capture_output=True)
            commands[embedder] = [*_PROGRAM, "recall", bank, _TASK]
        rounds = [{name: _usage(commands[name]) for name in commands} for _ in range(ROUNDS)]
    seconds = {name: min(each[name][0] for each in rounds) for name in commands}
    stated = []
    for name in sorted(commands.keys() & _LIMITS.keys()):
        ratio = seconds[name] / seconds["numpy"]
        megabytes = max(each[name][1] for each in rounds)
        stated += [
            Goal(f"{name}_recall_to_import_numpy", ratio, "at most", _LIMITS[name]),
            Goal(f"{name}_recall_megabytes", megabytes, "at most", _MOST_MEGABYTES),
        ]
    return stated


def _usage(command: list[str]) -> tuple[float, float]:
    """Return the processor's seconds and the most megabytes that a command takes."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6


class _Process:
    """A command that is run to its end."""

    def __init__(self, command: list[str]) -> None:
        self._command = command

    def __call__(self, _: int) -> None:
        subprocess.run(self._command, check=True, stdout=subprocess.DEVNULL)
