"""Finding out the kinds of an episode, for methods that group what they learn by them.

What the record states counts; then what the domain's rules understand; then a model's choice
among the kinds that are known already, or its name for a new one; else the kind is `other`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.domain import domain_for, goal_of
from deltamem_tui.memory.episodes.kinds import (
    OTHER,
    EpisodeKinds,
    KindOf,
    stated_kind,
    stated_trial,
    with_kinds,
)
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.episodes.stored_episodes import episode as stored_episode
from deltamem_tui.memory.prompts.use import KIND
from deltamem_tui.memory.writers.extraction import Call, FailedCallError
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory


def task_kind(domain: str, task: str) -> str:
    """Return the goal with blanks for what differs, if the domain's rules understand it; else
    empty.
    """
    goal = goal_of(domain, task)
    return goal.trigger if goal.understood else ""


def exact_env(domain: str, scene: str) -> str:
    """Return what tells one environment from all others of its kind, as far as the domain knows."""
    return domain_for(domain).exact_env(scene)


def env_kind(domain: str, scene: str) -> str:
    """Return the kind of an environment; empty if the domain does not know it."""
    return domain_for(domain).env_kind(scene)


@dataclass(frozen=True, slots=True)
class KindResolution:
    """What the kinds of an episode are.

    Attributes:
        episode: The episode with its kinds, as the bank is to keep it: `Plan.episode`.
        calls: What a model was asked for it.
    """

    kinds: EpisodeKinds
    episode: Trajectory
    calls: tuple[Call, ...] = ()


def resolve_kinds(
    bank: Bank, episode: Trajectory, writer: Writer, known: Sequence[str] = ()
) -> KindResolution:
    """Find out the kinds of an episode. Nothing is written.

    `known` are the kinds of task that a model may choose from, the usual ones first.
    """
    domain, scene = episode.domain or bank.manifest.domain, scene_of(episode)
    calls: tuple[Call, ...] = ()
    task = stated_kind(episode, "task") or _by_rules(task_kind(domain, episode.task))
    if task is None:
        task, calls = _by_model(episode, writer, known)
    env = stated_kind(episode, "env") or _by_rules(env_kind(domain, scene)) or KindOf()
    trial = stated_trial(episode)
    if trial is None:
        trial = 1 + earlier_tries(bank, episode)
    kinds = EpisodeKinds(task, env, trial)
    return KindResolution(kinds, with_kinds(episode, kinds), calls)


def _by_rules(name: str) -> KindOf | None:
    return KindOf(name, "rules") if name else None


def _by_model(
    episode: Trajectory, writer: Writer, known: Sequence[str]
) -> tuple[KindOf, tuple[Call, ...]]:
    """Return a model's choice; `other` if the writer is none, or says nothing that can be used."""
    listed = "\n".join(one_line(each) for each in known) or "(none yet)"
    try:
        answer = writer.write(KIND, episode, (), {"kinds": listed})
    except FailedCallError as error:
        return KindOf(), (error.call,)
    except ExtractionError:
        return KindOf(), ()
    name = one_line((answer.payload or {}).get("kind", "")).strip()
    same = {each.casefold(): each for each in (OTHER, *known)}
    name = same.get(name.casefold(), name) or OTHER
    kind = KindOf() if name == OTHER else KindOf(name, "model")
    return kind, answer.calls("classify", "")


def earlier_tries(bank: Bank, episode: Trajectory) -> int:
    """Return how many episodes with the same task in the same environment the bank has learnt."""
    snapshot = bank.episodes.snapshot
    env = _env_of(bank, episode)
    tries = 0
    wanted = re.compile(re.escape(b'"task":' + msgspec.json.encode(episode.task)))
    offsets = [match.start() for match in wanted.finditer(snapshot.text)]
    rows = snapshot.index["offset"].searchsorted(offsets, side="right") - 1
    for name in {bytes(snapshot.index["id"][row]).decode() for row in rows} - {episode.id}:
        if bank.episodes.state(name) == EpisodeState.LEARNT:
            found = stored_episode(bank, name)
            tries += found is not None and _same(bank, found, episode.task, env)
    return tries


def _same(bank: Bank, other: Trajectory, task: str, env: str) -> bool:
    return other.task == task and _env_of(bank, other) == env


def _env_of(bank: Bank, episode: Trajectory) -> str:
    scene = scene_of(episode)
    return exact_env(episode.domain or bank.manifest.domain, scene) or scene
