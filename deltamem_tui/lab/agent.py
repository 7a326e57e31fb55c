"""What an agent is: it plays a game that is under way, with a memory's text or without."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Protocol

from msgspec import Meta, Struct

from deltamem_tui.lab.environment import Game, Observation, Start
from deltamem_tui.trajectory.model import Step

Count = Annotated[int, Meta(ge=0, lt=10**12)]
Dollars = Annotated[float, Meta(ge=0, lt=10**12)]
"""Numbers of a stranger are checked when they are decoded: none is below zero, all can be drawn."""


class AgentCost(Struct, frozen=True):
    """What it took an agent to play.

    Attributes:
        calls: How often a model was asked.
        tokens: Tokens sent and received, as the provider counts them.
        cost: What that cost, in US dollars; None if the price is not known.
    """

    calls: Count = 0
    tokens: Count = 0
    cost: Dollars | None = 0.0


@dataclass(slots=True)
class Playthrough:
    """A game under way: what was done in it and what came of that, up to a limit of actions.

    Attributes:
        limit: How many actions may be taken.
    """

    game: Game
    limit: int
    start: Start = field(init=False)
    last: Observation = field(init=False)
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.start = self.game.start()
        self.last = Observation(self.start.scene, 0.0, done=False, commands=self.start.commands)

    @property
    def over(self) -> bool:
        """Whether nothing more can be done."""
        return self.last.done or len(self.steps) >= self.limit

    @property
    def score(self) -> float:
        """The best score so far, from 0 to 1."""
        return self.last.score

    def act(self, action: str, thought: str = "") -> Observation:
        """Take an action. Nothing happens when the game is over."""
        if not self.over:
            self.last = self.game.step(action)
            self.steps.append(Step(action, self.last.text, thought))
        return self.last


class Agent(Protocol):
    """Plays games.

    Attributes:
        name: Tells it from others whose games may go otherwise: part of what names a run.
    """

    name: str

    def play(self, game: Playthrough, memory: str) -> AgentCost:
        """Play a game until it is over or there is nothing more to do.

        Args:
            game: At its start.
            memory: What a memory hands over for it; empty without one.

        Raises:
            LanguageModelError: The model cannot be asked at all.
            UsageError: The agent's program cannot be run, or breaks the protocol.
        """
        ...
