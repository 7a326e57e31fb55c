"""The agent without a model: always the same, so that it shows how good a text is."""

from __future__ import annotations

from collections.abc import Callable

from deltamem_tui.errors import UsageError
from deltamem_tui.lab.agent import AgentCost, Playthrough
from deltamem_tui.lab.agents.alfworld import AlfworldPlayer
from deltamem_tui.lab.agents.player import TextPlayer
from deltamem_tui.lab.agents.scienceworld import ScienceWorldPlayer
from deltamem_tui.text import one_line

_PLAYERS: dict[str, Callable[[Playthrough], TextPlayer]] = {
    "alfworld": AlfworldPlayer,
    "scienceworld": ScienceWorldPlayer,
}


class RulesAgent:
    """Carries out what a memory's text says; without a text it takes no step.

    Args:
        domain: The kind of environment, whose commands it knows.

    Raises:
        UsageError: It knows none of this domain.
    """

    name = "rules"

    def __init__(self, domain: str) -> None:
        if domain not in _PLAYERS:
            raise UsageError(
                f"the agent without a model knows no commands of {one_line(domain, 40)!r}",
                hint=f"it plays {' and '.join(_PLAYERS)}; give a model, or a program of your own",
            )
        self._player = _PLAYERS[domain]

    def play(self, game: Playthrough, memory: str) -> AgentCost:
        """Carry out the memory's commands in order."""
        self._player(game).play(memory)
        return AgentCost()
