"""Keeping a scene that was drawn: a later record of the same episode, and a line in the journal."""

from __future__ import annotations

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.episodes.scenes import drawn_text, lacks_scene, with_scene, with_scene_of
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.memory.learn_result import REASON_WIDTH
from deltamem_tui.memory.writers.extraction import Extraction, known_calls
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.native import to_record


def take_drawing(bank: Bank, trajectory: Trajectory, drawing: Extraction) -> Trajectory:
    """Keep the scene that was drawn for an episode; returns the episode with its scene.

    A scene that another process drew meanwhile stays. An episode that the bank does not have
    yet is not added: it comes with its scene when it is learnt.

    Raises:
        BankFrozenError: The bank is frozen.
        StorageError: The disk refused; the bank is as it was.
    """
    bank.require_writable()
    with bank.writing() as batch:
        known = episode(bank, trajectory.id)
        if known is not None and not lacks_scene(known):
            trajectory = with_scene_of(trajectory, known)
        else:
            trajectory = with_scene(trajectory, drawing)
        if known is not None and lacks_scene(known):
            batch.put_episode(to_record(with_scene(known, drawing)))
        detail = {
            "trajectory": trajectory.id,
            "scene": one_line(drawn_text(drawing), REASON_WIDTH),
            "calls": [each.record() for each in known_calls(drawing.call("draw", "env"))],
        }
        batch.log("draw", detail)
    return trajectory
