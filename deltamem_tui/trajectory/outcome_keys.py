"""What a record says under keys that are known to mean the outcome: verdicts, rewards, scales.

A number is read for what it is beside others: on the scale that the record names, or not at
all if it counts how many.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from deltamem_tui.trajectory.model import Outcome, OutcomeSource
from deltamem_tui.trajectory.outcomes import (
    ROUNDING,
    are_contradictory,
    number,
    stated,
    together,
    verdict_of,
)
from deltamem_tui.trajectory.secrets.redaction import quoted

# A trace is scored for many things. Only a score of one of these names is about the task;
# `toxicity` or `latency` of 1 says nothing about success.
_VERDICTS = frozenset(
    {"correct", "goal_success", "is_correct", "pass", "passed", "resolved", "solved", "success"}
    | {"successful", "task_success", "task_succeeded"}
)
_ABOUT_THE_TASK = _VERDICTS | frozenset(
    {"accuracy", "correctness", "goal_completion", "outcome", "reward", "score"}
    | {"task_completion", "task_reward"}
)


@dataclass(frozen=True, slots=True)
class Score:
    """One score of a trace: a flag, a number or a word, and the comment that came with it."""

    name: str
    value: object
    source: OutcomeSource = "stated"
    reason: str = ""


def verdict(scores: Iterable[Score], *, any_name: bool = False) -> Outcome:
    """Return the outcome that scores state together.

    Returns:
        What all of them say, a verdict and a reward together. A model's judgement counts
        only where there is no other. Of unknown outcome if none is about the task, or if
        they disagree, or if none says how the task ended; then the reason says so.
    """
    given = list(scores)
    record = {_plain(score.name): score.value for score in given}
    asked = [score for score in given if any_name or _is_about_task(score.name)]
    found: list[tuple[Score, Outcome]] = []
    for score in asked:
        outcome = _outcome_of(score, record)
        if outcome.source != "unknown":
            attributed = replace(outcome, source=score.source, reason=score.reason)
            found.append((score, attributed))
    found = [pair for pair in found if pair[0].source != "judge"] or found
    if not found:
        own = {score.name: score.value for score in asked}
        return explained(Outcome(), record | own, own)
    together = _together([outcome for _, outcome in found])
    if together is None:
        shown = ", ".join(f"{score.name} {score.value}" for score, _ in found)
        return Outcome(reason=f"its scores disagree: {shown}")
    return together


def verdict_of_whole(scores: Iterable[Score], of_parts: Iterable[Score]) -> Outcome:
    """Return the outcome that the scores of a whole trace state together."""
    outcome = verdict(scores)
    if outcome.source != "unknown" or outcome.reason:
        return outcome
    names = (quoted(score.name, 60) for score in of_parts if _is_about_task(score.name))
    return next(
        (Outcome(reason=f"`{name}` is a score of a part of the trace") for name in names), outcome
    )


def _outcome_of(score: Score, record: Mapping[str, object]) -> Outcome:
    """Return what one score says, beside all of its trace: one of several counts says nothing."""
    if _plain(score.name) not in _VERDICTS:
        return stated(score.value)
    return Outcome() if is_tally(record, _plain(score.name)) else verdict_of(score.value)


def _together(outcomes: Sequence[Outcome]) -> Outcome | None:
    """Several outcomes as one; None if they disagree."""
    paid = [outcome for outcome in outcomes if outcome.success is None] or outcomes
    rewards = [outcome.reward for outcome in paid if outcome.reward is not None]
    if are_contradictory(outcomes) or (rewards and max(rewards) - min(rewards) > ROUNDING):
        return None
    flag = next((outcome.success for outcome in outcomes if outcome.success is not None), None)
    reason = next((outcome.reason for outcome in outcomes if outcome.reason), "")
    return Outcome(flag, next(iter(rewards), None), outcomes[0].source, reason)


def _is_about_task(name: str) -> bool:
    """Return True if a score of this name says how well the task was solved."""
    return _plain(name) in _ABOUT_THE_TASK


def _plain(name: str) -> str:
    """Return a name in small letters, its words with `_` between them."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_")


FLAG_KEYS = ("resolved", "success", "is_success", "solved", "passed", "correct")
"""Where a record says whether the task was solved, the surest first."""
REWARD_KEYS = ("reward", "final_reward", "score")
"""Where a record says how much of the task was solved, the surest first."""

# What counts beside a verdict that is none: `passed` of 3 tests, with 1 that `failed`.
_TALLIES = frozenset(
    {"fail", "failed", "failures", "incorrect", "missed", "tests", "total", "unresolved"}
    | {"unsolved", "wrong"}
)
# Beside a score, what all of it would be: `max_score`, or `out_of` of whichever there is.
_WHOLES = ("max_{}", "maximum_{}", "{}_max", "max_possible_{}")
_ANY_WHOLES = ("out_of", "max_points", "points_possible")
# What may be that, and may be the best that another run reached, or where the scale begins.
_UNCLEAR = ("best_{}", "min_{}", "{}_min", "{}_scale", "{}_range")
_ANY_UNCLEAR = ("best", "max", "maximum", "scale")
_TOTAL = ("total",)


def recorded(
    record: Mapping[str, object],
    flags: tuple[str, ...] = FLAG_KEYS,
    rewards: tuple[str, ...] = REWARD_KEYS,
) -> Outcome:
    """Return what a record says under keys that are known to mean the outcome, the surest first.

    Returns:
        What `together` makes of them, `explained` if that is nothing.
    """
    outcomes = _outcomes_under(record, flags, rewards)
    outcome = together(outcomes)
    if outcome == Outcome():
        outcome = next((each for each in outcomes.values() if each.reason), outcome)
    return explained(outcome, record, (*flags, *rewards))


