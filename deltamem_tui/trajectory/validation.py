"""The gate that every episode passes on its way in.

It is clean, complete and not too large, without secrets, and without the contexts that its agent
was given: nothing is learnt from itself.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from functools import partial
from operator import is_

import msgspec
import orjson
from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.text import clean
from deltamem_tui.trajectory.logs.record import DEFAULT_LIMITS, LogLimits
from deltamem_tui.trajectory.model import Step, Trajectory, changed
from deltamem_tui.trajectory.secrets.redaction import Redactor, quoted
from deltamem_tui.typed import converted

FENCE = "past_experience"
"""The element that a context stands in."""

# Gemini CLI escapes what a hook says, and puts it into an element of its own.
_LESS, _MORE = "(?:<|&lt;)", "(?:>|&gt;)"
_RECALLED = re.compile(rf"\s*{_LESS}{FENCE}{_MORE}.*?{_LESS}/{FENCE}{_MORE}[ \t]*\n*", re.DOTALL)
_EMPTIED = re.compile(r"\s*<hook_context>\s*</hook_context>[ \t]*")

# Where msgspec counts the items of a list, and people do from 1.
_NUMBERED = re.compile(r"`\$\.(\w+)s\[(\d+)\](?:`|(\.))")
# Every byte of plain ASCII is a blank, and every other is NUL: one search tells whether there
# is any, ten times faster than a pattern.
_PLAIN = bytes(32 if byte in (*b"\t\n", *range(0x20, 0x7F)) else 0 for byte in range(256))
# Of the arguments of a call: the action has all of them in full.
_TEXT_CHARACTERS = 1_000
_ARGUMENTS_CHARACTERS = 16_000


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
    outcome = trajectory.outcome.attributed
    if outcome is not trajectory.outcome:
        trajectory = trajectory.with_outcome(outcome)
    if _is_presentable(trajectory, limits):
        return trajectory
    presentable = trajectory.with_texts(partial(_presentable, limits))
    _check(presentable)  # what consisted of control characters only is empty now
    return presentable


def checked(trajectory: Trajectory) -> Trajectory:
    """Return the episode with its parts as decoding makes them, whoever built it."""
    try:
        return converted(msgspec.to_builtins(trajectory, enc_hook=_plain), Trajectory)
    except msgspec.ValidationError as error:
        raise RecordError(misfit(error)) from error
    except TypeError as error:
        raise RecordError(str(error)) from error


def _plain(value: object) -> object:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not plain data")


def misfit(error: msgspec.ValidationError) -> str:
    """Return where a record is not as it is to be, and why."""
    why, _, place = str(error).partition(" - at ")
    place = _NUMBERED.sub(lambda at: f"{at[1]} {int(at[2]) + 1}{', `' if at[3] else ''}", place)
    return quoted(f"{place}: {why}" if place else why, 160)


def _with_short_arguments(trajectory: Trajectory) -> Trajectory:
    steps = trajectory.steps
    short = tuple(each if each.arguments is None else _short_step(each) for each in steps)
    return trajectory if all(map(is_, short, steps)) else replace(trajectory, steps=short)


def _short_step(step: Step) -> Step:
    short = changed(step.arguments, _cut)
    try:
        fits = len(orjson.dumps(short)) <= _ARGUMENTS_CHARACTERS
    except TypeError:  # a number or a text that JSON does not have
        fits = False
    arguments = short if isinstance(short, dict) and fits else None
    return step if arguments == step.arguments else replace(step, arguments=arguments)


def _cut(text: str) -> str:
    """Return a long text's beginning, which ends at a blank so that no secret is halved."""
    if len(text) <= _TEXT_CHARACTERS:
        return text
    words = text[:_TEXT_CHARACTERS].rstrip("…").rsplit(maxsplit=1)
    return f"{words[0]} …" if len(words) > 1 else "…"


