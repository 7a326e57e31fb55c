"""Removes secrets from an episode before anything else sees it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.secrets.redaction import NOTHING, Redactions, Redactor


def redact(trajectory: Trajectory, *, personal: bool = False) -> tuple[Trajectory, Redactions]:
    """Return the episode without secrets; the same object if it holds none.

    Searched are all its texts and its provenance: source file, domain, agent, and the names and
    values of its metadata. A secret becomes `[redacted: kind]`. One that was found once is removed
    wherever else it occurs in the episode.

    Args:
        trajectory: The episode.
        personal: Remove e-mail addresses too.
    """
    redactor = Redactor(personal=personal)
    redactor.learn(_notes(trajectory))
    if personal or not trajectory.has_plain_texts:
        redactor.learn(_texts(trajectory))
    if not redactor.kinds:
        return trajectory, NOTHING
    return _cleaned(trajectory, redactor), redactor.redactions


def _texts(trajectory: Trajectory) -> list[str]:
    parts = [trajectory.task, trajectory.environment, trajectory.outcome.reason]
    for step in trajectory.steps:
        parts += (step.thought, step.action, step.observation)
        if step.arguments:
            parts += _argument_texts(step.arguments)
    return parts


def _argument_texts(value: object, name: str = "") -> list[str]:
    if isinstance(value, Mapping):
        return [text for key, each in value.items() for text in _argument_texts(each, str(key))]
    if isinstance(value, list):
        return [text for each in value for text in _argument_texts(each, name)]
    return [f"{name}={value}" if name else value] if isinstance(value, str) else []


def _notes(trajectory: Trajectory) -> list[str]:
    source, facts = trajectory.source, trajectory.metadata
    notes = [trajectory.domain, trajectory.agent, source.file, source.format, source.position]
    return [*notes, *facts, *(f"{key}={value}" for key, value in facts.items())]


def _cleaned(trajectory: Trajectory, redactor: Redactor) -> Trajectory:
    clean, metadata = redactor.clean, trajectory.metadata
    return replace(
        replace(trajectory, metadata={}).with_texts(lambda _, text: clean(text)),
        metadata={clean(key): redactor.clean_value(key, text) for key, text in metadata.items()},
    )
