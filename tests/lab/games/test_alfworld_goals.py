"""ALFWorld's goals as people paste them."""

from __future__ import annotations

import pytest

from deltamem_tui.lab.games.alfworld_goals import HouseGoal, house_goal, treatments
from deltamem_tui.memory.domain import goal_of

PLAIN = "put a clean mug in coffeemachine."


@pytest.mark.parametrize(
    "task",
    [
        "put a clean mug in coffeemachine",
        "Put a clean mug in the coffeemachine.",
        "put  a clean\n mug in coffeemachine. ",
        f"Your task is to: {PLAIN}",
        f"You are in the middle of a room. You see a fridge 1.\nYour task is to: {PLAIN}\n",
    ],
)
def test_a_goal_is_understood_however_it_is_spaced_and_marked(task: str) -> None:
    assert house_goal(task) == house_goal(PLAIN) == HouseGoal("mug", "coffeemachine", "clean")
    assert goal_of("alfworld", task) == goal_of("alfworld", PLAIN)


@pytest.mark.parametrize("task", ["", "Your task is to:", "put a mug", "your task is to: rest"])
def test_other_words_are_no_goal(task: str) -> None:
    assert house_goal(task) is None


@pytest.mark.parametrize(
    ("task", "same"),
    [
        ("put two candles in dining table.", "put two candle in diningtable."),
        ("Find two butter knives and put them on the shelves", "find two butterknife in shelf"),
        ("put two tomatoes in fridge", "put two tomato in fridge"),
        ("heat some egg and put it on the side table", "heat some egg and put it in sidetable."),
        ("put a cleaned mug in coffeemachine", "put a clean mug in coffeemachine"),
        ("chill some mug and put it in shelf", "put a cold mug in shelf"),
        ("look at the boxes under the desk lamp", "look at box under the desklamp"),
    ],
)
def test_names_are_understood_as_people_write_them(task: str, same: str) -> None:
    assert house_goal(task) == house_goal(same) is not None


@pytest.mark.parametrize(
    ("text", "asked"),
    [("I need a warm cup", {"heat"}), ("rinse a mug", {"clean"}), ("a photo in hotels", set())],
)
def test_a_treatment_is_heard_in_any_clear_word(text: str, asked: set[str]) -> None:
    assert treatments(text) == asked
