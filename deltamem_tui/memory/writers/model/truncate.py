"""Cutting an episode to a model's window, by rules that keep what a lesson rests on.

The middle of long observations goes first, then steps from the middle of the episode. The task,
the order of the actions, the first and last steps and the point of failure stay. Where something
is missing a mark says so, and the cut is described for the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from msgspec import structs

from deltamem_tui.errors import PromptTooLongError
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Step, Trajectory

FIRST_STEPS = 2
LAST_STEPS = 3
_SHORTEST_OBSERVATION = 240
_SHORTEST_TEXT = 40
_LADDER = 2 / 3


@dataclass(frozen=True, slots=True)
class CutEpisode:
    """An episode as a model will read it.

    Attributes:
        environment: The scene, perhaps shortened.
        steps: The steps that are left, with the numbers they had, from 1 on.
        longest_observation: Observations with more characters were shortened; None if none was.
        longest_text: Scene, thoughts and actions with more characters were shortened; None if
            none was.
    """

    environment: str
    steps: tuple[tuple[int, Step], ...] = field(default=())
    length: int = 0
    longest_observation: int | None = None
    longest_text: int | None = None

    @property
    def text(self) -> str:
        """The steps as text, with a mark where some are left out."""
        return "".join(self.parts())

    @property
    def description(self) -> str:
        """The cuts in one line; empty if nothing was cut."""
        cuts = []
        if self.longest_observation is not None:
            cuts.append(f"observations shortened to {self.longest_observation:,} characters")
        if self.longest_text is not None:
            cuts.append(f"scene, thoughts and actions to {self.longest_text:,}")
        if len(self.steps) < self.length:
            cuts.append(f"{self.length - len(self.steps)} of {self.length} steps left out")
        return "; ".join(cuts)

    def parts(self) -> Iterator[str]:
        """Yield the same, a step or a mark at a time."""
        expected = 1
        for number, step in self.steps:
            if number > expected:
                yield gap(expected, number - 1)
            yield step_text(number, step)
            expected = number + 1


def fit(trajectory: Trajectory, room: int, count: Callable[[str], int]) -> CutEpisode:
    """Cut an episode until its scene and steps take at most `room` tokens.

    Raises:
        PromptTooLongError: Even the steps that must stay do not fit.
    """
    whole = CutEpisode(
        scene_of(trajectory), tuple(enumerate(trajectory.steps, 1)), len(trajectory.steps)
    )
    counted = cache(count)
    for candidate in _candidates(trajectory, whole, room, counted):
        if _cost(candidate, counted) <= room:
            return candidate
    raise PromptTooLongError(
        f"the episode's first and last steps do not fit into {max(room, 0):,} tokens",
        source=trajectory.id,
        hint="use a model with a larger window",
    )


def failure_point(trajectory: Trajectory) -> int | None:
    """Return the index of the step at which a failed episode was lost; None if it was not lost.

    It is the last step that the environment punished, else the last step there is.
    """
    if trajectory.outcome.success is not False or not trajectory.steps:
        return None
    punished = [
        index
        for index, step in enumerate(trajectory.steps)
        if step.reward is not None and step.reward < 0
    ]
    return punished[-1] if punished else len(trajectory.steps) - 1


def step_text(number: int, step: Step) -> str:
    """Return one step as a model reads it."""
    lines = [f"Step {number}"]
    if step.thought:
        lines.append(f"Thought: {clean(step.thought).strip()}")
    lines.append(f"Action: {clean(step.action).strip()}")
    if step.observation:
        lines.append(f"Observation: {clean(step.observation).strip()}")
    if step.reward:
        lines.append(f"Reward: {step.reward:g}")
    return "\n".join(lines) + "\n\n"


def gap(first: int, last: int) -> str:
    """Return the mark where steps are left out."""
    steps = f"step {first}" if first == last else f"steps {first} to {last}"
    return f"[… {steps} left out …]\n\n"


def shortened(text: str, most: int) -> str:
    """Return `text` with its middle left out, if it has more than `most` characters.

    The mark comes on top of `most`; a text that would not get shorter stays whole.
    """
    return _mark(text, most).join(ends(text, most))


def ends(text: str, most: int) -> tuple[str, ...]:
    """Return what `shortened` leaves of a text: its beginning and its end, or all of it."""
    if len(text) <= most + len(_mark(text, most)):
        return (text,)
    head = most * 2 // 3
    return text[:head], text[len(text) - (most - head) :]


def _mark(text: str, most: int) -> str:
    return f" [… {len(text) - most:,} characters left out …] "


def _candidates(
    trajectory: Trajectory, whole: CutEpisode, room: int, count: Callable[[str], int]
) -> Iterator[CutEpisode]:
    """Yield the episode, ever shorter: whole, short observations, fewer steps, short everything."""
    yield whole
    episode = whole
    longest = max((len(step.observation) for step in trajectory.steps), default=0)
    for most in _rungs(longest, _SHORTEST_OBSERVATION):
        episode = replace(_short(whole, most, "observation"), longest_observation=most)
        yield episode
    episode = _fewer_steps(trajectory, episode, room, count)
    yield episode
    texts = [text for _, step in episode.steps for text in (step.thought, step.action)]
    longest = max(map(len, [episode.environment, *texts]))
    for most in _rungs(max(longest, _SHORTEST_OBSERVATION), _SHORTEST_TEXT):
        short = _short(episode, most, "thought", "action", "observation")
        environment = shortened(episode.environment, most)
        yield replace(short, environment=environment, longest_text=most)


def _rungs(longest: int, shortest: int) -> Iterator[int]:
    most = longest
    while most > shortest:
        most = max(int(most * _LADDER), shortest)
        yield most


def _short(episode: CutEpisode, most: int, *names: str) -> CutEpisode:
    """Return the episode with these texts of its steps shortened."""
    steps = []
    for number, step in episode.steps:
        texts: dict[str, Any] = {name: shortened(getattr(step, name), most) for name in names}
        steps.append((number, structs.replace(step, **texts)))
    return replace(episode, steps=tuple(steps))


def _fewer_steps(
    trajectory: Trajectory, episode: CutEpisode, room: int, count: Callable[[str], int]
) -> CutEpisode:
    """Keep the steps that must stay, and of the others as many as fit, from the ends inward."""
    length = len(episode.steps)
    kept = _protected(trajectory)
    # Two gaps at most: one on each side of the point of failure.
    left = room - count(episode.environment) - 2 * count(gap(length, length + 1))
    left -= sum(count(step_text(*episode.steps[index])) for index in kept)
    others = (index for index in range(length) if index not in kept)
    for index in sorted(others, key=lambda index: (min(index, length - 1 - index), index)):
        left -= count(step_text(*episode.steps[index]))
        if left < 0:
            break
        kept.add(index)
    return replace(episode, steps=tuple(episode.steps[index] for index in sorted(kept)))


def _protected(trajectory: Trajectory) -> set[int]:
    length = len(trajectory.steps)
    lost = failure_point(trajectory)
    kept = {*range(FIRST_STEPS), *range(length - LAST_STEPS, length)}
    if lost is not None:
        kept |= {lost - 1, lost}
    return {index for index in kept if 0 <= index < length}


def _cost(episode: CutEpisode, count: Callable[[str], int]) -> int:
    """Return the tokens of scene and steps; part by part, so that a part is counted only once."""
    return sum(count(part) for part in (episode.environment, *episode.parts()))
