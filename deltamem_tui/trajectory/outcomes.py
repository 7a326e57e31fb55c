"""How logs say that an episode went well: many spellings and keys in, one `Outcome` out.

Only values are read here, never prose. What contradicts itself outright is not an outcome.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from deltamem_tui.trajectory.model import Outcome, OutcomeSource
from deltamem_tui.trajectory.secrets.redaction import quoted

_WORDS = {
    **dict.fromkeys(("true", "yes", "ok", "c", "correct", "pass", "passed", "won", "win"), True),
    **dict.fromkeys(("success", "successful", "succeeded", "resolved", "solved"), True),
    **dict.fromkeys(("false", "no", "i", "n", "incorrect", "fail", "failed", "failure"), False),
    **dict.fromkeys(("unresolved", "unsolved", "lost", "loss"), False),
}
_HALF_WORDS = frozenset({"p", "partial"})  # Inspect's letter for a partly correct answer
ROUNDING = 1e-6
"""How far apart two rewards may be that are the same: they are sums and quotients of floats."""


def number(value: object) -> float | None:
    """Return a finite number, also one written as text; None for anything else, as for flags."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        parsed = float(value)
    except (ValueError, OverflowError):
        return None
    return parsed if math.isfinite(parsed) else None


def stated(value: object, *, best: float = 1.0) -> Outcome:
    """Return what a log itself says about how an episode ended.

    Returns:
        With `success` for a flag or a word; with only `reward` for a number (see `decided`); of
        unknown outcome if the value means neither.
    """
    word = value.strip().lower() if isinstance(value, str) else ""
    success = value if isinstance(value, bool) else _WORDS.get(word)
    score = 0.5 * best if word in _HALF_WORDS else number(value)
    fits = score is not None and best > 0 and score / best <= 1 + ROUNDING
    reward = min(max(score / best, 0.0), 1.0) if score is not None and fits else None
    if success is None and reward is None:
        return Outcome()
    return Outcome(success, None if success is not None else reward, "stated")


def verdict_of(value: object, *, best: float = 1.0) -> Outcome:
    """Return what a log says where it tells whether the task was solved: 0 and 1 are flags too."""
    flag = number(value)
    if flag in (0.0, 1.0):
        return Outcome(flag == 1.0, abs(flag), "stated")
    return stated(value, best=best)


def together(outcomes: Mapping[str, Outcome]) -> Outcome:
    """Return what several places of one record say of the same episode, the first one first."""
    known = {name: each for name, each in outcomes.items() if each.source != "unknown"}
    if are_contradictory(known.values()):
        shown = ", ".join(f"{name} {_shown(each)}" for name, each in known.items())
        return Outcome(reason=f"the log contradicts itself: {shown}")
    verdict = next((each for each in known.values() if each.success is not None), Outcome())
    rewards = (each.reward for each in known.values() if each.success is None)
    reward = next(rewards, verdict.reward)  # that of a flag in numbers is the flag once more
    return Outcome(verdict.success, reward).attributed


def undisputed(outcome: Outcome) -> Outcome:
    """Return the outcome, of unknown success if its reward contradicts its verdict outright."""
    if outcome.success is None or outcome.reward is None:
        return outcome
    parts = {"success": replace(outcome, reward=None), "reward": replace(outcome, success=None)}
    found = together(parts)
    return found if found.reason else outcome


def are_contradictory(outcomes: Collection[Outcome]) -> bool:
    """Return True if two of the outcomes cannot both be true, whatever reward is a success."""
    ends = {each.success for each in outcomes if each.success is not None}
    rewards = (each.reward for each in outcomes if each.success is None)
    paid = [each for each in rewards if each is not None]
    ends |= {each > ROUNDING for each in paid if not ROUNDING < each < 1.0 - ROUNDING}
    return len(ends) > 1


def _shown(outcome: Outcome) -> str:
    return f"{outcome.reward:g}" if outcome.success is None else str(outcome.success).lower()


def decided(outcome: Outcome, success_at: float = 1.0) -> Outcome:
    """Return the outcome with its success drawn from its reward, where it has only that."""
    if outcome.success is not None or outcome.reward is None:
        return outcome
    return replace(outcome, success=outcome.reward >= success_at - ROUNDING)


