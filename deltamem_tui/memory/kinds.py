"""The kinds of an episode's task and environment, for methods that group what they learn by them.

What the domain's rules understand counts, so that questions find it again; then what the record
states; then a model's choice among the kinds that are known already, or its name for a new one;
else the kind is `other`. An episode's id is a digest of its task, environment and steps, so a
model's choice is kept in the metadata. A log may state `task_kind` and `env_kind` itself; labels
of a simulator by other names are never read, because answers are scored by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

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


class EpisodeKinds(NamedTuple):
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
    env = domain_for(domain).env_kind(scene) or _stated(episode, "env_kind") or OTHER
    task = task_kind(domain, episode.task) or _stated(episode, "task_kind")
    if task:
        return EpisodeKinds(task, env, episode)
    calls: tuple[Call, ...] = ()
    names = list(dict.fromkeys(known()))
    listed = "\n".join(map(one_line, names)) or "(none yet)"
    try:
        answer = writer.write(KIND, episode, (), {"kinds": listed})
    except FailedCallError as error:
        task, calls = OTHER, (error.call,)
    except ExtractionError:
        task = OTHER
    else:
        chosen = one_line((answer.payload or {}).get("kind", "")).strip()
        same = {each.casefold(): each for each in (OTHER, *names)}
        task, calls = same.get(chosen.casefold(), chosen) or OTHER, answer.calls("classify", "")
    if calls:
        episode = episode.with_facts(metadata={**episode.metadata, "task_kind": task})
    return EpisodeKinds(task, env, episode, calls)


def _stated(episode: Trajectory, name: str) -> str:
    return one_line(episode.metadata.get(name, ""), _WIDTH).strip()
