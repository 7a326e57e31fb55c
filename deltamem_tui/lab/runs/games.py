"""Which games are played, in what order: the same for all who compete."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal, get_args

from deltamem_tui.errors import UsageError
from deltamem_tui.lab.environment import GameInfo
from deltamem_tui.text import one_line

GameOrder = Literal["environment", "kinds", "shuffled"]
GAME_ORDERS: tuple[GameOrder, ...] = get_args(GameOrder)


def drawn(games: Sequence[GameInfo], count: int | None, seed: int) -> list[GameInfo]:
    """So many of some games, in their own order; all of them if None.

    As evenly from all kinds as there are games: kinds take turns, in the order in which they
    come first, and within a kind the seed decides.
    """
    if count is None or count >= len(games):
        return list(games)
    chance = random.Random(seed)  # noqa: S311 - a seed is wanted
    waiting: dict[str, list[int]] = {}
    for at, game in enumerate(games):
        waiting.setdefault(game.kind, []).append(at)
    for each in waiting.values():
        chance.shuffle(each)
    chosen: list[int] = []
    while len(chosen) < count:
        for each in waiting.values():
            chosen += each[:1]
            del each[:1]
    return [games[at] for at in sorted(chosen[:count])]


def in_game_order(games: Sequence[GameInfo], order: GameOrder, seed: int) -> list[GameInfo]:
    """Games as the environment has them, in blocks of one kind of task each, or shuffled."""
    found = list(games)
    if order == "kinds":
        kinds = list(dict.fromkeys(each.kind for each in games))
        found.sort(key=lambda each: kinds.index(each.kind))
    elif order == "shuffled":
        random.Random(seed).shuffle(found)  # noqa: S311 - a seed is wanted
    return found


def order_named(name: str) -> GameOrder:
    """An order by its name.

    Raises:
        UsageError: There is no such order.
    """
    for each in GAME_ORDERS:
        if each == name:
            return each
    raise UsageError(
        f"there is no order {one_line(name, 40)!r}", hint=f"one of {', '.join(GAME_ORDERS)}"
    )
