"""Raw memories, contestants by name, and what each may learn."""

from __future__ import annotations

import pytest

from deltamem_tui.embedding.load import load
from deltamem_tui.errors import ConfigurationError, UsageError
from deltamem_tui.lab.contestants import BASELINES, baseline, contestants, judged_by_chance
from deltamem_tui.lab.environment import GameInfo
from deltamem_tui.lab.plan import drawn
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory

EMBEDDER = load("hashing")


def episode(task: str, action: str, *, success: bool = True) -> Trajectory:
    return Trajectory(task, "a room", (Step(action, "You did it."),), Outcome(success=success))


EPISODES = [
    episode("put a mug in cabinet.", "move mug 1 to cabinet 1"),
    episode("put a plate in shelf.", "move plate 1 to shelf 1"),
    episode("cool some mug and put it in cabinet.", "cool mug 1 with fridge 1"),
    episode("put a hot egg in fridge.", "heat egg 1 with microwave 1"),
    episode("heat some mug and put it in cabinet.", "look", success=False),
]


def told(name: str, task: str) -> str:
    return baseline(name, "alfworld", EMBEDDER, EPISODES).recall(task, "").text


def test_a_raw_episode_is_the_nearest_success_with_all_its_steps() -> None:
    task = "put a plate in shelf."
    assert told("raw", task) == f"Task: {task}\n> move plate 1 to shelf 1\nYou did it."
    assert [bool(told(name, task)) for name in BASELINES] == [False, True, True]


def test_the_kind_decides_before_the_names_do() -> None:
    heat = "heat some mug and put it in cabinet."
    assert "cool mug" in told("raw", heat)
    assert "heat egg" in told("kind", heat)


def test_contestants_are_named_with_their_parameters() -> None:
    found = contestants(
        ["raw", "synapse:forgetting=history,admission=unjudged", "synapse", "raw"], {}
    )
    assert [each.name for each in found] == [
        "raw",
        "synapse forgetting=history admission=unjudged",
        "synapse",
    ]
    _, some, plain = found
    settings = some.settings("generic")
    assert (settings.forgetting, settings.forget_every) == ("history", 1)
    failed = Trajectory("a task", steps=(Step("x"),), outcome=Outcome(False, source="stated"))
    learnt = some.admitted(failed)
    assert learnt is not None
    assert (learnt.outcome.success, learnt.outcome.source) == (True, "judge")
    assert plain.admitted(failed) == failed


@pytest.mark.parametrize("spec", ["nonsense", "raw:forget_every=3", ""])
def test_an_unknown_contestant_is_refused(spec: str) -> None:
    with pytest.raises(UsageError):
        contestants([spec] if spec else [], {})
    with pytest.raises(ConfigurationError, match="forgot"):
        contestants(["synapse:forgot=3"], {})


def test_a_simulated_judge_errs_as_often_as_is_said_and_the_same_each_time() -> None:
    some = [
        Trajectory(f"task {at}", steps=(Step("x"),), outcome=Outcome(True, source="stated"))
        for at in range(400)
    ]
    judged = [judged_by_chance(each, 0.25, 7) for each in some]
    assert judged == [judged_by_chance(each, 0.25, 7) for each in judged]
    wrong = sum(not each.verdicts[0].success for each in judged)
    assert 70 < wrong < 130
    assert all(each.outcome.success for each in judged)


def test_games_are_drawn_evenly() -> None:
    games = [
        GameInfo(f"{kind}{at}", "test", kind)
        for kind, n in (("a", 10), ("b", 5))
        for at in range(n)
    ]
    some = drawn(games, 6, 1)
    assert [each.kind for each in some] == ["a"] * 3 + ["b"] * 3
    assert some == [each for each in games if each in some] == drawn(games, 6, 1)
