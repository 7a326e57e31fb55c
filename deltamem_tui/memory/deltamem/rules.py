"""What DeltaMem writes without a model: skills for the task tree, knowledge for the env tree.

Of real work they write the facts of an episode (`memory.work`). Where a plug-in knows the domain,
they read an episode with its eyes, keep the actions that had an effect, replace what is only an
instance by its kind, and write down what the chain lacks.
"""

from __future__ import annotations

from collections.abc import Sequence

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError, OutcomeUnknownError
from deltamem_tui.memory.deltamem.definition import PROMPTS
from deltamem_tui.memory.domain import GENERAL, Domain, domain_for
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.work import writing as work
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.memory.writers.rules.knowledge import fused_facts, knowledge
from deltamem_tui.memory.writers.rules.skill import Episode, failure, fused_skill, success
from deltamem_tui.trajectory.model import Trajectory


def write_by_rules(
    purpose: str,
    episode: Trajectory | None,
    notes: Sequence[Node],
    inputs: Inputs = NO_INPUTS,  # noqa: ARG001 - DeltaMem writes from episodes and chains
) -> Extraction:
    """Distil an episode, or fuse the notes where there is none.

    Args:
        purpose: The name of one of DeltaMem's prompts.
        episode: An episode whose outcome is known.
        notes: Root to match as it stands, or empty: then the payload is a root's.
        inputs: None are used.

    Raises:
        ExtractionError: The episode has no task, or there is nothing to fuse.
        OutcomeUnknownError: How the episode ended is not known.
    """
    of_facts = PROMPTS[purpose].collection == "env"
    if episode is None:
        if not notes:
            raise ExtractionError("there is no chain to fuse")
        if work.is_work(notes):
            return work.fused(notes)
        return (fused_facts if of_facts else fused_skill)(notes)
    dialect = domain_for(episode.domain)
    if dialect is GENERAL:
        _require_outcome(episode, of_facts)
        return (
            work.knowledge(episode, scene_of(episode), notes) if of_facts else work.skill(episode)
        )
    return (knowledge if of_facts else _skill)(episode, dialect, notes)


def _skill(trajectory: Trajectory, dialect: Domain, chain: Sequence[Node]) -> Extraction:
    _require_outcome(trajectory)
    episode = Episode.read(trajectory, dialect)
    if not episode.goal.trigger:
        raise ExtractionError("the episode has no task", source=trajectory.id)
    if not episode.moves:
        return Extraction(None, "the episode has no steps")
    return (success if trajectory.outcome.success else failure)(episode, chain)


def _require_outcome(episode: Trajectory, of_facts: bool = False) -> None:
    if episode.outcome.success is None and not of_facts:
        raise OutcomeUnknownError(
            "a skill cannot be told from a failure without an outcome",
            source=episode.id,
            hint="give the episode an outcome",
        )
