"""How logs say that an episode went well: many spellings in, one `Outcome` out.

Only values are read here, never prose. A flag or a word gives `success`; a number gives
`reward`, and `decided` says from which reward on that is a success. Where a verdict is
expected, a nought or a one is a flag too. What contradicts itself outright is no outcome.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Outcome

FLAG_KEYS = ("resolved", "success", "is_success", "solved", "passed", "correct")
"""Where a record says whether the task was solved, the surest first."""
REWARD_KEYS = ("reward", "final_reward", "score")
"""Where a record says how much of the task was solved, the surest first."""

_SUCCESS_WORDS = frozenset(
    {"true", "yes", "ok", "c", "correct", "pass", "passed", "success", "successful", "succeeded"}
    | {"resolved", "solved", "won", "win"}
)
_FAILURE_WORDS = frozenset(
    {"false", "no", "i", "n", "incorrect", "fail", "failed", "failure"}
    | {"unresolved", "unsolved", "lost", "loss"}
)
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
# Inspect's letter for a partly correct answer.
_HALF_WORDS = frozenset({"p", "partial"})
# Rewards come from divisions and sums of floats: 0.9999999999 is a one.
ROUNDING = 1e-6
"""How far apart two rewards may be that are the same."""


def number(value: object) -> float | None:
    """A finite number, also if it is written as text; None for anything else, flags included."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        parsed = float(value)
    except (ValueError, OverflowError):
        return None
    return parsed if math.isfinite(parsed) else None


def unit_reward(value: object, best: float = 1.0) -> float | None:
    """A log's score as a reward in [0, 1].

    Args:
        value: A number, or a number as text. Below zero, as simulators pay for spoiling
            a task for good, is zero.
        best: The score that means that all of the task was solved.

    Returns:
        None if it is no number, or above `best`: then it is on a scale that nobody named.
    """
    score = number(value)
    if score is None or best <= 0:
        return None
    share = score / best
    if share > 1 + ROUNDING:
        return None
    return min(max(share, 0.0), 1.0)


def stated(value: object, *, best: float = 1.0, reason: str = "") -> Outcome:
    """What a log itself says about how an episode ended.

    Args:
        value: A flag (True, "true", "C", "resolved", …) or a number (1, "0.75", -100).
        best: The number that means that all of the task was solved.
        reason: Why, where the log gives a reason.

    Returns:
        With `success` for a flag; with only `reward` for a number (see `decided`); of
        unknown outcome if the value means neither.
    """
    if isinstance(value, bool):
        return Outcome(success=value, source="stated", reason=reason)
    word = value.strip().lower() if isinstance(value, str) else ""
    if word in _SUCCESS_WORDS or word in _FAILURE_WORDS:
        return Outcome(success=word in _SUCCESS_WORDS, source="stated", reason=reason)
    reward = 0.5 if word in _HALF_WORDS else unit_reward(value, best)
    if reward is None:
        return Outcome()
    return Outcome(reward=reward, source="stated", reason=reason)


def verdict_of(value: object, *, best: float = 1.0) -> Outcome:
    """What a log says in the place where it tells whether the task was solved.

    A nought or a one is a flag there, also as text: no reward beside it can say otherwise.

    Args:
        value: A flag or a number.
        best: The number that means that all of the task was solved, of those that are no flag.

    Returns:
        With `success` for a flag, and with `reward` for a number, so with both for a flag
        that is one; of unknown outcome if the value means neither.
    """
    flag = number(value)
    if flag not in (0.0, 1.0):
        return stated(value, best=best)
    return Outcome(flag == 1.0, abs(flag), "stated")


def recorded(
    record: Mapping[str, object],
    flags: tuple[str, ...] = FLAG_KEYS,
    rewards: tuple[str, ...] = REWARD_KEYS,
) -> Outcome:
    """What a record says under keys that are known to mean the outcome.

    Args:
        record: The record, with whatever other keys.
        flags: Keys of a verdict, the surest first; a number that is one of several counts
            is none.
        rewards: Keys of a reward in [0, 1], the surest first.

    Returns:
        What `together` makes of them, `explained` if that is nothing.
    """
    said = {key: verdict_of(record.get(key)) for key in flags if not is_tally(record, key)}
    # Some write a flag where others write a number.
    said |= {key: reward_under(record, key) for key in rewards}
    outcome = together(said)
    if outcome == Outcome():
        outcome = next((each for each in said.values() if each.reason), outcome)
    return explained(outcome, record, (*flags, *rewards))


