"""The writer that needs no model: it has the bank's method write by its rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.episodes.stored_episodes import scene_of
from deltamem_tui.memory.method import Method
from deltamem_tui.memory.methods import DEFAULT, method_named
from deltamem_tui.memory.prompts.use import SHARED
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Step, Trajectory

_READ = 8000  # characters of each text: what the rules write is a few words of it


class RulesExtractor:
    """Distils episodes by rules alone. The same input gives the same text, always."""

    def __init__(self, method: Method | None = None) -> None:
        """The rules are those of a method, the default one if none is given."""
        self._method = method or method_named(DEFAULT)

    @property
    def name(self) -> Literal["rules"]:
        """Recorded in each node's origin."""
        return "rules"

    def of_method(self, method: Method) -> RulesExtractor:
        """Return the writer with the rules of a method."""
        return RulesExtractor(method)

    def write(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        """Write what a model would be asked for, by the rules of the method.

        Raises:
            ExtractionError: They can make nothing of it.
            OutcomeUnknownError: How the episode ended is not known, and they need to know it.
        """
        if purpose in SHARED:
            raise ExtractionError(f"{purpose} is not written by rules")
        read = None if episode is None else skimmed(episode)
        return self._method.write_by_rules(purpose, read, notes, inputs)


def skimmed(trajectory: Trajectory) -> Trajectory:
    """Return the episode as the rules read it: clean, long texts cut, without thoughts."""

    def short(text: str) -> str:
        return clean(text[:_READ])

    steps = tuple(
        Step(short(each.action), short(each.observation), reward=each.reward)
        for each in trajectory.steps
    )
    task, scene = short(trajectory.task), short(scene_of(trajectory))
    return replace(trajectory, task=task, environment=scene, steps=steps)
