"""Looking ahead: which questions of the next episodes are worth sending before their turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import ExtractionError, TrajectoryError, VectorError
from deltamem_tui.memory.deltamem.collections import COLLECTIONS
from deltamem_tui.memory.deltamem.episode_query import Encounter
from deltamem_tui.memory.deltamem.settings import TreeParameters, of_bank
from deltamem_tui.memory.runs.ahead import Ahead
from deltamem_tui.memory.runs.forecast import Forecast, suspect
from deltamem_tui.trajectory.model import Trajectory


@dataclass(slots=True)
class Turn:
    """An episode and its place in the order.

    Attributes:
        number: Its place; lower ones come first.
        trajectory: The episode, as it was given.
        kept: The episode as the bank keeps it, once somebody wanted to know.
        foreseen: The same with a scene that was drawn ahead of the turn.
        encounter: Its encounter with the bank, once there was one.
        expected: Per tree, whether the forecast was suspicious when the tree was first looked
            at ahead of the turn, and the chain as it was then.
    """

    number: int
    trajectory: Trajectory
    kept: Trajectory | None = None
    foreseen: Trajectory | None = None
    encounter: Encounter | None = None
    expected: dict[str, tuple[bool, tuple[str, ...]]] = field(default_factory=dict)

    def settle(self, kept: Trajectory) -> None:
        """Take the episode as it is in the end, whatever was foreseen of it."""
        self.kept, self.foreseen = kept, None
        if self.encounter is not None and self.encounter.trajectory != kept:
            self.encounter = None


class Lookahead:
    """Sends the questions of the next episodes, as far as they will probably hold."""

    def __init__(self, bank: Bank, ahead: Ahead, met: Callable[[Turn], Encounter]) -> None:
        """Nothing is sent yet.

        Args:
            bank: The bank.
            ahead: Sends the questions.
            met: Lets an episode meet the bank.
        """
        self._bank = bank
        self._ahead = ahead
        self._met = met
        self._forecast = Forecast()

    def look(self, window: Iterable[Turn]) -> None:
        """Send what the bank as it stands makes these episodes ask, the one whose turn it is first.

        What is wrong with an episode is left for its turn to tell.
        """
        self._bank.refresh()
        parameters = of_bank(self._bank)
        earlier: list[Encounter] = []
        for turn in window:
            try:
                encounter = self._met(turn)
                for name in COLLECTIONS:
                    if not encounter.unasked(name, parameters[name]):
                        self._look_at(turn, encounter, name, parameters[name], earlier)
            except (ExtractionError, VectorError, TrajectoryError):
                continue
            earlier.append(encounter)

    def _look_at(
        self,
        turn: Turn,
        encounter: Encounter,
        name: str,
        parameters: TreeParameters,
        earlier: Sequence[Encounter],
    ) -> None:
        found = encounter.recall(name, parameters)
        chain = tuple(node.id for node in found.chain)
        if earlier:
            suspected = suspect(self._bank.tree(name), encounter, found, earlier)
            turn.expected.setdefault(name, (suspected, chain))
            if not self._forecast.holds(name, suspected):
                return
        elif name in turn.expected:
            suspected, before = turn.expected[name]
            self._forecast.correct(name, suspected, held=chain == before)
        self._ahead.look(turn.number, name, encounter.trajectory, found.chain)
