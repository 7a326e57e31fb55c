"""What is known of places, written, read and weighed."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.memory.places import (
    are_counted,
    chances,
    place_fact,
    read,
    summed,
    thing_fact,
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


@given(st.dictionaries(KINDS, st.tuples(st.integers(0, 9), st.integers(9, 99)), min_size=1))
def test_what_is_written_of_a_search_is_read(counts: dict[str, tuple[int, int]]) -> None:
    found = {place: found for place, (found, _) in counts.items()}
    looked = {place: looked for place, (_, looked) in counts.items()}
    facts = read([thing_fact("cd", found, looked).line])
    assert {each.place: (each.things["cd"], each.looked) for each in facts} == counts
    assert {each.sought for each in facts} == {"cd"}


def test_what_is_not_of_places_is_not_read() -> None:
    assert not read(["works in kitchen: pour cup", "fridge: cool works", "it is cold"])


def test_places_are_in_order_of_the_chance_at_each_look() -> None:
    lines = ["drawer (20 looked at): cd (in 3)", "desk (2 looked at): cd", "bed (9 looked at): pen"]
    assert order(lines, "cd") == ["desk", "drawer"]
    assert order(lines, "cd", "bed", "drawer") == ["drawer", "bed"]
    assert order(lines, "mug", "drawer", "desk") == ["desk", "drawer"]


def test_a_door_takes_an_action() -> None:
    lines = ["safe (2 looked at): opens and closes; cd", "desk (3 looked at): cd"]
    assert order(lines, "cd") == ["desk", "safe"]


def test_a_search_for_one_thing_says_nothing_of_another() -> None:
    lines = ["desk (9 looked at): pen (in 2)", "bed (9 looked at): pen", "cd: bed (1 of 9)"]
    assert order(lines, "pen") == ["desk", "bed"]
    assert order(lines, "cd") == ["bed"]


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


def test_searches_of_several_episodes_add_up() -> None:
    items = ["desk (1 of 2)", "often empty", "desk (0 of 3)", "bed (1 of 1)"]
    assert summed(items) == ["often empty", "desk (1 of 5)", "bed (1 of 1)"]


def test_a_search_is_known_where_the_same_look_is() -> None:
    search = thing_fact("cd", Counter(desk=1), Counter(desk=2, bed=1))
    look = ["desk (2 looked at): pen; cd", "bed (1 looked at): empty"]
    assert are_counted(search, look)
    assert not are_counted(search, look[:1])
    assert not are_counted(search, ["desk (3 looked at): pen; cd", look[1]])
    assert not are_counted(search, [search.line])
