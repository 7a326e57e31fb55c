"""The gate that every episode passes on its way in: cleaned, complete, and of a bearable size.

Readers build trajectories as freely as their formats allow; what always holds of an
episode is seen to here, once, so that no reader can forget it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter, is_
from types import UnionType

from msgspec import to_builtins
from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.text import clean
from deltamem_tui.trajectory.logs.record import DEFAULT_LIMITS, LogLimits
from deltamem_tui.trajectory.model import (
    OUTCOME_SOURCES,
    STEP_WORDS,
    LogSource,
    Outcome,
    Step,
    Trajectory,
)
from deltamem_tui.trajectory.outcomes import attributed
from deltamem_tui.trajectory.receipt import Receipt, parsed

# Every byte of plain ASCII is a blank, and every other is NUL: one search tells whether there
# is any, ten times faster than a pattern.
_PLAIN = bytes(32 if byte in (*b"\t\n", *range(0x20, 0x7F)) else 0 for byte in range(256))
_action_of = attrgetter("action")
# Of the arguments of a call: the action has all of them in full.
_TEXT_CHARACTERS = 1_000
_ARGUMENTS_CHARACTERS = 16_000
_MOST = 100  # entries of a list or an object
_DEEPEST = 4
_LARGE = 2**63


def admitted(trajectory: Trajectory, limits: LogLimits = DEFAULT_LIMITS) -> Trajectory:
    """Return the episode with all its text clean, if it is one that can be learnt from.

    A clean and valid trajectory comes back equal. An outcome that is known, and whose source is
    not named, is the log's own.

    Raises:
        RecordError: No task, no step, a step without an action, a text over the limit, or a
            reward that is out of its range.
    """
    _check(trajectory)
    trajectory = _with_short_arguments(trajectory)
    outcome = attributed(trajectory.outcome)
    if outcome is not trajectory.outcome:
        trajectory = trajectory.with_outcome(outcome)
    if _is_presentable(trajectory, limits):
        return trajectory
    presentable = trajectory.with_texts(partial(_presentable, limits))
    _check(presentable)  # what consisted of control characters only is empty now
    return presentable


def checked(trajectory: Trajectory) -> Trajectory:
    """Return the episode, if its parts are of their types, as those are that decoding makes.

    What a reader builds of a log, or a user's code, may hold anything. Its rewards become floats.

    Raises:
        RecordError: A part of another type, or a reward that is not a finite number.
    """
    for name in ("task", "environment", "domain", "agent"):
        _require(f"the {name} of an episode", getattr(trajectory, name), str, "text")
    for name, part, kind, wanted in (
        ("outcome", trajectory.outcome, Outcome, "an Outcome"),
        ("source", trajectory.source, LogSource, "a LogSource"),
        ("steps", trajectory.steps, Sequence, "Steps"),
        ("metadata", trajectory.metadata, Mapping, "a mapping"),
    ):
        _require(f"the {name}", part, kind, wanted)
    for text in chain(trajectory.metadata, trajectory.metadata.values()):
        _require("the metadata of an episode", text, str, "text")
    for name in ("file", "position", "format"):
        _require(f"the {name} of a source", getattr(trajectory.source, name), str, "text")
    _require("the verdicts", trajectory.verdicts, tuple, "a tuple")
    _require("the receipts", trajectory.receipts, tuple, "a tuple")
    for each in trajectory.receipts:
        _require("a receipt", each, Receipt, "a Receipt")
        parsed(to_builtins(each))
    for outcome in (trajectory.outcome, *trajectory.verdicts):
        _require("a verdict", outcome, Outcome, "an Outcome")
        _check_outcome(outcome)
    for number, step in enumerate(trajectory.steps, 1):
        _check_step(step, number)
    if any(isinstance(step.reward, int) for step in trajectory.steps):
        return replace(trajectory, steps=tuple(map(_with_float, trajectory.steps)))
    return trajectory


def _with_short_arguments(trajectory: Trajectory) -> Trajectory:
    """Return the episode with the arguments of its calls cut to what is useful of them."""
    steps = trajectory.steps
    short = [each if each.arguments is None else _short(each) for each in steps]
    if all(map(is_, short, steps)):
        return trajectory
    shortened = replace(trajectory, steps=tuple(short))
    if trajectory.has_plain_texts:
        shortened.__dict__["has_plain_texts"] = True
    return shortened


def _short(step: Step) -> Step:
    arguments = short_arguments(step.arguments)
    return step if arguments == step.arguments else replace(step, arguments=arguments)


def short_arguments(arguments: Mapping[str, object] | None) -> Mapping[str, object] | None:
    """Return a call's arguments with long texts cut; None if they are too many to be useful."""
    if arguments is None:
        return None
    short = _short_value(arguments, 0)
    if not isinstance(short, dict) or len(json.dumps(short)) > _ARGUMENTS_CHARACTERS:
        return None
    return short