def _check(trajectory: Trajectory) -> None:
    if not trajectory.task.strip():
        raise RecordError("the episode has no task")
    if not trajectory.steps:
        raise RecordError("the episode has no steps")
    for number, step in enumerate(trajectory.steps, 1):
        if not step.action.strip():
            raise RecordError(f"step {number} has no action")
        if step.reward is not None and not math.isfinite(step.reward):
            raise RecordError(f"the reward of step {number} is not a finite number")
    for outcome in (trajectory.outcome, *trajectory.verdicts):
        reward = outcome.reward  # the comparison is false for NaN too
        if reward is not None and not 0.0 <= reward <= 1.0:
            raise RecordError(f"a reward of {reward:g}, which is not between 0 and 1")
    if len({each.source for each in trajectory.verdicts}) < len(trajectory.verdicts):
        raise RecordError("two verdicts of one source")


def _is_presentable(trajectory: Trajectory, limits: LogLimits) -> bool:
    reasons = (each.reason for each in (trajectory.outcome, *trajectory.verdicts))
    notes_text = "\n".join((*_notes(trajectory), *reasons)).encode("utf-8", "surrogatepass")
    fits = len(trajectory.searchable) + len(notes_text) < limits.field_characters
    return fits and _is_clean(trajectory.searchable) and _is_clean(notes_text)


def _is_clean(text: bytes) -> bool:
    """Return True if `clean` would leave a text in UTF-8 as it is."""
    if text.isascii():
        return b"\0" not in text.translate(_PLAIN)
    found = text.decode("utf-8", "surrogatepass")
    return clean(found) == found


def _presentable(limits: LogLimits, text: str) -> str:
    if len(text) > limits.field_characters:
        reason = f"a text of {len(text):,} characters, more than {limits.field_characters:,}"
        raise RecordError(reason, hint="cut it in the log")
    return clean(text)


def without_recalled(trajectory: Trajectory) -> Trajectory:
    """Return the episode without the contexts that its agent was given."""
    if FENCE.encode() not in trajectory.searchable:
        return trajectory
    return trajectory.with_texts(_left)


def _left(text: str) -> str:
    left, contexts = _RECALLED.subn("\n", text) if FENCE in text else (text, 0)
    return _EMPTIED.sub("", left).strip("\n") if contexts else text


def redact(trajectory: Trajectory, *, personal: bool = False) -> tuple[Trajectory, Counter[str]]:
    """Return the episode without secrets, and how many of each kind there were.

    It is the same object if it holds none.

    Searched are all its texts and its provenance: source file, domain, agent, and the names and
    values of its metadata. A secret becomes `[redacted: kind]`. One that was found once is removed
    wherever else it occurs in the episode.

    Args:
        trajectory: The episode.
        personal: Remove e-mail addresses too.
    """
    redactor = Redactor(personal=personal)
    redactor.learn([*_notes(trajectory), *_texts(trajectory)])
    if not redactor.kinds:
        return trajectory, redactor.counts
    return _cleaned(trajectory, redactor), redactor.counts


def _texts(trajectory: Trajectory) -> list[str]:
    parts = [trajectory.task, trajectory.environment, trajectory.outcome.reason]
    for step in trajectory.steps:
        parts += (step.thought, step.action, step.observation)
        if step.arguments:
            parts += _argument_texts(step.arguments)
    return parts


def _argument_texts(value: object, name: str = "") -> list[str]:
    if isinstance(value, Mapping):
        return [text for key, each in value.items() for text in _argument_texts(each, str(key))]
    if isinstance(value, list):
        return [text for each in value for text in _argument_texts(each, name)]
    return [f"{name}={value}" if name else value] if isinstance(value, str) else []


def _notes(trajectory: Trajectory) -> list[str]:
    source, facts = trajectory.source, trajectory.metadata
    notes = [trajectory.domain, trajectory.agent, source.file, source.format, source.position]
    return [*notes, *facts, *(f"{key}={value}" for key, value in facts.items())]


def _cleaned(trajectory: Trajectory, redactor: Redactor) -> Trajectory:
    clean, metadata = redactor.clean, trajectory.metadata
    return replace(
        replace(trajectory, metadata={}).with_texts(clean),
        metadata={clean(key): clean(text, f"{key}=") for key, text in metadata.items()},
    )
