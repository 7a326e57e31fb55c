"""The episodes of a replay: which take part, of what kind, in what order, judged by whom."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from deltamem_tui.errors import UsageError
from deltamem_tui.memory.credit.shares import JudgeErrors, errors_among
from deltamem_tui.memory.episodes.scenes import goal_of
from deltamem_tui.memory.kinds import task_kind
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Outcome, Trajectory

Order = Literal["recorded", "shifted", "shuffled"]
ORDERS: tuple[Order, ...] = get_args(Order)


@dataclass(frozen=True, slots=True)
class Truth:
    """What is known of the episodes of a replay, in their order; recall is scored by it.

    Attributes:
        kinds: The kind of task of each; empty where it is not known.
        successes: Whether each succeeded, as log or person say.
    """

    kinds: Sequence[str]
    successes: Sequence[bool]


def strict_word(episode: Trajectory) -> Outcome | None:
    """What a person says of how an episode ended, or else its log; None if neither does."""
    words = [each for each in (episode.outcome, *episode.verdicts) if each.known]
    found = {each.source: each for each in words}
    return found.get("user") or found.get("stated")


def judge_word(episode: Trajectory) -> Outcome | None:
    """What a judge says of how an episode ended; None if none does."""
    words = (episode.outcome, *episode.verdicts)
    return next((each for each in words if each.source == "judge" and each.known), None)


def judged_by_chance(episode: Trajectory, error: float, seed: int) -> Trajectory:
    """The episode with the word of a judge that is wrong with a given probability.

    It depends on the episode and the seed alone, so that all contestants meet the same judge.
    """
    word = strict_word(episode)
    if word is None:
        return episode
    digest = hashlib.sha256(f"{seed} {episode.id}".encode()).digest()
    wrong = int.from_bytes(digest[:8]) < error * 2**64
    said = Outcome(bool(word.success) ^ wrong, source="judge", reason="simulated")
    words = (episode.outcome, *episode.verdicts)
    others = [each for each in words if each.source != "judge" and each is not word]
    return episode.with_facts(outcome=word, verdicts=(*others, said))


def judge_errors(episodes: Iterable[Trajectory]) -> JudgeErrors:
    """How often the judge says otherwise than log and person."""
    pairs = [(strict_word(each), judge_word(each)) for each in episodes]
    return errors_among((one.success, two.success) for one, two in pairs if one and two)


def kinds_of(episodes: Sequence[Trajectory], field: str) -> Mapping[str, str]:
    """The kind of task of each episode by its id: what a field of its record says.

    Where no record has the field, the goal as the rules of its domain understand it; empty where
    they do not.
    """
    stated = {each.id: one_line(each.metadata.get(field, "")).strip() for each in episodes}
    if any(stated.values()):
        return stated
    return {each.id: task_kind(each.domain, goal_of(each)) for each in episodes}


def orders_named(names: Iterable[str]) -> tuple[Order, ...]:
    """Orders by their names, each once.

    Raises:
        UsageError: There is no such order.
    """
    found: dict[Order, None] = {}
    for name in names:
        chosen = next((each for each in ORDERS if each == name), None)
        if chosen is None:
            raise UsageError(
                f"there is no order {one_line(name, 40)!r}", hint=f"one of {', '.join(ORDERS)}"
            )
        found[chosen] = None
    return tuple(found)


def in_order(
    episodes: Sequence[Trajectory], kinds: Mapping[str, str], order: Order, seed: int
) -> list[Trajectory]:
    """The episodes as recorded, in blocks of one kind each, or shuffled."""
    found = list(episodes)
    if order == "shifted":
        places = {kind: at for at, kind in reversed([*enumerate(kinds[e.id] for e in found)])}
        found.sort(key=lambda each: places[kinds[each.id]])
    elif order == "shuffled":
        random.Random(seed).shuffle(found)  # noqa: S311 - a seed is wanted
    return found
