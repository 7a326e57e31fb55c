"""What an agent is given: old episodes as they were, or what a bank makes of them."""

from __future__ import annotations

from benchmarks.yardstick import contexts
from deltamem_tui.evaluation.environment import Start
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory


def episode(task: str, action: str, *, success: bool = True) -> Trajectory:
    steps = (Step(action, "You did it."),)
    return Trajectory(task, "a room", steps, Outcome(success=success))


EPISODES = [
    episode("put a mug in cabinet.", "move mug 1 to cabinet 1"),
    episode("put a plate in shelf.", "move plate 1 to shelf 1"),
    episode("cool some mug and put it in cabinet.", "cool mug 1 with fridge 1"),
    episode("put a hot egg in fridge.", "heat egg 1 with microwave 1"),
    episode("heat some mug and put it in cabinet.", "look", success=False),
]
HEAT = Start("heat some mug and put it in cabinet.", "a room")


def test_a_raw_episode_is_the_nearest_success_with_all_its_steps() -> None:
    embedder = contexts.embedder_named("hashing")
    text = contexts.raw(EPISODES, embedder)(Start("put a plate in shelf.", ""))
    assert text.splitlines() == [
        "Task: put a plate in shelf.",
        "> move plate 1 to shelf 1",
        "You did it.",
    ]
    assert "look" not in contexts.raw(EPISODES, embedder)(HEAT)


def test_the_kind_decides_before_the_names_do() -> None:
    embedder = contexts.embedder_named("hashing")
    assert "cool mug" in contexts.weighted(EPISODES)(HEAT)
    assert "cool mug" in contexts.raw(EPISODES, embedder)(HEAT)
    assert "heat egg" in contexts.kind(EPISODES, "alfworld", embedder)(HEAT)
    new = Start("examine the mug with the desklamp.", "")
    nearest = contexts.raw(EPISODES, embedder)(new)
    assert contexts.kind(EPISODES, "alfworld", embedder)(new) == nearest


def test_words_that_many_tasks_share_weigh_more() -> None:
    many = [episode("put a mug in cabinet.", f"take mug {at} from shelf 1") for at in range(5)]
    rare = episode("zzz a plate.", "look")
    assert "mug" in contexts.weighted([rare, *many])(Start("zzz put a plate in cabinet.", ""))


def test_a_bank_answers_by_kind_and_by_the_papers_rule() -> None:
    embedder = contexts.embedder_named("hashing")
    bank = contexts.learnt(EPISODES, "alfworld", embedder)
    assert "heat mug" in contexts.of_bank(bank, embedder)(HEAT)
    assert contexts.nothing(HEAT) == ""
    far = Start("heat some candle and put it in bathtub.", "")
    assert "heat candle" in contexts.of_bank(bank, embedder)(far)
    assert "heat candle" not in contexts.by_the_paper(bank, embedder)(far)