Row = Mapping[str, object]
ID_KEYS = ("id", "instance_id", "task_id", "trajectory", "trajectory_id", "sample_id", "name")
"""Keys of an episode's external id, the surest first."""
FLAG_KEYS = ("resolved", "success", "is_success", "solved", "passed", "correct")
"""Keys that say whether the task was solved, the surest first."""
REWARD_KEYS = ("reward", "final_reward", "score")
"""Keys that say how much of the task was solved, the surest first."""
# Words that are a verdict under a name that may mean something else. By `status` programs report
# how the run went: one that failed at the task completed.
_SOLVED = frozenset({"resolved", "unresolved", "solved", "unsolved"})
_ENDED = _SOLVED | frozenset(
    {"success", "successful", "succeeded", "failure", "fail", "failed", "pass", "passed"}
    | {"correct", "incorrect", "won", "win", "lost", "loss"}
)
_WORD_KEYS = {"outcome": _ENDED | {"true", "false"}, "result": _ENDED, "status": _SOLVED}
# What a record keeps apart, and the keys there that can mean nothing but the task.
_PLACES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "outcome": (FLAG_KEYS, REWARD_KEYS),
    "metrics": (FLAG_KEYS, REWARD_KEYS),
    "metadata": (("resolved", "success", "is_success", "solved"), ("reward", "final_reward")),
}
# What counts beside a verdict that is none: `passed` of 3 tests, with 1 that `failed`.
_TALLIES = frozenset(
    {"fail", "failed", "failures", "incorrect", "missed", "tests", "total", "unresolved"}
    | {"unsolved", "wrong"}
)
# Beside a score: what all of it would be, and what may be that or something else.
_WHOLE = r"max_{0}|maximum_{0}|{0}_max|max_possible_{0}"
_UNCLEAR = r"best_{0}|min_{0}|{0}_min|{0}_scale|{0}_range"
_ANY_WHOLE, _ANY_UNCLEAR = "|out_of|max_points|points_possible", "|best|max|maximum|scale"
_NOTHING = Outcome()
_NEITHER = "neither a verdict nor a reward"


def recorded_anywhere(record: Row, otherwise: Outcome = _NOTHING) -> Outcome:
    """Return what a record of a run says of how it ended, at all places where such records do."""
    own = _under(record, FLAG_KEYS, REWARD_KEYS)
    outcomes = own | {key: _worded(record, key) for key in _WORD_KEYS if key in record}
    for place, keys in _PLACES.items():
        within = record.get(place)
        inner = _under(within, *keys) if isinstance(within, dict) else {}
        outcomes |= {f"{place}.{key}": outcome for key, outcome in inner.items()}
    found = next(filter(_NOTHING.__ne__, (together(outcomes), otherwise)), None)
    if found is None:  # then what stands under a key says why
        found = next((each for each in own.values() if each.reason), _NOTHING)
    return explained(found, record, (*FLAG_KEYS, *REWARD_KEYS))


def _under(record: Row, flags: tuple[str, ...], rewards: tuple[str, ...]) -> dict[str, Outcome]:
    found = [key for key in flags if key in record and not is_tally(record, key)]
    outcomes = {key: verdict_of(record[key]) for key in found}
    return outcomes | {key: reward_under(record, key) for key in rewards if key in record}


def _worded(record: Row, key: str) -> Outcome:
    value = record[key]
    word = str(value).strip().lower() if isinstance(value, str | bool) else ""
    is_verdict = word in _WORD_KEYS[key] and (key == "outcome" or isinstance(value, str))
    return stated(value) if is_verdict else _NOTHING


def reward_under(record: Row, key: str) -> Outcome:
    """Return what a record states under the key of a reward, on the scale named beside it."""
    value = number(record.get(key))
    if value is None:
        return stated(record.get(key))
    wholes = _scales(record, key, _WHOLE, _ANY_WHOLE)
    counted = "|total" if value.is_integer() and value else ""
    unclear = _scales(record, key, _UNCLEAR, _ANY_UNCLEAR + counted)
    unclear = {name: each for name, each in unclear.items() if each != float("min" not in name)}
    if not unclear and len({*wholes.values()}) <= 1:
        outcome = stated(value, best=next(iter(wholes.values()), 1.0))
        if outcome.source != "unknown" or not wholes:
            return outcome
    beside = ", ".join(f"`{name}` {record[name]}" for name in (*wholes, *unclear))
    shown = quoted(f"`{key}` says {record[key]} beside {beside}", 160)
    return Outcome(reason=f"{shown}: no reward from 0 to 1 can be made out")


