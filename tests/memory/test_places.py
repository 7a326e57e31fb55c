"""What is known of places, written, read and weighed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.memory.places import (
    chances,
    place_fact,
    read,
)

KINDS = st.sampled_from(["desk", "shelf", "drawer", "side table"])
THINGS = st.dictionaries(st.sampled_from(["cd", "pen", "alarm clock"]), st.integers(1, 9))


def order(lines: list[str], thing: str, *among: str) -> list[str]:
    return [each.place for each in chances(read(lines), thing, among)]


@given(KINDS, st.integers(9, 99), THINGS, st.booleans())
def test_what_is_written_of_a_place_is_read(
    kind: str, looked: int, things: dict[str, int], closes: bool
) -> None:
    (fact,) = read([f"- {place_fact(kind, looked, things, closes=closes).line}"])
    assert (fact.place, fact.looked, fact.things, fact.closes) == (kind, looked, things, closes)


def test_what_is_not_of_places_is_not_read() -> None:
    assert not read(["works in kitchen: pour cup", "fridge: cool works", "it is cold"])


def test_places_are_in_order_of_the_chance_at_each_look() -> None:
    lines = ["drawer (20 looked at): cd (in 3)", "desk (2 looked at): cd", "bed (9 looked at): pen"]
    assert order(lines, "cd") == ["desk", "drawer"]
    assert order(lines, "cd", "bed", "drawer") == ["drawer", "bed"]


def test_a_door_takes_an_action() -> None:
    lines = ["safe (2 looked at): opens and closes; cd", "desk (3 looked at): cd"]
    assert order(lines, "cd") == ["desk", "safe"]


def test_without_numbers_of_looks_the_most_frequent_place_is_first() -> None:
    lines = [
        "kitchen: metal pot [water]; sink",
        "hall: metal pot",
        "hall: metal pot",
        "shop: metal pots",
    ]
    assert [(each.place, each.found) for each in chances(read(lines), "metal pot")] == [
        ("hall", 2),
        ("kitchen", 1),
    ]
