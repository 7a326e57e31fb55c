"""What raw memories hand over: old episodes as they were."""

from __future__ import annotations

from deltamem_tui.embedding.load import load
from deltamem_tui.lab.contestants.baselines import BASELINES, baseline
from deltamem_tui.lab.environment import Start
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


def told(name: str, task: str, hidden: str = "") -> str:
    """What a baseline hands over; `hidden` is the task whose episode is of the game played."""
    made = baseline(name, "alfworld", EMBEDDER, EPISODES, lambda each: each.task, hides=True)
    return made.recall(Start(task, ""), hidden).text


def test_a_raw_episode_is_the_nearest_success_with_all_its_steps() -> None:
    task = "put a plate in shelf."
    assert told("raw", task).splitlines() == [
        f"Task: {task}",
        "> move plate 1 to shelf 1",
        "You did it.",
    ]
    assert "plate" not in told("raw", task, hidden=task)
    assert {name: bool(told(name, task)) for name in BASELINES} == {
        name: name != "nothing" for name in BASELINES
    }


def test_the_kind_decides_before_the_names_do() -> None:
    heat = "heat some mug and put it in cabinet."
    assert "cool mug" in told("weighted", heat)
    assert "cool mug" in told("raw", heat)
    assert "heat egg" in told("kind", heat)
    new = "examine the mug with the desklamp."
    assert told("kind", new) == told("raw", new)


def test_words_that_many_tasks_share_weigh_more() -> None:
    many = [episode("put a mug in cabinet.", f"take mug {at} from shelf 1") for at in range(5)]
    made = baseline("weighted", "alfworld", EMBEDDER, [episode("zzz a plate.", "look"), *many])
    assert "mug" in made.recall(Start("zzz put a plate in cabinet.", ""), "").text
