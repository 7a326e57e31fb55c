"""What kind of task an episode was, in what kind of environment, and at which try.

Methods that group what they learn need it. An episode's id is a digest of its task, environment
and steps, so this is kept in the metadata, each kind with where it comes from. A log may state
`task_kind`, `env_kind` and `trial` itself; labels of a simulator by other names are never read,
because answers are scored by them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

OTHER = "other"
"""The kind of what is not understood."""

KindSource = Literal["log", "rules", "model", "unknown"]
_WIDTH = 600  # the receptacles of a large house


@dataclass(frozen=True, slots=True)
class KindOf:
    """A kind, and where it comes from: the log, the rules, a model; `unknown` if it is `other`."""

    name: str = OTHER
    source: KindSource = "unknown"


@dataclass(frozen=True, slots=True)
class EpisodeKinds:
    """The kinds of an episode's task and environment.

    Attributes:
        trial: Which try at this very task in this very environment it was, from 1 on; as the log
            numbers them if it does.
    """

    task: KindOf = KindOf()
    env: KindOf = KindOf()
    trial: int = 1


def stated_kind(episode: Trajectory, name: Literal["task", "env"]) -> KindOf | None:
    """Return the kind that an episode's record has; None if it has none."""
    kind = one_line(episode.metadata.get(f"{name}_kind", ""), _WIDTH).strip()
    if not kind:
        return None
    source = episode.metadata.get(f"{name}_kind_source", "log")
    known = source in get_args(KindSource)
    return KindOf(kind, cast("KindSource", source) if known else "log")


def stated_trial(episode: Trajectory) -> int | None:
    """Return the number of the try that an episode's record has; None if it has none."""
    facts = (episode.metadata.get(name, "").strip() for name in ("trial_number", "trial"))
    numbers = (int(each) for each in facts if each.isascii() and each.isdecimal() and len(each) < 7)
    return next(numbers, None)


def with_kinds(episode: Trajectory, kinds: EpisodeKinds) -> Trajectory:
    """Return the same episode, with the same id, and its kinds."""
    facts: Mapping[str, str] = {
        "task_kind": kinds.task.name,
        "task_kind_source": kinds.task.source,
        "env_kind": kinds.env.name,
        "env_kind_source": kinds.env.source,
        "trial_number": str(kinds.trial),
    }
    return episode.with_facts(metadata={**episode.metadata, **facts})
