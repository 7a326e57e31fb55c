"""The agent that is an object of the user's own, named by its file."""

from __future__ import annotations

from deltamem_tui.errors import DeltaMemError, UsageError
from deltamem_tui.lab.environment import own_digest, own_object
from deltamem_tui.lab.grounds import Playthrough
from deltamem_tui.lab.plan import ModelCost
from deltamem_tui.text import one_line


class OwnAgent:
    """Plays by the object that `FILE.py:NAME` names; threads may share it."""

    def __init__(self, spec: str) -> None:
        self._spec, self._agent = spec, own_object(spec, "an agent", ("play",))
        self.name = f"{one_line(spec.rpartition(':')[2], 60)} {own_digest(spec)[:8]}"

    def play(self, game: Playthrough, memory: str) -> ModelCost:
        """Have the object play; it may return what a model took for it."""
        try:
            cost = self._agent.play(game, memory)
        except DeltaMemError:
            raise
        except (Exception, SystemExit) as error:  # whatever the user's own code can raise
            why = one_line(f"{type(error).__name__}: {error}", 200)
            source = one_line(self._spec, 200)
            raise UsageError(f"the agent failed: {why}", source=source) from error
        return cost if isinstance(cost, ModelCost) else ModelCost(cost=None)
