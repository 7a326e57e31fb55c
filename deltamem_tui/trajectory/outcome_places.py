"""Where a record of a run that follows no known scheme may say how it ended, and where it may not.

A verdict counts under a plain name at a plain place: `success`, `outcome`, `metrics.reward`. A
word that may be about the run (`"status": "completed"`), an answer (`"result": "yes"`) or the
making of the data (`metadata.passed`) is no verdict, and only the reason why nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.trajectory.outcome_keys import (
    FLAG_KEYS,
    REWARD_KEYS,
    recorded,
    said_under,
    unread,
)
from deltamem_tui.trajectory.outcomes import stated, together
from deltamem_tui.trajectory.secrets.quoting import quoted

_SOLVED = frozenset({"resolved", "unresolved", "solved", "unsolved"})
_ENDED = _SOLVED | frozenset(
    {"success", "successful", "succeeded", "failure", "fail", "failed", "pass", "passed"}
    | {"correct", "incorrect", "won", "win", "lost", "loss"}
)
# The words that are a verdict there. Programs report by `status` how the run went: one that
# failed at the task completed, and one that the machine stopped failed.
_WORDS = {"outcome": _ENDED | {"true", "false"}, "result": _ENDED, "status": _SOLVED}
# What the record keeps apart, and the keys there that can mean nothing but the task.
_WITHIN: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "outcome": (FLAG_KEYS, REWARD_KEYS),
    "metrics": (FLAG_KEYS, REWARD_KEYS),
    "metadata": (("resolved", "success", "is_success", "solved"), ("reward", "final_reward")),
}
_ELSEWHERE = ("metadata", "result")
_NOTHING = Outcome()
_ANSWER = 40  # what is longer under a name that may mean the outcome is an answer, or prose


def recorded_anywhere(record: Mapping[str, object], otherwise: Outcome = _NOTHING) -> Outcome:
    """What a record of a run says of how it ended, at all the places where such records do.

    Args:
        record: The record.
        otherwise: What it says at a place that counts only if all others say nothing.

    Returns:
        What `together` makes of it. If that is nothing, of unknown outcome; the reason is then
        what stands where an outcome could and is none, if anything does.
    """
    said = said_under(record)
    said |= {key: _worded(record, key) for key in _WORDS if key in record}
    for place, keys in _WITHIN.items():
        for key, outcome in said_under(_inner(record, place), *keys).items():
            said[f"{place}.{key}"] = outcome
    outcome = together(said)
    if outcome != _NOTHING:
        return outcome
    return otherwise if otherwise != _NOTHING else next(_reasons(record), _NOTHING)


def _worded(record: Mapping[str, object], key: str) -> Outcome:
    """The verdict under a key that may mean something else, if it is one beyond doubt."""
    value = record.get(key)
    if isinstance(value, bool):
        return stated(value) if key == "outcome" else Outcome()
    known = isinstance(value, str) and value.strip().lower() in _WORDS[key]
    return stated(value) if known else Outcome()


def _reasons(record: Mapping[str, object]) -> Iterator[Outcome]:
    """Why nothing is known of a record that states nothing, the likeliest reason first."""
    if (plain := recorded(record)).reason:
        yield plain
    for place, keys in _WITHIN.items():
        if reason := recorded(_inner(record, place), *keys).reason:
            yield Outcome(reason=f"in `{place}`, {reason}")
    for key in _WORDS:
        value = record.get(key)
        if isinstance(value, bool | int | float) or (isinstance(value, str) and _is_word(value)):
            yield unread(key, value) if key == "outcome" else _doubtful(key, value)
    for place in _ELSEWHERE:
        inner = _inner(record, place)
        for key in (*FLAG_KEYS, *REWARD_KEYS):
            if isinstance(inner.get(key), bool | int | float):
                yield _doubtful(f"{place}.{key}", inner[key])


def _doubtful(key: str, value: object) -> Outcome:
    return Outcome(
        reason=f"`{key}` says {quoted(str(value), 60)}, which may be about something else than "
        "the task"
    )


def _is_word(value: str) -> bool:
    return 0 < len(value.strip()) <= _ANSWER and "\n" not in value.strip()


def _inner(record: Mapping[str, object], place: str) -> Mapping[str, object]:
    value = record.get(place)
    return value if isinstance(value, dict) else {}
