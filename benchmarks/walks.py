"""Count the modules of the package that a recall, a learn and an import enter.

A module is entered when one of its functions runs; loading it does not count. Prints one JSON line.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks import goals
from benchmarks.goals import Goal
from benchmarks.samples import SAMPLE, sample

LIMITS = {"recall": 25, "learn": 35, "import": 45}
_PACKAGE = "deltamem_tui."


def entered(work: Callable[[], object]) -> list[str]:
    """Return the modules of the package whose functions ran during some work, in order."""
    found: dict[str, None] = {}

    def look(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith(_PACKAGE) and frame.f_code.co_name != "<module>":
            found.setdefault(name)

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    return [*found]


def run() -> str:
    """Walk through the public API with the hashing embedder and the rules."""
    from deltamem_tui import create_bank, learn, recall
    from deltamem_tui.embedding.hashing import hashing_embedder
    from deltamem_tui.memory.episodes.importer import LogImport

    embedder = hashing_embedder()
    first, second, *_ = sample()
    with tempfile.TemporaryDirectory(prefix="deltamem-walks-") as folder:
        bank = create_bank(Path(folder) / "bank", embedder=embedder, domain="alfworld")
        learn(bank, first, embedder=embedder)
        walks = {
            "recall": entered(lambda: recall(bank, second.task, embedder=embedder)),
            "learn": entered(lambda: learn(bank, second, embedder=embedder)),
            "import": entered(lambda: LogImport(bank, [str(SAMPLE)]).run()),
        }
    return goals.line(
        "walks",
        [Goal(name, len(walks[name]), "at most", most) for name, most in LIMITS.items()],
        {f"{name}_modules": modules for name, modules in walks.items()},
    )


if __name__ == "__main__":
    print(run())
