"""Count the modules of the package that a recall, a learn, an import and an evaluation enter.

A module is entered when one of its functions runs; loading it does not count. The first recall is
of a bank of ALFWorld and finds no match, the matching one does; the general ones are of a bank of
no domain. An evaluation is a recall for one game, and the game. Prints one JSON line.
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

LIMITS = {
    "recall": 25,
    "matching_recall": 28,
    "learn": 35,
    "import": 45,
    "general_recall": 28,
    "general_learn": 35,
    "evaluation": 30,
}
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


def walks(folder: Path) -> dict[str, list[str]]:
    """Walk through the public API with the hashing embedder and the rules."""
    from deltamem_tui import create_bank, learn, recall
    from deltamem_tui.embedding.hashing import hashing_embedder
    from deltamem_tui.lab.contestants import BankMemory, contestants
    from deltamem_tui.memory.episodes.importer import import_of
    from tests.lab.arcade import LOG, Arcade, tools

    embedder = hashing_embedder()
    first, second, *_ = sample()
    bank = create_bank(folder / "bank", embedder=embedder, domain="alfworld")
    learn(bank, first, embedder=embedder)
    general = create_bank(folder / "general", embedder=embedder)
    *before, last = LOG
    for each in before:
        learn(general, each, embedder=embedder)
    (contestant,) = contestants([], {"general": general.path})
    arcade = tools()
    memory = BankMemory(general, embedder, arcade.writer, lambda episode: episode)
    game = Arcade().games("test")[0]
    return {
        "recall": entered(lambda: recall(bank, second.task, embedder=embedder)),
        "matching_recall": entered(lambda: recall(bank, first.task, embedder=embedder)),
        "learn": entered(lambda: learn(bank, second, embedder=embedder)),
        "import": entered(lambda: import_of(bank, [str(SAMPLE)]).run()),
        "general_recall": entered(lambda: recall(general, last.task, embedder=embedder)),
        "evaluation": entered(lambda: arcade.ground.trial(game, contestant, memory)),
        "general_learn": entered(lambda: learn(general, last, embedder=embedder)),
    }


def run() -> str:
    """Count them in a new folder."""
    with tempfile.TemporaryDirectory(prefix="deltamem-walks-") as folder:
        found = walks(Path(folder))
    return goals.line(
        "walks",
        [Goal(name, len(found[name]), "at most", most) for name, most in LIMITS.items()],
        {f"{name}_modules": modules for name, modules in found.items()},
    )


if __name__ == "__main__":
    print(run())
