"""A procedure led to the places at hand."""

from __future__ import annotations

import pytest

from deltamem_tui.lab.games.alfworld_way import located, only_moves
from deltamem_tui.memory.chances import Chance
from deltamem_tui.memory.procedure import Procedure

MUG = {"object": "mug", "receptacle": "desk"}
PUT = ("go to [receptacle]", "put [object] in/on [receptacle]")
FETCHED = Procedure(("go to shelf", "take [object] from shelf", *PUT), {"receptacle": "bed"})
LIT = Procedure(("go to bed", "take [object] from bed", "use [tool]"))


def place(kind: str) -> list[Chance]:
    return [Chance(kind, 1, 0.5), Chance("floor", 1, 0.1)]


@pytest.mark.parametrize(
    ("known", "places", "doors", "steps"),
    [
        (FETCHED, {}, (), FETCHED.steps),
        (FETCHED, {"object": place("bed")}, (), ("go to bed", "take [object] from bed", *PUT)),
        (
            FETCHED,
            {"object": place("fridge")},
            ("fridge", "desk"),
            (
                "go to fridge", "open fridge", "take [object] from fridge",
                "go to [receptacle]", "open [receptacle]", "put [object] in/on [receptacle]",
            ),
        ),
        (
            LIT, {"object": place("bed"), "tool": place("desk")}, (),
            ("go to bed", "take [object] from bed", "go to desk", "use [tool]"),
        ),
        (
            Procedure((*FETCHED.steps[:2], "go to desk", "heat [object] with desk", *PUT)), {}, (),
            (*FETCHED.steps[:2], "go to desk", "heat [object] with desk", PUT[1]),
        ),
        (Procedure(("use [tool]",)), {"tool": place("desk")}, (), ("go to desk", "use [tool]")),
        (Procedure(("open door to hall", "go to hall")), {"object": place("desk")}, ("hall",),
         ("open door to hall", "go to hall")),
    ],
)  # fmt: skip
def test_things_are_taken_and_used_where_they_are_likeliest(
    known: Procedure, places: dict[str, list[Chance]], doors: tuple[str, ...], steps: tuple[str]
) -> None:
    names = {"object": "mug"} if "use [tool]" in known.steps else MUG
    found = located(known, places, names, dict.fromkeys(doors, True))
    assert found.steps == steps
    assert located(found, places, names, dict.fromkeys(doors, True)) == found


@pytest.mark.parametrize(("closes", "opened"), [({}, True), ({"desk": False}, False)])
def test_a_door_of_the_past_is_opened_unless_the_place_is_known_to_have_none(
    closes: dict[str, bool], opened: bool
) -> None:
    steps = ("take [object] from bed", PUT[0], "open [receptacle]", PUT[1])
    found = located(Procedure(steps, {"receptacle": "safe"}), {}, MUG, closes)
    assert ("open [receptacle]" in found.steps) is opened


def test_a_way_that_was_won_too_early_gets_the_last_act_of_the_goal() -> None:
    won = Procedure(("go to shelf", "take [object] from shelf", "cool [object] with fridge"))
    assert located(won, {}, MUG).steps == (*won.steps, *PUT)


def test_what_is_cooled_may_lie_where_it_is_to_be() -> None:
    assert only_moves(FETCHED)
    assert not only_moves(Procedure((*FETCHED.steps[:2], "cool [object] with fridge", *PUT)))
    assert not only_moves(Procedure(()))
