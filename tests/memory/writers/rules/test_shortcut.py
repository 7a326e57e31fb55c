"""The shortcut: what is left leads to the goal, and no action or pair of actions can go."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from itertools import combinations
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from deltamem_tui.lab.games.alfworld_goals import house_goal
from deltamem_tui.lab.games.replay import shrunk
from deltamem_tui.memory.awm.induction import occurs
from deltamem_tui.memory.domain import Shortcut
from deltamem_tui.memory.findings import shortcut
from deltamem_tui.trajectory.model import Step, Trajectory
from tests.memory.writers.rules.episodes import CODING, HAIR, HEAT, HEAT_LOST, melting
from tests.memory.writers.rules.house import PLACES, RealHouse
from tests.memory.writers.rules.test_generated import episodes
from tests.places import GENERATED


@given(st.integers(), st.integers(30, 80), st.data())
def test_in_a_real_house_the_shortcut_works_and_nothing_can_go(
    seed: int, length: int, data: st.DataObject
) -> None:
    random = Random(seed)
    first = RealHouse(random)
    house = deepcopy(first)
    refused = "heat mug 1 with shelf 1"
    # Whatever is not shown cannot be replayed: each place is looked into first.
    looks = [step for place in PLACES for step in (f"go to {place}", f"open {place}")]
    steps = [house.do(look) for look in looks]
    steps += [house.do(random.choice([*house.possible(), refused])) for _ in range(length)]
    solved = sorted(house.goals() - first.goals())
    assume(solved)
    task = data.draw(st.sampled_from(solved))
    way = shortcut(Trajectory(task, steps=tuple(steps), domain="alfworld"))
    assert way.verified
    actions = list(way.actions)
    assert first.solves(actions, task)
    for drop in [1, 2]:
        for gone in combinations(range(len(actions)), drop):
            rest = [action for at, action in enumerate(actions) if at not in gone]
            assert not first.solves(rest, task)


@given(st.sets(st.frozensets(st.integers(0, 5))))
def test_what_shrinks_holds_and_neither_one_nor_two_can_go(holding: set[frozenset[int]]) -> None:
    holding.add(frozenset(range(6)))
    kept = shrunk(range(6), lambda part: frozenset(part) in holding)
    assert frozenset(kept) in holding
    assert kept == sorted(kept)
    for count in (1, 2):
        for gone in combinations(kept, count):
            assert frozenset(kept) - set(gone) not in holding


def test_a_hot_mug() -> None:
    assert shortcut(HEAT) == Shortcut(
        actions=tuple(step.action for step in HEAT.steps[1:]),
        plan=(
            "go to [place]",
            "take [object] from [place]",
            "go to microwave",
            "heat [object] with microwave",
            "go to [receptacle]",
            "open [receptacle]",
            "put [object] in/on [receptacle]",
        ),
        verified=True,
    )


def test_where_the_object_lay_is_not_where_it_goes() -> None:
    """Both are cabinets: only the second one is the task's."""
    first, other = "countertop 1", "cabinet 2"
    moved = tuple(
        Step(step.action.replace(first, other), step.observation.replace(first, other))
        for step in HEAT.steps
    )
    assert shortcut(replace(HEAT, steps=moved)).plan == shortcut(HEAT).plan


def test_where_the_replay_misses_the_goal_the_effective_actions_remain() -> None:
    kept = (0, 1, 4)
    assert shortcut(HEAT_LOST).actions == tuple(HEAT_LOST.steps[at].action for at in kept)
    assert not shortcut(HEAT_LOST).verified


def test_scienceworld_goes_back_from_the_points() -> None:
    way = shortcut(melting("ice", Step("pick up orange", "You move the orange.")))
    assert not way.verified
    assert occurs(["go to kitchen", "focus on ice", "activate stove"], way.actions)
    assert occurs(["focus on [substance]", "move [substance] to stove"], way.plan)
    assert "pick up orange" not in way.actions


def test_the_shop_has_the_way_from_the_last_search_to_the_purchase() -> None:
    assert shortcut(HAIR) == Shortcut(
        actions=(
            "search[clip-in hair extension]",
            "click[B08H5DCD65]",
            "click[natural black]",
            "click[Buy Now]",
        ),
        plan=("search[{query}]", "click[{item}]", "click[{option}]", "click[Buy Now]"),
    )


def test_a_shop_where_nothing_was_bought_keeps_what_had_an_effect() -> None:
    browsing = replace(HAIR, steps=HAIR.steps[:4])
    assert shortcut(browsing).actions == ("search[clip-in hair extension]", "click[B08H5DCD65]")


def test_anything_else_keeps_what_had_an_effect() -> None:
    assert shortcut(CODING).actions == (
        "bash: grep -n strptime src/dates.py",
        "edit src/dates.py",
        "bash: pytest -q",
    )


@pytest.mark.skipif(not GENERATED.is_dir(), reason="the generated episodes are not here")
def test_the_sample_episodes_replay_as_the_simulator_judged_them() -> None:
    """One success ends without the placing that its goal asks for."""
    verified: Counter[bool] = Counter()
    lengths: dict[int, set[int]] = {1: set(), 2: set()}
    for episode in episodes("alfworld"):
        way = shortcut(episode)
        verified[episode.outcome.success is True] += way.verified
        goal = house_goal(episode.task)
        if way.verified and goal:
            lengths[goal.count].add(len(way.actions))
    assert verified == {True: 67, False: 0}
    assert lengths == {1: {3, 4, 5, 6, 7, 8}, 2: {8}}
