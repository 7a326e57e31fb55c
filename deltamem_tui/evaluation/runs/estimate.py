"""What is left of a run, before it is played: games, and what a model would be asked at most."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from deltamem_tui.evaluation.runs.course_folder import results_in
from deltamem_tui.evaluation.runs.game_result import GameResult
from deltamem_tui.evaluation.runs.plan import EvaluationPlan, folders_of


class RunEstimate(Struct, frozen=True):
    """What is still to be done.

    Attributes:
        contestants: How many compete.
        games: How many count, for each of them.
        tries: The most tries that are left, of all contestants together, training included.
        actions: The most actions in those.
        learnt: The most episodes that are learnt, the log's included.
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
    left = 0
    for name in folders_of(plan):
        kept = [*results_in(folder / name).values()]
        done += kept
        solved = {each.game for each in kept if each.success}
        tried = {each.game for each in kept}
        left += sum(
            plan.tries - sum(each.game == game for each in kept) * (game in tried)
            for game in (info.name for info in plan.games)
            if game not in solved
        )
    learners = sum(each.sort == "method" for each in plan.entrants)
    trainees = sum(each.trains for each in plan.entrants)
    tries = left + len(plan.train) * trainees
    learnt = log * learners + len(plan.train) * trainees + (left if plan.learns else 0)
    calls, tokens = _mean([each.calls for each in done]), _mean([each.tokens for each in done])
    costs = [each.cost for each in done if each.cost is not None]
    cost = _mean(costs) if len(costs) == len(done) else None
    return RunEstimate(
        len(plan.entrants),
        len(plan.games),
        tries,
        tries * plan.limit,
        learnt,
        len(done),
        calls,
        tokens,
        cost,
        None if cost is None else cost * tries,
    )


def _mean(values: list[int] | list[float]) -> float | None:
    return sum(values) / len(values) if values else None
