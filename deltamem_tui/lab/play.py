"""Playing a game: the playthrough that an agent acts in, and the agents' protocol."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from msgspec import Struct

from deltamem_tui.lab.environment import Count, Dollars, Game, Observation, Start
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Step


class AgentCost(Struct, frozen=True):
    """The cost of playing: questions to a model, tokens both ways, US dollars (None if unknown)."""

    calls: Count = 0
    tokens: Count = 0
    cost: Dollars | None = 0.0


@dataclass(slots=True)
class Playthrough:
    """A game under way, up to a limit of actions, its texts cleaned.

    Attributes:
        limit: The most actions.
        best: The best score so far; `last.score` is the score now.
    """

    game: Game
    limit: int
    start: Start = field(init=False)
    last: Observation = field(init=False)
    best: float = field(default=0.0, init=False)
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        seen = self.game.start()
        self.start = Start(clean(seen.task), clean(seen.scene), _cleaned(seen.commands))
        self.last = Observation(self.start.scene, 0.0, done=False, commands=self.start.commands)

    @property
    def over(self) -> bool:
        """True if nothing more can be done."""
        return self.last.done or len(self.steps) >= self.limit

    def act(self, action: str, thought: str = "") -> Observation:
        """Take an action. Nothing happens when the game is over."""
        if not self.over:
            seen = self.game.step(action)
            commands = _cleaned(seen.commands)
            self.last = Observation(clean(seen.text), seen.score, seen.done, commands)
            self.best = max(self.best, self.last.score)
            self.steps.append(Step(action, self.last.text, thought))
        return self.last


def _cleaned(commands: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(clean, commands))


class Agent(Protocol):
    """Plays games; one that asks a model may have a method `cancel`, to ask nothing more.

    Attributes:
        name: Tells it from agents that may play otherwise: part of what names a run.
    """

    name: str

    def play(self, game: Playthrough, memory: str) -> AgentCost:
        """Play a game from its start, with a memory's text (empty without one)."""
