"""Findings in any episode: what did not help, why it failed, where it was."""

from __future__ import annotations

from msgspec.structs import replace

from deltamem_tui.memory.findings import failure_of, moves_of, way_of
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.memory.writers.rules.episodes import CODING, HAIR, HEAT_LOST

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


def fruitless(episode: Trajectory) -> list[tuple[str, int, bool]]:
    domain, moves = moves_of(episode)
    return [(each.action, times, each.failed) for each, times in domain.fruitless(moves)]


def test_the_fruitless_are_refused_or_repeated() -> None:
    assert fruitless(HEAT_LOST) == [("heat [object] with stoveburner", 2, True)]
    assert fruitless(IN_THE_HOUSE)[-1] == ("go to shelf", 4, False)
    assert fruitless(CODING) == [("bash: pytst", 1, True)]
    assert fruitless(HAIR) == [("click[blue]", 1, True)]


def test_any_agent_s_failure_is_of_planning_or_operation() -> None:
    tried = replace(CODING, steps=(CODING.steps[0], CODING.steps[2]))
    assert failure_of(tried).kind == "planning"
    refused = failure_of(replace(CODING, steps=CODING.steps[1:2]))
    assert (refused.kind, refused.action) == ("operation", "bash: pytst")
    assert failure_of(Trajectory("t")).kind == "planning"


def test_a_way_has_blanks_for_addresses_and_numbers_and_no_thoughts() -> None:
    steps = (Step("think: what now"), Step("open https://a.b/c 12 times", "Done."))
    assert way_of(Trajectory("t", steps=steps)) == ["open {url} N times"]


def test_a_way_that_was_solved_before_its_last_act_has_it() -> None:
    steps = (
        Step("go to shelf 1", "You arrive at loc 4. On the shelf 1, you see a mug 1."),
        Step("take mug 1 from shelf 1", "You pick up the mug 1 from the shelf 1."),
        Step("cool mug 1 with fridge 1", "You cool the mug 1 using the fridge 1."),
    )
    won = Trajectory("cool some mug and put it in desk.", "", steps, Outcome(True, 1.0, "stated"))
    won = replace(won, domain="alfworld")
    put = ["go to [receptacle]", "put [object] in/on [receptacle]"]
    assert way_of(won)[-2:] == put
    assert way_of(replace(won, outcome=Outcome(False, 0.0, "stated")))[-2:] != put