def reward_under(record: Mapping[str, object], key: str) -> Outcome:
    """What a record states under the key of a reward, on the scale that it names beside it.

    Args:
        record: The record, with whatever other keys.
        key: One of `REWARD_KEYS`.

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
    shown = one_line(f"`{key}` says {record[key]} beside {beside}", 160)
    return Outcome(reason=f"{shown}: no reward from 0 to 1 can be made out")


def _beside(
    record: Mapping[str, object], key: str, own: Iterable[str], general: Iterable[str]
) -> dict[str, object]:
    """The numbers under names that go with a key, or with the only score of the record."""
    stems = dict.fromkeys((key, key.removeprefix("final_")))
    names = [name.format(stem) for stem in stems for name in own]
    if key == "score" or number(record.get("score")) is None:
        names += general
    return {name: record[name] for name in names if number(record.get(name)) is not None}


def stated_under(record: Mapping[str, object], key: str, *, best: float = 1.0) -> Outcome:
    """What a record states under one key; what stands there and says nothing is the reason.

    Args:
        record: The record, with whatever other keys.
        key: Where a flag, a word or a number is expected.
        best: The number that means that all of the task was solved.
    """
    return explained(stated(record.get(key), best=best), record, (key,))


def explained(outcome: Outcome, record: Mapping[str, object], keys: Iterable[str]) -> Outcome:
    """An outcome; if it is unknown and nobody says why, with what stands in its place as reason.

    Args:
        outcome: What the record was understood to say.
        record: The record.
        keys: Where it may say how the episode ended, the surest first.
    """
    if outcome.source != "unknown" or outcome.reason:
        return outcome
    told = (key for key in keys if _is_told(record, key))
    return next((_unread(record, key) for key in told), outcome)


def _unread(record: Mapping[str, object], key: str) -> Outcome:
    if is_tally(record, key):
        shown = one_line(str(record[key]), 60)
        name = one_line(key, 60)
        return Outcome(reason=f"`{name}` says {shown}, a count beside others and no verdict")
    return unread(key, record[key])


def _is_told(record: Mapping[str, object], key: str) -> bool:
    value = record.get(key)
    return bool(value.strip()) if isinstance(value, str) else isinstance(value, int | float)


def unread(key: str, value: object) -> Outcome:
    """The unknown outcome of a record whose `key` holds what is neither verdict nor reward."""
    return Outcome(
        reason=f"`{one_line(key, 60)}` says {one_line(str(value), 60)}, "
        "neither a verdict nor a reward"
    )


def together(said: Mapping[str, Outcome]) -> Outcome:
    """What several places of one record say of the same episode.

    Args:
        said: What each of them says, by its name, the surest first; those of unknown outcome
            say nothing.

    Returns:
        The first verdict and the first reward together. Of unknown outcome if nothing is said,
        or if two of them contradict each other outright; then the reason says so.
    """
    told = {name: each for name, each in said.items() if each.source != "unknown"}
    if _is_contradictory(told.values()):
        words = ", ".join(f"{name} {_word(each)}" for name, each in told.items())
        return Outcome(reason=f"the log contradicts itself: {words}")
    verdict = next((each for each in told.values() if each.success is not None), None)
    paid = (each for each in (*_rewards(told.values()), verdict) if each is not None)
    reward = next((each.reward for each in paid), None)
    if verdict is None and reward is None:
        return Outcome()
    return Outcome(verdict.success if verdict else None, reward, "stated")


def undisputed(outcome: Outcome) -> Outcome:
    """The outcome, of unknown success if its reward contradicts its verdict outright."""
    if outcome.success is None or outcome.reward is None:
        return outcome
    parts = {
        "success": replace(outcome, reward=None),
        "reward": replace(outcome, success=None),
    }
    if not _is_contradictory(parts.values()):
        return outcome
    words = f"success {_word(parts['success'])}, reward {_word(parts['reward'])}"
    return Outcome(reason=f"the log contradicts itself: {words}")


def attributed(outcome: Outcome) -> Outcome:
    """The outcome, said by the log if it is known and nobody is named who said it."""
    if outcome.source != "unknown" or (outcome.success is None and outcome.reward is None):
        return outcome
    return replace(outcome, source="stated")


def _is_contradictory(outcomes: Collection[Outcome]) -> bool:
    """Whether two outcomes cannot both be true, from whatever reward on is a success.

    So a verdict and a reward contradict each other only if nothing was paid for a success, or
    all of it for a failure.
    """
    ends = {each.success for each in outcomes if each.success is not None}
    for each in _rewards(outcomes):
        if each.reward is not None and not ROUNDING < each.reward < 1.0 - ROUNDING:
            ends.add(each.reward > ROUNDING)
    return len(ends) > 1


def _rewards(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Those that are no verdict. The reward of a flag in numbers is only the flag once more."""
    return [each for each in outcomes if each.success is None]


def _word(outcome: Outcome) -> str:
    if outcome.success is None:
        return f"{outcome.reward:g}"
    return "true" if outcome.success else "false"


def is_tally(record: Mapping[str, object], key: str) -> bool:
    """Whether the number under `key` says how many, since what it is one of is counted too.

    A nought and a one beside each other (`passed` 1, `failed` 0) are two flags or the counts of
    one thing, and say the same either way.
    """
    value = number(record.get(key))
    if value is None:
        return False
    numbers = (number(record.get(other)) for other in _TALLIES)
    beside = [other for other in numbers if other is not None and other.is_integer()]
    if not beside:
        return False
    return max(beside) > 1 or (value.is_integer() and value + sum(beside) != 1)


def decided(outcome: Outcome, success_at: float = 1.0) -> Outcome:
    """The outcome with its success drawn from its reward, where it has only that.

    Args:
        outcome: Any outcome; one that states its success is returned as it is.
        success_at: The reward from which on an episode is a success.
    """
    if outcome.success is not None or outcome.reward is None:
        return outcome
    return replace(outcome, success=outcome.reward >= success_at - ROUNDING)
