"""Which games are played: drawn evenly, in any order, always the same ones."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.lab.environment import GameInfo
from deltamem_tui.lab.runs.games import drawn, in_game_order

GAMES = st.lists(st.sampled_from("abc"), min_size=1, max_size=12).map(
    lambda kinds: [GameInfo(str(at), "test", kind) for at, kind in enumerate(kinds)]
)
SEEDS = st.integers(0, 5)


@given(GAMES, st.integers(1, 14), SEEDS)
def test_so_many_games_are_drawn_evenly_in_their_own_order(
    games: list[GameInfo], count: int, seed: int
) -> None:
    chosen = drawn(games, count, seed)
    assert len(chosen) == min(count, len(games))
    assert chosen == [each for each in games if each in chosen]
    assert chosen == drawn(games, count, seed)
    there, taken = (Counter(each.kind for each in some) for some in (games, chosen))
    most = max(taken.values())
    assert all(taken[kind] >= min(there[kind], most - 1) for kind in there)


@given(GAMES, SEEDS)
def test_an_order_has_every_game_once(games: list[GameInfo], seed: int) -> None:
    assert in_game_order(games, "environment", seed) == games
    assert Counter(in_game_order(games, "shuffled", seed)) == Counter(games)
    blocks = in_game_order(games, "kinds", seed)
    kinds = list(dict.fromkeys(each.kind for each in games))
    assert blocks == [each for kind in kinds for each in games if each.kind == kind]
