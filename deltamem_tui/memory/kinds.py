"""The kind of an episode's task, for methods that group what they learn by it.

What the domain's rules understand counts, so that questions find it again; then what the record
states (`task_kind`); then a model's choice among the kinds that are known already, or its name for
a new one; else the kind is `other`. An episode's id is a digest of its task, environment and
steps, so a model's choice is kept in the metadata. Labels of a simulator by other names are never
read, because answers are scored by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.domain import goal_of
from deltamem_tui.memory.prompts.use import KIND
from deltamem_tui.memory.writers.extraction import Call, FailedCallError
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

OTHER = "other"
"""The kind of what is not understood."""

_WIDTH = 600


class TaskKind(NamedTuple):
    """The kind of an episode's task.

    Attributes:
        episode: The episode with its kind, as the bank is to keep it: `Plan.episode`.
        calls: What a model was asked for it.
    """

    task: str
    episode: Trajectory
    calls: tuple[Call, ...] = ()


def task_kind(domain: str, task: str) -> str:
    """Return the goal with blanks for what differs; empty if the rules do not understand it."""
    goal = goal_of(domain, task)
    return goal.trigger if goal.understood else ""


def resolve_kind(
    bank: Bank,
    episode: Trajectory,
    writer: Writer,
    known: Callable[[], Iterable[str]] = tuple,
) -> TaskKind:
    """Find out the kind of an episode's task. Nothing is written.

    `known` returns the kinds that a model may choose from, the usual ones first.
    """
    task = task_kind(episode.domain or bank.manifest.domain, episode.task)
    task = task or one_line(episode.metadata.get("task_kind", ""), _WIDTH).strip()
    if task:
        return TaskKind(task, episode)
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
    return TaskKind(task, episode, calls)
