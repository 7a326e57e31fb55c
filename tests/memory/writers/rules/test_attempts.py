"""What did not help, what worked instead, and where things were found."""

from __future__ import annotations

from deltamem_tui.memory.findings import (
    Attempt,
    Recovery,
    found_at,
    fruitless,
    recoveries,
)
from deltamem_tui.trajectory.model import Step, Trajectory
from tests.memory.writers.rules.episodes import CODING, HAIR, HEAT, HEAT_LOST, melting

IN_THE_HOUSE = Trajectory(
    "put a hot mug in cabinet.",
    domain="alfworld",
    steps=(
        Step("take mug 1 from fridge 1", "Nothing happens."),
        Step("open fridge 1", "You open the fridge 1. In it, you see a mug 1."),
        Step("take mug 1 from fridge 1", "You pick up the mug 1 from the fridge 1."),
        Step("heat mug 1 with stoveburner 1", "Nothing happens."),
        Step("go to microwave 1", "You arrive at loc 3. The microwave 1 is closed."),
        Step("heat mug 1 with microwave 1", "You heat the mug 1 using the microwave 1."),
        *[Step("go to shelf 1", "You arrive at loc 4. On the shelf 1, you see nothing.")] * 4,
    ),
)


def test_a_refusal_is_told_with_what_worked_instead() -> None:
    assert recoveries(IN_THE_HOUSE) == [
        Recovery(
            "take [object] from fridge",
            "Nothing happens.",
            ("open fridge", "take [object] from fridge"),
        ),
        Recovery(
            "heat [object] with stoveburner", "Nothing happens.", ("heat [object] with microwave",)
        ),
    ]
    assert recoveries(HEAT) == recoveries(HEAT_LOST) == []


def test_the_fruitless_are_refused_or_repeated() -> None:
    assert fruitless(HEAT_LOST) == [
        Attempt("heat [object] with stoveburner", "Nothing happens.", 2, refused=True)
    ]
    assert fruitless(IN_THE_HOUSE)[-1] == Attempt(
        "go to shelf", "On the shelf, you see nothing.", 4, refused=False
    )
    assert [attempt.action for attempt in fruitless(CODING)] == ["bash: pytst"]
    assert [attempt.action for attempt in fruitless(HAIR)] == ["click[blue]"]


def test_the_goals_things_are_found_where_they_were_first() -> None:
    assert found_at(HEAT) == {"mug": "countertop"}
    assert found_at(melting("sodium chloride")) == {"sodium chloride": "glass jar in kitchen"}
    assert found_at(HAIR) == found_at(CODING) == {}
