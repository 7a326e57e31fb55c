"""Scenes of a run: drawn where the log has none, before anything else is asked of the episode.

An episode's other questions show its scene, so they wait for it. The drawings themselves depend
on nothing but the episode, so they are all sent ahead of their turn, and kept when it comes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.errors import TrajectoryError
from deltamem_tui.memory.deltamem.settings import of_bank
from deltamem_tui.memory.episodes.scenes import lacks_scene, with_scene, with_scene_of
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.memory.runs.account import Entry
from deltamem_tui.memory.runs.ahead import Ahead
from deltamem_tui.memory.runs.lookahead import Turn
from deltamem_tui.memory.runs.scene_records import take_drawing
from deltamem_tui.trajectory.model import Trajectory


class Scenes:
    """Sees to it that the episodes of a run have scenes.

    Attributes:
        drawn: How many were drawn and kept.
    """

    def __init__(self, bank: Bank, ahead: Ahead, kept: Callable[[Turn], Trajectory]) -> None:
        """Nothing is asked yet.

        Args:
            bank: The bank.
            ahead: Asks.
            kept: An episode as the bank keeps it.
        """
        self._bank = bank
        self._ahead = ahead
        self._kept = kept
        self.drawn = 0

    def look(self, window: Sequence[Turn]) -> list[Turn]:
        """Send what is missing, and take what has come.

        Args:
            window: The next episodes, in their order.

        Returns:
            Those that can be asked other things already. What was drawn for them is not in the
            bank before their turn.
        """
        for turn in window:
            if self._lacks(turn):
                self._ahead.look_for_scene(turn.number, self._kept(turn))
        return [turn for turn in window if self._has(turn)]

    def have(self, turn: Turn, entry: Entry) -> None:
        """Wait for the scene of the episode whose turn it is, and keep it in the bank.

        Args:
            turn: The episode.
            entry: Where the question is noted that it takes.

        Raises:
            StoppedError: Somebody wanted to stop before there was an answer.
            ExtractionError: The model gave nothing usable.
            LanguageModelError: The model cannot be asked at all.
            StorageError: The disk refused.
        """
        if not self._lacks(turn):
            return
        kept = self._kept(turn)
        self._bank.refresh()
        known = episode(self._bank, kept.id)
        if known is not None and not lacks_scene(known):  # another process was quicker
            turn.settle(with_scene_of(kept, known))
            return
        if self._bank.episodes.state(kept.id) == EpisodeState.LEARNT:
            return
        drawing = self._ahead.draw(kept)
        entry.asked(call := drawing.call())
        turn.settle(take_drawing(self._bank, kept, drawing))
        entry.told([call])
        self.drawn += 1

    def _lacks(self, turn: Turn) -> bool:
        try:
            return lacks_scene(self._kept(turn)) and of_bank(self._bank)["env"].enabled
        except TrajectoryError:
            return False  # its turn tells what is wrong with it

    def _has(self, turn: Turn) -> bool:
        if not self._lacks(turn):
            return True
        kept = self._kept(turn)
        drawing = self._ahead.drawn(kept)
        if drawing is not None and turn.foreseen is None:
            turn.foreseen = with_scene(kept, drawing)
        return drawing is not None
