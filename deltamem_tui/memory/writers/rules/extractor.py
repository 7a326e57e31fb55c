"""The extractor that needs no model: it picks the dialect and what to write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError, OutcomeUnknownError
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.writers.extraction import Extraction
from deltamem_tui.memory.writers.rules.alfworld import AlfworldDialect
from deltamem_tui.memory.writers.rules.dialect import Dialect
from deltamem_tui.memory.writers.rules.fusion import fused
from deltamem_tui.memory.writers.rules.knowledge import knowledge
from deltamem_tui.memory.writers.rules.scienceworld import ScienceWorldDialect
from deltamem_tui.memory.writers.rules.skill import Episode, failure, success
from deltamem_tui.memory.writers.rules.webshop import WebShopDialect
from deltamem_tui.text import clean
from deltamem_tui.trajectory.domains import key
from deltamem_tui.trajectory.model import Step, Trajectory

_READ = 8000
_GENERAL = Dialect()
_DIALECTS: dict[str, Dialect] = {
    "alfworld": AlfworldDialect(),
    "scienceworld": ScienceWorldDialect(),
    "webshop": WebShopDialect(),
}


class RulesExtractor:
    """Distils episodes by rules alone. The same input gives the same text, always."""

    @property
    def name(self) -> Literal["rules"]:
        """Recorded in each node's origin."""
        return "rules"

    def write(self, purpose: str, episode: Trajectory | None, notes: Sequence[Node]) -> Extraction:
        """Distil an episode, or fuse the notes where there is none.

        Args:
            purpose: Begins with the collection's name: `task` for a skill, `env` for knowledge.
            episode: An episode whose outcome is known.
            notes: Root to match as it stands, or empty: then the payload is a root's.

        Raises:
            ExtractionError: The episode has no task, or there is nothing to fuse.
            OutcomeUnknownError: How the episode ended is not known.
        """
        tree: str = "env" if purpose.startswith("env") else "task"
        return self.fuse(tree, notes) if episode is None else self.extract(tree, episode, notes)

    def extract(self, tree: str, trajectory: Trajectory, chain: Sequence[Node]) -> Extraction:
        """Distil what `trajectory` teaches one tree.

        Args:
            tree: `task` for a skill, `env` for knowledge.
            trajectory: An episode whose outcome is known.
            chain: Root to match as it stands, or empty: then the payload is a root's.

        Raises:
            ExtractionError: The episode has no task.
            OutcomeUnknownError: How the episode ended is not known.
        """
        trajectory = _readable(trajectory)
        dialect = _DIALECTS.get(key(trajectory.domain), _GENERAL)
        if tree == "env":
            return knowledge(trajectory, dialect, chain)
        if trajectory.outcome.success is None:
            raise OutcomeUnknownError(
                "a skill cannot be told from a failure without an outcome",
                source=trajectory.id,
                hint="give the episode an outcome",
            )
        episode = Episode.read(trajectory, dialect)
        if not episode.goal.trigger:
            raise ExtractionError("the episode has no task", source=trajectory.id)
        if not episode.moves:
            return Extraction(None, "the episode has no steps")
        return (success if trajectory.outcome.success else failure)(episode, chain)

    def fuse(self, tree: str, chain: Sequence[Node]) -> Extraction:
        """Merge a chain into one payload: deltas at their places, no repeats, warnings last.

        Args:
            tree: The tree that holds the chain.
            chain: Root to the residual that was hit often enough.

        Raises:
            ExtractionError: The chain is empty.
        """
        if not chain:
            raise ExtractionError("there is no chain to fuse")
        return fused(tree, chain)


def _readable(trajectory: Trajectory) -> Trajectory:
    """The episode as a person would skim it: nothing that acts on a terminal, long texts cut.

    What the rules write is a few words of each text; they need not read megabytes for it.
    """
    return replace(
        trajectory,
        task=_skimmed(trajectory.task),
        environment=_skimmed(scene_of(trajectory)),
        steps=tuple(
            Step(_skimmed(step.action), _skimmed(step.observation), reward=step.reward)
            for step in trajectory.steps
        ),
    )


def _skimmed(text: str) -> str:
    return clean(text[:_READ])
