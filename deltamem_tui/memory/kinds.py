"""The kinds of an episode's task and environment, for methods that group what they learn by them.

What the domain's rules understand counts, so that questions find it again; then what the record
states; then a model's choice among the kinds that are known already, or its name for a new one;
else the kind is `other`. An episode's id is a digest of its task, environment and steps, so a
model's choice is kept in the metadata. A log may state `task_kind` and `env_kind` itself; labels
of a simulator by other names are never read, because answers are scored by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.domain import domain_for, goal_of
from deltamem_tui.memory.prompts.use import KIND
from deltamem_tui.memory.writers.extraction import Call, FailedCallError
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory, scene_of

OTHER = "other"
"""The kind of what is not understood."""

_WIDTH = 600  # the receptacles of a large house


@dataclass(frozen=True, slots=True)
class EpisodeKinds:
    """The kinds of an episode.

    Attributes:
        episode: The episode with its kinds, as the bank is to keep it: `Plan.episode`.
        calls: What a model was asked for it.
    """

    task: str
    env: str
    episode: Trajectory
    calls: tuple[Call, ...] = ()


def task_kind(domain: str, task: str) -> str:
    """Return the goal with blanks for what differs; empty if the rules do not understand it."""
    goal = goal_of(domain, task)
    return goal.trigger if goal.understood else ""


def stated_kind(episode: Trajectory, name: Literal["task", "env"]) -> str:
    """Return the kind that an episode's record has; empty if it has none."""
    return one_line(episode.metadata.get(f"{name}_kind", ""), _WIDTH).strip()


def kind_of(bank: Bank, episode: Trajectory) -> str:
    """Return the kind of an episode's task, as its record or the rules of its domain have it."""
    domain = episode.domain or bank.manifest.domain
    return stated_kind(episode, "task") or task_kind(domain, episode.task) or OTHER


def with_task_kind(episode: Trajectory, kind: str) -> Trajectory:
    """Return the same episode, with the same id, and the kind that a model gave its task."""
    return episode.with_facts(metadata={**episode.metadata, "task_kind": kind})


def resolve_kinds(
    bank: Bank,
    episode: Trajectory,
    writer: Writer,
    known: Callable[[], Iterable[str]] = tuple,
) -> EpisodeKinds:
    """Find out the kinds of an episode. Nothing is written.

    `known` returns the kinds of task that a model may choose from, the usual ones first.
    """
    domain, scene = episode.domain or bank.manifest.domain, scene_of(episode)
    env = domain_for(domain).env_kind(scene) or stated_kind(episode, "env") or OTHER
    task = task_kind(domain, episode.task) or stated_kind(episode, "task")
    if task:
        return EpisodeKinds(task, env, episode)
    task, calls = _by_model(episode, writer, list(dict.fromkeys(known())))
    return EpisodeKinds(task, env, with_task_kind(episode, task) if calls else episode, calls)


def _by_model(
    episode: Trajectory, writer: Writer, known: Sequence[str]
) -> tuple[str, tuple[Call, ...]]:
    """Return a model's choice; `other` if the writer is none, or says nothing that can be used."""
    listed = "\n".join(one_line(each) for each in known) or "(none yet)"
    try:
        answer = writer.write(KIND, episode, (), {"kinds": listed})
    except FailedCallError as error:
        return OTHER, (error.call,)
    except ExtractionError:
        return OTHER, ()
    name = one_line((answer.payload or {}).get("kind", "")).strip()
    same = {each.casefold(): each for each in (OTHER, *known)}
    return same.get(name.casefold(), name) or OTHER, answer.calls("classify", "")
