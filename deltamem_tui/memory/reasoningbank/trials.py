"""Several trials of one task in one scene, made ready to be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.episodes.stored_episodes import episode as stored_episode
from deltamem_tui.memory.kinds import exact_env
from deltamem_tui.memory.reasoningbank.collections import LESSONS
from deltamem_tui.memory.reasoningbank.prompt_uses import DIFFERENCES, TRIALS
from deltamem_tui.memory.rules_extractor import skimmed
from deltamem_tui.memory.wording import condense, distinct, listed
from deltamem_tui.memory.writers.extraction import Inputs
from deltamem_tui.memory.writers.rules.abstraction import normalised
from deltamem_tui.trajectory.model import Trajectory

_ANSWER_WORDS = 60
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Trials:
    """Earlier trials of an episode's task in its scene, and the entry that they share.

    Attributes:
        lessons: The entry's, in order of birth.
        episodes: The latest trials, the newest first.
    """

    entry: Node
    lessons: tuple[Node, ...]
    episodes: tuple[Trajectory, ...]


def earlier_trials(
    bank: Bank, entries: Sequence[Node], episode: Trajectory, most: int
) -> Trials | None:
    """The trials that the newest entry of an episode's task and scene knows of.

    `entries` are those of the task, in order of birth; `most` is how many trials are wanted.

    Returns:
        None if the task was not tried in this scene, or the bank does not have those episodes.
    """
    scene = _scene(bank, episode)
    for entry in reversed(entries):
        known = (stored_episode(bank, each) for each in reversed(entry.origin.episodes))
        found = [each for each in known if each is not None and _scene(bank, each) == scene]
        if found:
            lessons = tuple(bank.tree(LESSONS).children(entry.id))
            return Trials(entry, lessons, tuple(found[:most]))
    return None


def _scene(bank: Bank, episode: Trajectory) -> str:
    """What tells an episode's environment from others: the exact one if the rules know it."""
    scene = scene_of(episode)
    return exact_env(episode.domain or bank.manifest.domain, scene) or scene


def inputs_of(episode: Trajectory, earlier: Sequence[Trajectory]) -> Inputs:
    """What a writer is given of the trials beside the present episode."""
    return {
        TRIALS: tuple(_log_of(each) for each in earlier),
        DIFFERENCES: "\n".join(differences([episode, *earlier])),
    }


def differences(trials: Sequence[Trajectory]) -> list[str]:
    """What each trial did that ended one way, and none that ended the other; names left open."""
    actions: dict[bool, list[tuple[str, ...]]] = {True: [], False: []}
    for each in trials:
        actions[bool(each.outcome.success)].append(normalised(skimmed(each)))
    lines = []
    for solved, where in ((True, "was"), (False, "was not")):
        others = {action for each in actions[not solved] for action in each}
        first, *more = actions[solved] or [()]
        common = [
            action
            for action in distinct(first)
            if action not in others and all(action in each for each in more)
        ]
        if common and actions[not solved]:
            lines.append(f"Done only where the task {where} solved: {listed(common, _SHOWN)}.")
    return lines


def _log_of(trial: Trajectory) -> str:
    solved = "solved" if trial.outcome.success else "not solved"
    steps = [
        f"{number}. {step.action}\n{condense(step.observation, _ANSWER_WORDS)}"
        for number, step in enumerate(trial.steps, 1)
    ]
    return "\n".join([f"In this trial the task was {solved}.", *steps])
