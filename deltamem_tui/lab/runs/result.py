"""What an evaluation came to, as plain data: what commands print, JSON keeps and pages show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec import Struct

from deltamem_tui.lab.agent import Count, Dollars
from deltamem_tui.lab.contestants.entrant import Entrant
from deltamem_tui.lab.contestants.memory import MemorySize
from deltamem_tui.lab.runs.game_result import GameResult
from deltamem_tui.lab.runs.opening import StartingPoint
from deltamem_tui.lab.runs.plan import EvaluationPlan
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.replay.bootstrap import Estimate, Ratio, difference, interval
from deltamem_tui.memory.replay.result import POINTS, Measure

RESULT = "result.json"
"""What a finished run came to, as `EvaluationResult`, in its folder."""

Tries = Sequence[GameResult]
"""What one contestant did in one game."""


def _cost(tries: Tries) -> float | None:
    known = [each.cost for each in tries if each.cost is not None]
    return sum(known) if len(known) == len(tries) else None


_VALUES: Mapping[str, Callable[[Tries], float | None]] = {
    "score": lambda tries: max(each.score for each in tries),
    "success": lambda tries: float(any(each.success for each in tries)),
    "steps": lambda tries: float(sum(each.steps for each in tries)),
    "memory_tokens": lambda tries: sum(each.memory_tokens for each in tries) / len(tries),
    "calls": lambda tries: float(sum(each.calls for each in tries)),
    "tokens": lambda tries: float(sum(each.tokens for each in tries)),
    "cost": _cost,
}
MEASURES = tuple(_VALUES)
"""What is measured of a game: the best score of its tries, whether any solved it, the steps of
all of them, how long the memory's text was in the mean, and what the agent's model took."""
_OF_KINDS = ("score", "success", "steps")
_CURVES = ("score", "success", "steps")


class KindResult(Struct, frozen=True):
    """What a contestant came to in the games of one kind of task.

    Attributes:
        games: How many there are.
        measures: Score, success and steps.
    """

    games: int
    measures: Mapping[str, Measure]


class EvaluationCurves(Struct, frozen=True):
    """What is drawn over time.

    Attributes:
        games: How many games had been played, at each point.
        nodes: How many units of memory there were after them.
        measures: Score, success and steps over the games so far.
    """

    games: tuple[int, ...]
    nodes: tuple[int, ...]
    measures: Mapping[str, tuple[float, ...]]


class GuardReport(Struct, frozen=True):
    """What of the test a contestant knew before.

    Attributes:
        seen: How many of the games its memory had learnt from.
        hidden: Whether what it learnt from a game was hidden while it was played.
        unknown: How many episodes its memory comes from of which the game is not known.
        unseen_score: Its score in the other games, if it had seen some.
    """

    seen: int
    hidden: bool
    unknown: int
    unseen_score: Estimate | None = None


class WriterUsage(Struct, frozen=True):
    """What it took a model to put experience into words; `cost` in US dollars, None if unknown."""

    calls: Count
    tokens: Count
    cost: Dollars | None


class EntrantResult(Struct, frozen=True):
    """What one contestant came to.

    Attributes:
        measures: By name, as `MEASURES`; one whose values are not known is left out.
        by_kind: By the kind of task, in the order in which they come.
        solved_by: The share of games that were solved at the first try, the first two, and so on.
        learnt_before: Episodes that its memory had learnt before the games.
        learnt: Tries that it learnt from.
        size_before: What its memory held before the games, and `size` after them.
        tokens_per_node: How long a unit of its memory is in the mean, after them.
        results: Every try, game by game.
    """

    entrant: Entrant
    measures: Mapping[str, Measure]
    by_kind: Mapping[str, KindResult]
    solved_by: tuple[float, ...]
    learnt_before: int
    learnt: int
    size_before: MemorySize
    size: MemorySize
    tokens_per_node: float | None
    writer: WriterUsage
    guard: GuardReport
    curves: EvaluationCurves
    results: tuple[GameResult, ...]


class EvaluationResult(Struct, frozen=True):
    """What an evaluation came to.

    Attributes:
        games: How many were played.
        trained: How many games were played before, to learn from.
        contestants: The first is the one that the others are compared with.
        leave_one_out: Whether what was learnt from a game was hidden while it was played.
    """

    environment: str
    split: str
    protocol: str
    agent: str
    games: int
    order: str
    seed: int
    limit: int
    tries: int
    trained: int
    domain: str
    embedder: str
    writer: str
    contestants: tuple[EntrantResult, ...]
    leave_one_out: bool = False


@dataclass(frozen=True, slots=True)
class Finish:
    """What a contestant ended with.

    Attributes:
        games: Per game its tries, in the order of the plan.
        usage: What its memory paid to a model.
    """

    entrant: Entrant
    opening: StartingPoint
    games: Sequence[Tries]
    size: MemorySize
    usage: Usage


def evaluation_result(plan: EvaluationPlan, finishes: Sequence[Finish]) -> EvaluationResult:
    """The results of all contestants, compared with the first of them."""
    return EvaluationResult(
        environment=plan.environment,
        split=plan.split,
        protocol=plan.protocol,
        agent=plan.agent,
        games=len(plan.games),
        order=plan.order,
        seed=plan.seed,
        limit=plan.limit,
        tries=plan.tries,
        trained=len(plan.train),
        domain=plan.domain,
        embedder=plan.embedder,
        writer=plan.writer,
        contestants=tuple(_result(plan, each, finishes[0]) for each in finishes),
        leave_one_out=plan.leave_one_out,
    )


def _result(plan: EvaluationPlan, finish: Finish, first: Finish) -> EntrantResult:
    size, usage = finish.size, finish.usage
    kinds: dict[str, list[int]] = {}
    for at, info in enumerate(plan.games):
        if info.kind:
            kinds.setdefault(info.kind, []).append(at)
    return EntrantResult(
        entrant=finish.entrant,
        measures=_measures(finish.games, first.games, MEASURES),
        by_kind={
            kind: _of_kind(finish.games, first.games, places) for kind, places in kinds.items()
        },
        solved_by=_solved_by(finish.games, plan.tries),
        learnt_before=finish.opening.learnt,
        learnt=sum(each.learnt for tries in finish.games for each in tries),
        size_before=finish.opening.size,
        size=size,
        tokens_per_node=size.tokens / size.nodes if size.nodes else None,
        writer=WriterUsage(usage.calls, usage.prompt_tokens + usage.completion_tokens, usage.cost),
        guard=_guard(plan, finish),
        curves=_curves(finish),
        results=tuple(each for tries in finish.games for each in tries),
    )


def _measures(
    games: Sequence[Tries], first: Sequence[Tries], names: Sequence[str]
) -> dict[str, Measure]:
    found = {}
    for name in names:
        one, other = _ratio(games, name), _ratio(first, name)
        if one is not None:
            apart = Estimate() if other is None else difference(one, other)
            found[name] = Measure(interval(one), apart)
    return found


def _of_kind(games: Sequence[Tries], first: Sequence[Tries], places: Sequence[int]) -> KindResult:
    some, others = ([each[at] for at in places] for each in (games, first))
    return KindResult(len(places), _measures(some, others, _OF_KINDS))


def _ratio(games: Sequence[Tries], name: str) -> Ratio | None:
    """A measure over games; None if it is not known of one."""
    values = [_VALUES[name](each) for each in games]
    return None if None in values else Ratio.mean([each or 0.0 for each in values])


def _solved_by(games: Sequence[Tries], tries: int) -> tuple[float, ...]:
    solved = [next((each.attempt for each in some if each.success), tries + 1) for some in games]
    return tuple(sum(each <= at for each in solved) / len(solved) for at in range(1, tries + 1))


def _guard(plan: EvaluationPlan, finish: Finish) -> GuardReport:
    seen = {each.name for each in plan.games} & {*finish.opening.seen}
    others = [
        tries for info, tries in zip(plan.games, finish.games, strict=True) if info.name not in seen
    ]
    ratio = _ratio(others, "score") if seen and others else None
    hidden = plan.leave_one_out and bool(seen)
    score = None if ratio is None else interval(ratio)
    return GuardReport(len(seen), hidden, finish.opening.unknown, score)


def _curves(finish: Finish) -> EvaluationCurves:
    count = len(finish.games)
    places = np.unique(np.linspace(1, count, min(count, POINTS)).astype(int)).tolist()
    ratios = {name: _ratio(finish.games, name) for name in _CURVES}
    return EvaluationCurves(
        tuple(places),
        tuple(finish.games[place - 1][-1].nodes for place in places),
        {
            name: tuple(float(ratio.so_far()[place - 1]) for place in places)
            for name, ratio in ratios.items()
            if ratio is not None
        },
    )
