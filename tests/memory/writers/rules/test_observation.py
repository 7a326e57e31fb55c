"""What was seen before a step, cut to what it needed."""

from __future__ import annotations

from deltamem_tui.memory.synapse.write import observations
from deltamem_tui.text import count_tokens
from deltamem_tui.trajectory.model import Step, Trajectory
from tests.memory.writers.rules.episodes import HEAT, melting

CROWDED = Trajectory(
    "put a mug in cabinet.",
    "",
    domain="alfworld",
    steps=(
        Step(
            "go to desk 1",
            "On the desk 1, you see " + ", ".join(f"a pen {n}" for n in range(40)) + ", a mug 3.",
        ),
        Step("take mug 3 from desk 1", "You pick up the mug 3 from the desk 1."),
        Step("go to cabinet 1", "The cabinet 1 is closed."),
    ),
)


def test_short_answers_stay_whole() -> None:
    seen = observations(HEAT)
    assert seen[0] == HEAT.environment.replace(" and a", " a")
    assert seen[2] == HEAT.steps[1].observation


def test_of_a_long_answer_what_the_step_uses_stays() -> None:
    before = observations(CROWDED)
    assert before[0] == ""
    assert before[1].startswith("On the desk 1, you see a pen 0,")
    assert before[1].endswith("… a mug 3.")
    assert all(count_tokens(text) <= 60 for text in before)


def test_a_room_without_its_scenery() -> None:
    assert "the agent" not in observations(melting("ice"))[0]
    assert "picture" in observations(melting("ice"))[0]
