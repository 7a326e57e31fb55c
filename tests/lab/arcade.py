"""A small environment, an agent without a model, and what a contest of them needs.

A machine of a colour wants its own verb. The agent does first what its memory says, then tries
all verbs in turn: so a memory is worth steps, and where there are fewer tries than verbs, games.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from deltamem_tui.embedding.load import load
from deltamem_tui.lab.contest import Tools, hold
from deltamem_tui.lab.contestants import Contestant, contestants
from deltamem_tui.lab.environment import GameInfo, Observation, Start
from deltamem_tui.lab.grounds import GameGround, Playthrough
from deltamem_tui.lab.plan import ContestPlan, ModelCost, digest_of_episodes
from deltamem_tui.lab.result import ContestResult
from deltamem_tui.memory.method import RulesExtractor
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory

VERBS = ("push", "pull", "twist", "lift", "press")
WANTED = {"red": "twist", "blue": "press", "grey": "push"}
LIMIT = 3


class Machine:
    def __init__(self, colour: str, number: int) -> None:
        self.colour, self.number = colour, number

    def start(self) -> Start:
        return Start(f"start the {self.colour} machine {self.number}", f"A {self.colour} machine.")

    def step(self, action: str) -> Observation:
        won = action == f"{WANTED[self.colour]} {self.colour}"
        return Observation("It runs." if won else "Nothing.", float(won), done=won)


class Arcade:
    name = "arcade"
    domain = "generic"
    limit = LIMIT
    splits = ("train", "test")

    def __init__(self) -> None:
        self.loaded: list[str] = []

    def games(self, split: str) -> Sequence[GameInfo]:
        first = 0 if split == "train" else 50
        return [
            GameInfo(f"{colour}/{number}", split, colour)
            for number in range(first, first + 4)
            for colour in WANTED
        ]

    def load(self, game: GameInfo) -> Machine:
        self.loaded.append(game.name)
        colour, _, number = game.name.partition("/")
        return Machine(colour, int(number))

    def game_of(self, episode: Trajectory) -> str:
        return episode.metadata.get("game", "")


class Tinkerer:
    name = "tinkerer"

    def play(self, game: Playthrough, memory: str) -> ModelCost:
        colour = game.start.task.split()[2]
        told = re.findall(rf"({'|'.join(VERBS)}) {colour}", memory)
        for verb in dict.fromkeys([*reversed(told), *VERBS]):
            game.act(f"{verb} {colour}")
        return ModelCost(len(game.steps), 10 * len(game.steps), 0.5)


def solved(colour: str, number: int) -> Trajectory:
    """An episode in which a machine was started at once."""
    start = Machine(colour, number).start()
    steps = (Step(f"{WANTED[colour]} {colour}", "It runs."),)
    facts = {"game": f"{colour}/{number}", "task_type": colour}
    return Trajectory(start.task, start.scene, steps, Outcome(True, 1.0, "stated"), metadata=facts)


LOG = [solved(colour, number) for number in range(2) for colour in WANTED]


def plan(protocol: Any, who: Sequence[Contestant] | None = None, **facts: Any) -> ContestPlan:
    """A plan of the arcade's test games; `log` is what is learnt before."""
    known = {
        "environment": "arcade",
        "split": "test",
        "games": tuple(Arcade().games("test")),
        "limit": LIMIT,
        "agent": "tinkerer",
        "domain": "generic",
        "embedder": "hashing",
        "learnt_from": digest_of_episodes(facts.pop("log", ())),
    }
    chosen = contestants(["nothing", "raw", "synapse"], {}) if who is None else tuple(who)
    return ContestPlan(protocol=protocol, contestants=chosen, **{**known, **facts})


class InProcess:
    """The arcade without worker processes."""

    def __init__(self) -> None:
        self.environment = Arcade()

    def playing(self, info: GameInfo) -> AbstractContextManager[Machine]:
        return nullcontext(self.environment.load(info))


def tools(parallel: int = 1) -> Tools:
    workers: Any = InProcess()
    ground = GameGround(workers, Tinkerer(), LIMIT, "generic")
    return Tools(ground, load("hashing"), RulesExtractor(), parallel)


def run(folder: Path, wanted: ContestPlan, parallel: int = 1, **rest: Any) -> ContestResult:
    return hold(wanted, tools(parallel), folder, **rest)