def _short_value(value: object, depth: int) -> object:
    if isinstance(value, str):
        return value if len(value) <= _TEXT_CHARACTERS else _cut(value)
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if abs(value) < _LARGE else str(value)
    if isinstance(value, Mapping | list | tuple) and depth < _DEEPEST and len(value) <= _MOST:
        if isinstance(value, Mapping):
            return {_short_text(key): _short_value(each, depth + 1) for key, each in value.items()}
        return [_short_value(each, depth + 1) for each in value]
    return _short_text(json.dumps(value, ensure_ascii=False, default=str))


def _short_text(value: object) -> str:
    text = str(value)
    return text if len(text) <= _TEXT_CHARACTERS else _cut(text)


def _cut(text: str) -> str:
    """Return a text's beginning, which ends at a blank so that no secret is halved."""
    words = text[:_TEXT_CHARACTERS].rstrip("…").rsplit(maxsplit=1)
    return f"{words[0]} …" if len(words) > 1 else "…"


def _check_outcome(outcome: Outcome) -> None:
    if outcome.success is not None and type(outcome.success) is not bool:
        kind = type(outcome.success).__name__
        raise RecordError(f"the success of an outcome must be True, False or None, not {kind}")
    _require("the reward of an outcome", outcome.reward, float | int | None, "a number")
    if outcome.source not in OUTCOME_SOURCES:
        raise RecordError(f"the source of an outcome must be one of {OUTCOME_SOURCES}")
    _require("the reason of an outcome", outcome.reason, str, "text")


def _check_step(step: Step, number: int) -> None:
    _require("a step", step, Step, "a Step")
    if not (type(step.action) is type(step.observation) is type(step.thought) is str):
        for name in ("action", "observation", "thought"):
            _require(f"the {name} of a step", getattr(step, name), str, "text")
    if step.is_typed:
        _require("the arguments of a step", step.arguments, Mapping | None, "a mapping")
        _require("the tool of a step", step.tool, str | None, "text")
        _require("the user's words in a step", step.said, str, "text")
        for name, known in STEP_WORDS.items():
            if getattr(step, name) not in (None, *known):
                raise RecordError(f"the {name} of step {number} is none of {', '.join(known)}")
    if step.reward is not None:
        _require("the reward of a step", step.reward, float | int, "a number")
        if not math.isfinite(step.reward):
            raise RecordError(f"the reward of step {number} is not a finite number")


def _require(what: str, value: object, kind: type | UnionType, wanted: str) -> None:
    if not isinstance(value, kind):
        raise RecordError(f"{what} must be {wanted}, not {type(value).__name__}")


def _with_float(step: Step) -> Step:
    return step if step.reward is None else replace(step, reward=float(step.reward))


def _check(trajectory: Trajectory) -> None:
    if not trajectory.task.strip():
        raise RecordError("the episode has no task")
    if not trajectory.steps:
        raise RecordError("the episode has no steps")
    if not all(map(str.strip, map(_action_of, trajectory.steps))):
        blank = next(n for n, step in enumerate(trajectory.steps, 1) if not step.action.strip())
        raise RecordError(f"step {blank} has no action")
    for outcome in (trajectory.outcome, *trajectory.verdicts):
        reward = outcome.reward
        # The comparison is false for NaN too.
        if reward is not None and not 0.0 <= reward <= 1.0:
            raise RecordError(f"a reward of {reward:g}, which is not between 0 and 1")
    if len({each.source for each in trajectory.verdicts}) < len(trajectory.verdicts):
        raise RecordError("two verdicts of one source")


def _is_presentable(trajectory: Trajectory, limits: LogLimits) -> bool:
    source, facts = trajectory.source, trajectory.metadata
    reasons = (each.reason for each in (trajectory.outcome, *trajectory.verdicts))
    names = (trajectory.domain, trajectory.agent, *reasons)
    notes = "\n".join(
        (*names, source.file, source.position, source.format, *facts, *facts.values())
    ).encode("utf-8", "surrogatepass")
    is_plain = trajectory.has_plain_texts
    texts = trajectory.identity if is_plain else trajectory.searchable
    fits = len(texts) + len(notes) < limits.field_characters
    return fits and (is_plain or is_clean(texts)) and is_clean(notes)


def is_clean(text: bytes) -> bool:
    """Return True if `clean` would leave a text in UTF-8 as it is."""
    if text.isascii():
        return b"\0" not in text.translate(_PLAIN)
    found = text.decode("utf-8", "surrogatepass")
    return clean(found) == found


def _presentable(limits: LogLimits, name: str, text: str) -> str:
    if len(text) > limits.field_characters:
        raise RecordError(
            f"the {clean(name)} has {len(text):,} characters, "
            f"more than the {limits.field_characters:,} allowed",
            hint="cut it in the log",
        )
    return clean(text)
