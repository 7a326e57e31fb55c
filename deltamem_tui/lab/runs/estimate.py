"""What is left of a run, before it is played: games, and what a model would be asked at most."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from deltamem_tui.lab.runs.course_folder import (
    TRAINING,
    Attempt,
    is_over,
    results_in,
    tries_at,
)
from deltamem_tui.lab.runs.game_result import GameResult
from deltamem_tui.lab.runs.opening import OPENING
from deltamem_tui.lab.runs.plan import EvaluationPlan, folders_of


class RunEstimate(Struct, frozen=True):
    """What is still to be done.

    Attributes:
        contestants: How many compete.
        games: How many count, for each of them.
        tries: The most tries that are left, of all contestants together, training included.
        actions: The most actions in those.
        learnt: The most episodes that are still learnt. The log's count until the games begin.
        played: How many tries are finished; `calls`, `tokens` and `cost` are what a try took in
            the mean of those. None if there are none, or a price is not known.
        cost_left: What all tries that are left would then cost, in US dollars.
    """

    contestants: int
    games: int
    tries: int
    actions: int
    learnt: int
    played: int
    calls: float | None
    tokens: float | None
    cost: float | None
    cost_left: float | None


def estimate(plan: EvaluationPlan, folder: Path, log: int) -> RunEstimate:
    """What is left of a run that is kept in a folder, if it was begun. Nothing is written.

    What a model costs depends on how long it plays, which is known from games it has played: so
    costs are told as soon as some tries are finished.
    """
    done: list[GameResult] = []
    tries = learnt = 0
    for entrant, name in zip(plan.entrants, folders_of(plan), strict=True):
        path = folder / name
        trained, kept = results_in(path, TRAINING), results_in(path)
        done += [*trained.values(), *kept.values()]
        training = len(plan.train) * entrant.trains - len(trained)
        playing = _tries_left(plan, kept)
        tries += training + playing
        learnt += training + playing * (plan.learns and entrant.method != "nothing")
        if entrant.sort == "method" and not (path / OPENING).exists():
            learnt += log
    calls, tokens = _mean([each.calls for each in done]), _mean([each.tokens for each in done])
    costs = [each.cost for each in done if each.cost is not None]
    cost = _mean(costs) if len(costs) == len(done) else None
    return RunEstimate(
        contestants=len(plan.entrants),
        games=len(plan.games),
        tries=tries,
        actions=tries * plan.limit,
        learnt=learnt,
        played=len(done),
        calls=calls,
        tokens=tokens,
        cost=cost,
        cost_left=None if cost is None else cost * tries,
    )


def _tries_left(plan: EvaluationPlan, kept: Mapping[Attempt, GameResult]) -> int:
    games = [tries_at(kept, each.name, plan.tries) for each in plan.games]
    return sum(plan.tries - len(tries) for tries in games if not is_over(tries, plan.tries))


def _mean(values: list[int] | list[float]) -> float | None:
    return sum(values) / len(values) if values else None