def _scales(record: Row, key: str, own: str, general: str) -> dict[str, float]:
    """Return the numbers under names that go with a key, or with the only score of the record."""
    if key != "score" and number(record.get("score")) is not None:
        general = ""
    named = re.compile(own.format(f"(?:{key}|{key.removeprefix('final_')})") + general)
    found = {name: number(each) for name, each in record.items() if named.fullmatch(str(name))}
    return {name: each for name, each in found.items() if each is not None}


def explained(outcome: Outcome, record: Row, keys: Iterable[str]) -> Outcome:
    """Return the outcome; if it is unknown for no stated reason, with what stands under a key."""
    if outcome.source != "unknown" or outcome.reason:
        return outcome
    for key in keys:
        value = record.get(key)
        is_count = is_tally(record, key)
        if is_count or isinstance(value, int | float) or (isinstance(value, str) and value.strip()):
            why = "a count beside others and no verdict" if is_count else _NEITHER
            return Outcome(reason=f"`{quoted(key, 60)}` says {quoted(str(value), 60)}, {why}")
    return outcome


def is_tally(record: Row, key: str) -> bool:
    """Return True if the number under `key` is a count, as others beside it are."""
    value = number(record.get(key))
    numbers = (number(record.get(other)) for other in _TALLIES)
    beside = [other for other in numbers if other is not None and other.is_integer()]
    if value is None or not beside:
        return False
    return max(beside) > 1 or (value.is_integer() and value + sum(beside) != 1)


# A trace is scored for many things. Only a score of one of these names is about the task.
_VERDICTS = frozenset(
    {*FLAG_KEYS, "goal_success", "is_correct", "pass", "successful", "task_success"}
    | {"task_succeeded"}
)
_ABOUT_THE_TASK = _VERDICTS | frozenset(
    {"accuracy", "correctness", "goal_completion", "outcome", "reward", "score"}
    | {"task_completion", "task_reward"}
)


@dataclass(frozen=True, slots=True)
class Score:
    """One score, of a trace or a part of it: a flag, a number or a word, and its comment."""

    name: str
    value: object
    source: OutcomeSource = "stated"
    reason: str = ""
    is_part: bool = False

    @property
    def key(self) -> str:
        """The name in small letters, its words with `_` between them."""
        spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", self.name)
        return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_")


def verdict(scores: Iterable[Score], *, any_name: bool = False) -> Outcome:
    """Return the outcome that scores state together; those of parts say only why it is unknown."""
    listed = list(scores)
    given = [score for score in listed if not score.is_part]
    record = {score.key: score.value for score in given}
    asked = [score for score in given if any_name or score.key in _ABOUT_THE_TASK]
    told = [(score, _outcome_of(score, record)) for score in asked]
    found = [(score, outcome) for score, outcome in told if outcome.source != "unknown"]
    found = [pair for pair in found if pair[1].source != "judge"] or found
    if not found:
        own = {score.name: score.value for score in asked}
        names = (each.name for each in listed if each.is_part and each.key in _ABOUT_THE_TASK)
        reasons = (f"`{quoted(name, 60)}` is a score of a part of the trace" for name in names)
        unknown = explained(_NOTHING, record | own, own)
        return unknown if unknown.reason else Outcome(reason=next(reasons, ""))
    outcomes = [outcome for _, outcome in found]
    paid = [each for each in outcomes if each.success is None] or outcomes
    rewards = [each.reward for each in paid if each.reward is not None]
    if are_contradictory(outcomes) or (rewards and max(rewards) - min(rewards) > ROUNDING):
        shown = ", ".join(f"{score.name} {score.value}" for score, _ in found)
        return Outcome(reason=f"its scores disagree: {shown}")
    flag = next((each.success for each in outcomes if each.success is not None), None)
    reason = next((each.reason for each in outcomes if each.reason), "")
    return Outcome(flag, next(iter(rewards), None), outcomes[0].source, reason)


def _outcome_of(score: Score, record: Row) -> Outcome:
    """Return what one score says, beside all of its trace: one of several counts says nothing."""
    outcome = verdict_of(score.value) if score.key in _VERDICTS else stated(score.value)
    if outcome.source == "unknown" or (score.key in _VERDICTS and is_tally(record, score.key)):
        return _NOTHING
    return replace(outcome, source=score.source, reason=score.reason)
