"""`deltamem --help` against importing the library that draws it."""

from __future__ import annotations

import subprocess
import sys

from benchmarks import goals
from benchmarks.goals import Goal
from benchmarks.timing import in_turns

ROUNDS = 20

_COMMANDS = {
    "help": [sys.executable, "-m", "deltamem_tui", "--help"],
    "import_typer": [sys.executable, "-c", "import typer"],
    "bare_python": [sys.executable, "-c", "pass"],
}


def run() -> str:
    """Measure fresh processes in turns."""
    timings = in_turns({name: _Process(command) for name, command in _COMMANDS.items()}, ROUNDS)
    ratio = timings.ratio("help", "import_typer")
    return goals.line(
        "start", [Goal("help_to_import_typer", ratio, "at most", 1.5)], timings.milliseconds()
    )


class _Process:
    """A command that is run to its end."""

    def __init__(self, command: list[str]) -> None:
        self._command = command

    def __call__(self, _: int) -> None:
        subprocess.run(self._command, check=True, stdout=subprocess.DEVNULL)
