"""Removes secrets from an episode before anything else sees it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from msgspec.structs import replace

from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.secrets.prefilter import may_hold_secrets, names_may_hold_secrets
from deltamem_tui.trajectory.secrets.redaction import NOTHING, Redactions, Redactor

# Each episode has another, so remembering the answer would not help.
_PLAIN_POSITION = re.compile(r"(?:line|record) [0-9]{1,9}")
# Most episodes of a log end for one of a few reasons, and have most of their notes in common.
_reason_may_hold_secrets = lru_cache(maxsize=256)(may_hold_secrets)
_names_may_hold_secrets = lru_cache(maxsize=256)(names_may_hold_secrets)


@lru_cache(maxsize=4096)
def _fact_may_hold_secrets(name: str, value: str) -> bool:
    return names_may_hold_secrets(notes_of(metadata={name: value}))


def redact(trajectory: Trajectory, *, personal: bool = False) -> tuple[Trajectory, Redactions]:
    """Returns the episode without secrets; the same object if it holds none.

    Searched are all its texts and its provenance: source file, domain, agent, and the names and
    values of its metadata. A secret becomes `[redacted: kind]`. One that was found once is removed
    wherever else it occurs in the episode.

    Args:
        trajectory: The episode.
        personal: Remove e-mail addresses too.
    """
    reason = trajectory.outcome.reason
    in_texts = _reason_may_hold_secrets(reason) or (
        not trajectory.has_plain_texts and may_hold_secrets(trajectory.searchable)
    )
    facts = trajectory.metadata
    in_notes = _names_may_hold_secrets(_names(trajectory)) or any(
        map(_fact_may_hold_secrets, facts, facts.values())
    )
    if not (in_texts or in_notes or personal):
        return trajectory, NOTHING
    notes = notes_of(*_names(trajectory), metadata=facts)
    if personal:
        in_texts = in_texts or b"@" in trajectory.searchable or "@" in reason
        in_notes = in_notes or any("@" in note for note in notes)
    redactor = Redactor(personal=personal)
    if in_texts:
        redactor.learn(_texts(trajectory))
    if in_notes:
        redactor.learn(notes)
    if not redactor.found:
        return trajectory, NOTHING
    return _cleaned(trajectory, redactor), redactor.redactions


def _texts(trajectory: Trajectory) -> list[str]:
    """All that was said and shown in the episode, and why it ended as it did."""
    parts = [trajectory.task, trajectory.environment, trajectory.outcome.reason]
    for step in trajectory.steps:
        parts += (step.thought, step.action, step.observation)
        if step.arguments:
            parts += _argument_texts(step.arguments)
    return parts


def _argument_texts(value: object, name: str = "") -> list[str]:
    """Return the texts in a call's arguments, each behind its name as an assignment is."""
    if isinstance(value, Mapping):
        return [text for key, each in value.items() for text in _argument_texts(each, str(key))]
    if isinstance(value, list):
        return [text for each in value for text in _argument_texts(each, name)]
    return [f"{name}={value}" if name else value] if isinstance(value, str) else []


def _names(trajectory: Trajectory) -> tuple[str, ...]:
    source = trajectory.source
    names = (trajectory.domain, trajectory.agent, source.file, source.format)
    return names if _PLAIN_POSITION.fullmatch(source.position) else (*names, source.position)


def notes_of(*names: str, metadata: Mapping[str, str]) -> list[str]:
    """Returns the short strings that describe an episode, besides its texts.

    A metadata value is preceded by its name, since some values are secrets only because of their
    names. A name that is more than a word is also listed alone: it may itself contain a secret.
    """
    keys = [key for key in metadata if not key.isidentifier()]
    return [*names, *keys, *(f"{key}={value}" for key, value in metadata.items())]


def _cleaned(trajectory: Trajectory, redactor: Redactor) -> Trajectory:
    clean, metadata = redactor.clean, trajectory.metadata
    return replace(
        replace(trajectory, metadata={}).with_texts(lambda _, text: clean(text)),
        metadata={clean(key): redactor.clean_value(key, text) for key, text in metadata.items()},
    )
