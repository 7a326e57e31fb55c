"""The writer that needs no model: it picks the dialect and what to write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError, OutcomeUnknownError
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.writers.extraction import Extraction, tree_of
from deltamem_tui.memory.writers.rules.dialect import Dialect
from deltamem_tui.memory.writers.rules.dialects import dialect_of
from deltamem_tui.memory.writers.rules.knowledge import fused_facts, knowledge
from deltamem_tui.memory.writers.rules.skill import Episode, failure, fused_skill, success
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Step, Trajectory

_READ = 8000  # characters of each text: what the rules write is a few words of it


class RulesExtractor:
    """Distils episodes by rules alone. The same input gives the same text, always."""

    @property
    def name(self) -> Literal["rules"]:
        """Recorded in each node's origin."""
        return "rules"

    def write(self, purpose: str, episode: Trajectory | None, notes: Sequence[Node]) -> Extraction:
        """Distil an episode, or fuse the notes where there is none.

        Args:
            purpose: A prompt's name; begins with `env` for knowledge, with `task` for a skill.
            episode: An episode whose outcome is known.
            notes: Root to match as it stands, or empty: then the payload is a root's.

        Raises:
            ExtractionError: The episode has no task, or there is nothing to fuse.
            OutcomeUnknownError: How the episode ended is not known.
        """
        of_facts = tree_of(purpose) == "env"
        if episode is None:
            if not notes:
                raise ExtractionError("there is no chain to fuse")
            return (fused_facts if of_facts else fused_skill)(notes)
        episode = _skimmed(episode)
        dialect = dialect_of(episode.domain)
        return (knowledge if of_facts else _skill)(episode, dialect, notes)


def _skill(trajectory: Trajectory, dialect: Dialect, chain: Sequence[Node]) -> Extraction:
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


def _skimmed(trajectory: Trajectory) -> Trajectory:
    """The episode without what acts on a terminal, and with long texts cut."""
    return replace(
        trajectory,
        task=_clean(trajectory.task),
        environment=_clean(scene_of(trajectory)),
        steps=tuple(
            Step(_clean(step.action), _clean(step.observation), reward=step.reward)
            for step in trajectory.steps
        ),
    )


def _clean(text: str) -> str:
    return clean(text[:_READ])