def _outcomes_under(
    record: Mapping[str, object],
    flags: tuple[str, ...] = FLAG_KEYS,
    rewards: tuple[str, ...] = REWARD_KEYS,
) -> dict[str, Outcome]:
    found = [key for key in flags if key in record]
    outcomes = {key: verdict_of(record[key]) for key in found if not is_tally(record, key)}
    # Some write a flag where others write a number.
    return outcomes | {key: reward_under(record, key) for key in rewards if key in record}


def reward_under(record: Mapping[str, object], key: str) -> Outcome:
    """Return what a record states under the key of a reward, on the scale that it names beside it.

    Returns:
        As `stated`; of unknown outcome, with the reason, if the scale cannot be made out.
    """
    value = number(record.get(key))
    if value is None:
        return stated(record.get(key))
    wholes = _beside(record, key, _WHOLES, _ANY_WHOLES)
    counted = _TOTAL if value.is_integer() and value else ()
    unclear = _beside(record, key, _UNCLEAR, (*_ANY_UNCLEAR, *counted))
    usual = {name: 0.0 if "min" in name else 1.0 for name in unclear}
    unclear = {name: each for name, each in unclear.items() if number(each) != usual[name]}
    if not unclear and len({*map(number, wholes.values())}) <= 1:
        best = next(map(number, wholes.values()), None)
        outcome = stated(record.get(key), best=1.0 if best is None else best)
        if outcome.source != "unknown" or not wholes:
            return outcome
    beside = ", ".join(f"`{name}` {value}" for name, value in (wholes | unclear).items())
    shown = quoted(f"`{key}` says {record[key]} beside {beside}", 160)
    return Outcome(reason=f"{shown}: no reward from 0 to 1 can be made out")


def _beside(
    record: Mapping[str, object], key: str, own: Iterable[str], general: Iterable[str]
) -> dict[str, object]:
    """Return the numbers under names that go with a key, or with the only score of the record."""
    stems = dict.fromkeys((key, key.removeprefix("final_")))
    names = [name.format(stem) for stem in stems for name in own]
    if key == "score" or number(record.get("score")) is None:
        names += general
    return {name: record[name] for name in names if number(record.get(name)) is not None}


def stated_under(record: Mapping[str, object], key: str, *, best: float = 1.0) -> Outcome:
    """Return what a record states under one key; what stands there and says nothing is the reason.

    `best` is the number that means that all of the task was solved.
    """
    return explained(stated(record.get(key), best=best), record, (key,))


def explained(outcome: Outcome, record: Mapping[str, object], keys: Iterable[str]) -> Outcome:
    """Return the outcome; if it is unknown for no stated reason, with what stands under a key."""
    if outcome.source != "unknown" or outcome.reason:
        return outcome
    filled = (key for key in keys if _is_filled(record, key))
    return next((_unread(record, key) for key in filled), outcome)


def _unread(record: Mapping[str, object], key: str) -> Outcome:
    if is_tally(record, key):
        shown = quoted(str(record[key]), 60)
        name = quoted(key, 60)
        return Outcome(reason=f"`{name}` says {shown}, a count beside others and no verdict")
    return unread(key, record[key])


def _is_filled(record: Mapping[str, object], key: str) -> bool:
    value = record.get(key)
    return bool(value.strip()) if isinstance(value, str) else isinstance(value, int | float)


def unread(key: str, value: object) -> Outcome:
    """Return the unknown outcome of a record whose `key` holds no verdict and no reward."""
    return Outcome(
        reason=f"`{quoted(key, 60)}` says {quoted(str(value), 60)}, neither a verdict nor a reward"
    )


def is_tally(record: Mapping[str, object], key: str) -> bool:
    """Return True if the number under `key` says how many, since what it is one of is counted too.

    A nought beside a one (`passed` 1, `failed` 0) says the same as flags and as counts.
    """
    value = number(record.get(key))
    if value is None:
        return False
    numbers = (number(record.get(other)) for other in _TALLIES)
    beside = [other for other in numbers if other is not None and other.is_integer()]
    if not beside:
        return False
    return max(beside) > 1 or (value.is_integer() and value + sum(beside) != 1)


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
    """Return what a record of a run says of how it ended, at all the places where such records do.

    Returns:
        What `together` makes of it. If that is nothing, of unknown outcome; the reason is then
        what stands where an outcome could and is none, if anything does.
    """
    outcomes = _outcomes_under(record)
    outcomes |= {key: _worded(record, key) for key in _WORDS if key in record}
    for place, keys in _WITHIN.items():
        for key, outcome in _outcomes_under(_inner(record, place), *keys).items():
            outcomes[f"{place}.{key}"] = outcome
    outcome = together(outcomes)
    if outcome != _NOTHING:
        return outcome
    return otherwise if otherwise != _NOTHING else next(_reasons(record), _NOTHING)


def _worded(record: Mapping[str, object], key: str) -> Outcome:
    """Return the verdict under a key that may mean something else, if it is one beyond doubt."""
    value = record.get(key)
    if isinstance(value, bool):
        return stated(value) if key == "outcome" else Outcome()
    known = isinstance(value, str) and value.strip().lower() in _WORDS[key]
    return stated(value) if known else Outcome()


def _reasons(record: Mapping[str, object]) -> Iterator[Outcome]:
    """Yield why nothing is known of a record that states nothing, the likeliest reason first."""
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
