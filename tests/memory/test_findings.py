"""What any episode shows: what did not help, what worked instead, why it failed, where it was."""

from __future__ import annotations

from msgspec.structs import replace

from deltamem_tui.memory.findings import (
    Attempt,
    Recovery,
    blanked,
    failure_of,
    fruitless,
    recoveries,
)
from deltamem_tui.trajectory.model import Step, Trajectory
from tests.memory.writers.rules.episodes import CODING, HAIR, HEAT, HEAT_LOST

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


def test_any_agent_s_failure_is_of_planning_or_operation() -> None:
    tried = replace(CODING, steps=(CODING.steps[0], CODING.steps[2]))
    assert failure_of(tried).kind == "planning"
    refused = failure_of(replace(CODING, steps=CODING.steps[1:2]))
    assert (refused.kind, refused.action) == ("operation", "bash: pytst")
    assert failure_of(Trajectory("t")).kind == "planning"


def test_addresses_and_numbers_are_blanks() -> None:
    assert blanked(Trajectory("t"), ["open https://a.b/c 12 times"]) == ("open {url} N times",)
