"""What an episode, or a question, is filed under: its task, its environment, and their kinds."""

from __future__ import annotations

from dataclasses import dataclass

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.episodes.kinds import OTHER, EpisodeKinds
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.kinds import env_kind, exact_env, task_kind
from deltamem_tui.text import clean, one_line
from deltamem_tui.trajectory.model import Trajectory

_WIDTH = 300


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where something belongs in the context index.

    Attributes:
        task: The task as it was put.
        kind: The kind of task; empty if the question's rules do not understand it.
        env: The exact environment; empty if nothing is known of it.
        env_kind: Its kind; empty if nothing is known of it.
    """

    task: str
    kind: str
    env: str
    env_kind: str


def of_question(bank: Bank, task: str, scene: str) -> Surroundings:
    """Where a question belongs as far as the rules know."""
    domain = bank.manifest.domain
    env = exact_env(domain, clean(scene)) or one_line(scene, _WIDTH)
    of_env = (env_kind(domain, clean(scene)) or OTHER) if env else ""
    return Surroundings(clean(task).strip(), task_kind(domain, clean(task)), env, of_env)


def of_episode(bank: Bank, episode: Trajectory, kinds: EpisodeKinds) -> Surroundings:
    """Where an episode of known kinds belongs. The kind of its environment may be all of it."""
    domain, scene = episode.domain or bank.manifest.domain, clean(scene_of(episode))
    stated = "" if kinds.env.name == OTHER else kinds.env.name
    env = exact_env(domain, scene) or one_line(scene, _WIDTH) or stated
    return Surroundings(
        clean(episode.task).strip(), kinds.task.name, env, kinds.env.name if env else ""
    )
