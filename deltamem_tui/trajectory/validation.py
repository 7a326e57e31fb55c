"""The gate that every episode passes on its way in: cleaned, complete, and of a bearable size.

Readers build trajectories as freely as their formats allow; what always holds of an
episode is seen to here, once, so that no reader can forget it.
"""

from __future__ import annotations

import math

from msgspec.structs import replace
from stringzilla import contains, translate

from deltamem_tui.errors import RecordError
from deltamem_tui.text import clean
from deltamem_tui.trajectory.logs.limits import DEFAULT_LIMITS, Limits
from deltamem_tui.trajectory.model import LogSource, Trajectory
from deltamem_tui.trajectory.outcomes import attributed

# Every byte of plain ASCII is a blank, and every other is NUL: one search tells whether there
# is any, ten times faster than a pattern.
_PLAIN = bytes(32 if byte in (*b"\t\n", *range(0x20, 0x7F)) else 0 for byte in range(256))


def admitted(trajectory: Trajectory, limits: Limits = DEFAULT_LIMITS) -> Trajectory:
    """The episode with all its text clean, if it is one that can be learnt from.

    A clean and valid trajectory comes back equal. An outcome that is known, and whose source is
    not named, is the log's own.

    Raises:
        RecordError: No task, no step, a step without an action, a text over the limit, or a
            reward that is not a number of its range.
    """
    _check(trajectory)
    outcome = attributed(trajectory.outcome)
    if outcome is not trajectory.outcome:
        trajectory = trajectory.with_outcome(outcome)
    if _is_presentable(trajectory, limits):
        return trajectory
    presentable = _cleaned(trajectory, limits)
    _check(presentable)  # what consisted of control characters only is empty now
    return presentable


def _check(trajectory: Trajectory) -> None:
    if not trajectory.task.strip():
        raise RecordError("the episode has no task")
    if not trajectory.steps:
        raise RecordError("the episode has no steps")
    _, actions, _, rewards = trajectory.columns
    if not all(map(str.strip, actions)):
        number = next(index for index, action in enumerate(actions, 1) if not action.strip())
        raise RecordError(f"step {number} has no action")
    if not all(map(math.isfinite, filter(None, rewards))):
        number = next(n for n, each in enumerate(rewards, 1) if not math.isfinite(each or 0))
        raise RecordError(f"the reward of step {number} is not a finite number")
    reward = trajectory.outcome.reward
    # The comparison is false for NaN too.
    if reward is not None and not 0.0 <= reward <= 1.0:
        raise RecordError(f"a reward of {reward:g}, which is not between 0 and 1")


def _is_presentable(trajectory: Trajectory, limits: Limits) -> bool:
    """Whether nothing has to be cleaned or measured, from all the text at once.

    Almost every episode passes here, ten times faster than field by field.
    """
    source, facts = trajectory.source, trajectory.metadata
    names = (trajectory.domain, trajectory.agent, trajectory.outcome.reason)
    notes = "\n".join(
        (*names, source.file, source.position, source.format, *facts, *facts.values())
    )
    fits = len(trajectory.text) + len(notes) < limits.field_characters
    return fits and _is_clean(trajectory.text) and _is_clean(notes)


def _is_clean(text: str) -> bool:
    """Whether `clean` would leave a text as it is."""
    if text.isascii():
        return not contains(translate(text.encode(), _PLAIN), b"\0")
    return clean(text) == text


def _cleaned(trajectory: Trajectory, limits: Limits) -> Trajectory:
    outcome, source = trajectory.outcome, trajectory.source
    return replace(
        trajectory,
        task=_text(trajectory.task, "task", limits),
        environment=_text(trajectory.environment, "environment", limits),
        steps=tuple(
            replace(
                step,
                action=_text(step.action, f"action of step {index}", limits),
                observation=_text(step.observation, f"observation of step {index}", limits),
                thought=_text(step.thought, f"thought of step {index}", limits),
            )
            for index, step in enumerate(trajectory.steps, 1)
        ),
        outcome=replace(outcome, reason=_text(outcome.reason, "reason of the outcome", limits)),
        source=LogSource(
            _text(source.file, "name of the log", limits),
            _text(source.position, "position in the log", limits),
            _text(source.format, "name of the format", limits),
        ),
        domain=_text(trajectory.domain, "domain", limits),
        agent=_text(trajectory.agent, "agent", limits),
        metadata={
            clean(key): _text(value, f"metadata {key}", limits)
            for key, value in trajectory.metadata.items()
        },
    )


def _text(text: str, name: str, limits: Limits) -> str:
    if len(text) > limits.field_characters:
        raise RecordError(
            f"the {clean(name)} has {len(text):,} characters, "
            f"more than the {limits.field_characters:,} allowed",
            hint="cut it in the log",
        )
    return clean(text)
