"""A game that prints, fails, dies and hangs: what the commands say. Its files lie beside it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from deltamem_tui.errors import UsageError
from deltamem_tui.lab.environment import GameInfo, Observation, Start
from deltamem_tui.trajectory.model import Trajectory

HERE = Path(os.environ["UNRULY"])


class Unruly:
    name = "unruly"
    domain = "generic"
    limit = 10
    splits = ("dev",)

    def __init__(self) -> None:
        print("made")  # noqa: T201

    def games(self, split: str) -> Sequence[GameInfo]:
        return [GameInfo("one", split), GameInfo("two", split)]

    def load(self, game: GameInfo) -> Unruly:
        if game.name == "none":
            raise UsageError("there is no such game", hint="one or two")
        return self

    def game_of(self, episode: Trajectory) -> str:
        return ""

    def start(self) -> Start:
        self.done: list[str] = []
        return Start("a task", "a \x1b[31mscene")

    def step(self, action: str) -> Observation:
        print("doing", action)  # noqa: T201
        os.write(1, b"straight to the descriptor\n")
        self.done.append(action)
        if action == "die once":
            self._once("died")
        elif action == "die":
            sys.exit("the last words")
        elif action == "fail":
            raise ConnectionError("no answer from Java")
        elif action == "nonsense":
            return Observation(7, 0.0, done=False)  # type: ignore[arg-type]
        elif action == "boast":
            return Observation("all is done", 100.0, done=True)
        elif action == "hang":
            self.pipe = (HERE / "pipe").open("wb", buffering=0)  # closed when the process is gone
            self.pipe.write(b"hangs\n")
            signal.pause()
        return Observation(" ".join(self.done), len(self.done) / 10, done=False)

    def _once(self, what: str) -> None:
        if (HERE / what).exists():
            return
        (HERE / what).touch()
        os._exit(3)
