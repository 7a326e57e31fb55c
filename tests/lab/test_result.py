"""What results are made of, against a slow reference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.lab.contestants.entrant import entrants
from deltamem_tui.lab.contestants.memory import MemorySize
from deltamem_tui.lab.environment import GameInfo
from deltamem_tui.lab.runs.game_result import GameResult
from deltamem_tui.lab.runs.opening import StartingPoint
from deltamem_tui.lab.runs.result import Finish, evaluation_result
from deltamem_tui.llm.cost import Usage
from tests.lab.arcade import LIMIT, plan

TRIES = 3
SCORES = st.lists(
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=TRIES).map(
        lambda some: some[: some.index(1.0) + 1] if 1.0 in some else some
    ),
    min_size=1,
    max_size=6,
)


def finish(scores: list[list[float]], seen: tuple[str, ...] = ()) -> Finish:
    games = [
        [
            GameResult(f"g{at}", "ab"[at % 2], number, score, score == 1, LIMIT, 10, 2, 20, 0.1)
            for number, score in enumerate(tries, 1)
        ]
        for at, tries in enumerate(scores)
    ]
    who = entrants(["raw"])[0]
    return Finish(who, StartingPoint(seen), games, MemorySize(4, 100), Usage())


@given(SCORES)
def test_measures_are_over_games_whatever_their_tries(scores: list[list[float]]) -> None:
    games = tuple(GameInfo(f"g{at}", "test", "ab"[at % 2]) for at in range(len(scores)))
    wanted = plan("online", games=games, tries=TRIES)
    found = evaluation_result(wanted, [finish(scores), finish(scores, ("g0", "left out"))])
    first, second = found.contestants
    best = [max(each) for each in scores]
    count = len(scores)
    assert first.measures["score"].estimate.value == pytest.approx(sum(best) / count)
    assert first.measures["success"].estimate.value == pytest.approx(best.count(1.0) / count)
    assert first.measures["steps"].estimate.value == pytest.approx(
        LIMIT * sum(map(len, scores)) / count
    )
    for at in range(1, TRIES + 1):
        solved = sum(1.0 in each[:at] for each in scores)
        assert first.solved_by[at - 1] == pytest.approx(solved / count)
    kinds = {kind: [b for at, b in enumerate(best) if "ab"[at % 2] == kind] for kind in "ab"}
    assert {
        kind: each.measures["score"].estimate.value for kind, each in first.by_kind.items()
    } == {kind: pytest.approx(sum(some) / len(some)) for kind, some in kinds.items() if some}
    assert first.tokens_per_node == 25
    assert second.measures["score"].difference.value == 0
    assert second.guard.seen == 1
    rest = second.guard.unseen_score
    assert (rest is None) == (count == 1)
    assert rest is None or rest.value == pytest.approx(sum(best[1:]) / (count - 1))
