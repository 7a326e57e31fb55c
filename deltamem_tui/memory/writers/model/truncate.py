"""Cutting an episode to a model's window, by rules that keep what a lesson rests on.

The middle of long observations goes first, then that of other long texts, then steps from the
middle of the episode. The task, the order of the actions, the first and the last steps stay. Where
something is missing a mark says so, and the cut is described for the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from deltamem_tui.errors import PromptTooLongError
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Step, Trajectory, scene_of

FIRST_STEPS = 2
LAST_STEPS = 3
# The most characters of an observation, one limit tried after the other; then of every text.
_OBSERVATIONS = (8_000, 2_000, 600, 240)
_LONG_TEXTS = (2_000, 600)
_TEXTS = (240, 80, 40)
_ENDLESS = 10**9


@dataclass(frozen=True, slots=True)
class CutEpisode:
    """An episode as a model will read it: its scene, its steps, and what was cut, if anything."""

    environment: str
    text: str
    description: str = ""


def fit(trajectory: Trajectory, room: int, count: Callable[[str], int]) -> CutEpisode:
    """Cut an episode until its scene and steps take at most `room` tokens.

    A PromptTooLongError says that not even the steps that must stay fit.
    """
    steps, kept = trajectory.steps, set(range(len(trajectory.steps)))
    longest = max((len(step.observation) for step in steps), default=0)
    limits = [_ENDLESS, *(most for most in _OBSERVATIONS if most < longest)]
    whole = [*((most, _ENDLESS) for most in limits), *((limits[-1], most) for most in _LONG_TEXTS)]
    fewer = [(min(limits[-1], most), most) for most in (_ENDLESS, *_TEXTS)]
    for number, most in enumerate([*whole, *fewer]):
        if number == len(whole):
            kept = _fewer_steps(trajectory, limits[-1], room, count)
        cut = _cut(trajectory, kept, *most)
        if count(cut.environment) + count(cut.text) <= room:
            return cut
    raise PromptTooLongError(
        f"the episode's first and last steps do not fit into {max(room, 0):,} tokens",
        source=trajectory.id,
        hint="use a model with a larger window",
    )


def _cut(trajectory: Trajectory, kept: Iterable[int], observation: int, text: int) -> CutEpisode:
    """Return some steps of an episode, with texts of so many characters at most."""
    parts, expected, shown, length = [], 0, sorted(kept), len(trajectory.steps)
    for index in shown:
        if index > expected:
            parts.append(_gap(expected + 1, index))
        parts.append(_step(index + 1, trajectory.steps[index], observation, text))
        expected = index + 1
    cuts = [
        f"observations shortened to {observation:,} characters" if observation < _ENDLESS else "",
        f"scene, thoughts and actions to {text:,}" if text < _ENDLESS else "",
        f"{length - len(shown)} of {length} steps left out" if len(shown) < length else "",
    ]
    description = "; ".join(filter(None, cuts))
    return CutEpisode(_shortened(scene_of(trajectory), text), "".join(parts), description)


def _step(number: int, step: Step, observation: int, text: int = _ENDLESS) -> str:
    """Return one step as a model reads it."""
    parts = (
        ("Thought", step.thought, text),
        ("Action", step.action, text),
        ("Observation", step.observation, observation),
        ("Reward", f"{step.reward:g}" if step.reward else "", text),
    )
    lines = [
        f"{what}: {_shortened(clean(said).strip(), most)}" for what, said, most in parts if said
    ]
    return "\n".join([f"Step {number}", *lines]) + "\n\n"


def _gap(first: int, last: int) -> str:
    """Return the mark where steps are left out."""
    steps = f"step {first}" if first == last else f"steps {first} to {last}"
    return f"[… {steps} left out …]\n\n"


def _shortened(text: str, most: int) -> str:
    """Return `text` with a mark for its middle, if it gets shorter so; the mark is on top."""
    mark = f" [… {len(text) - most:,} characters left out …] "
    if len(text) <= most + len(mark):
        return text
    head = most * 2 // 3
    return text[:head] + mark + text[len(text) - (most - head) :]


def _fewer_steps(
    trajectory: Trajectory, observation: int, room: int, count: Callable[[str], int]
) -> set[int]:
    """Return the steps that must stay, and of the others as many as fit, from the ends inward."""
    length = len(trajectory.steps)
    kept = {*range(FIRST_STEPS), *range(length - LAST_STEPS, length)} & set(range(length))
    sizes = [count(_step(n, step, observation)) for n, step in enumerate(trajectory.steps, 1)]
    left = room - count(scene_of(trajectory)) - count(_gap(length, length + 1))
    left -= sum(sizes[index] for index in kept)
    others = set(range(length)) - kept
    for index in sorted(others, key=lambda index: (min(index, length - 1 - index), index)):
        left -= sizes[index]
        if left < 0:
            break
        kept.add(index)
    return kept
