"""Why an episode failed: planning, search or operation."""

from __future__ import annotations

from collections import Counter

import pytest
from msgspec.structs import replace

from deltamem_tui.memory.findings import failure_of
from deltamem_tui.trajectory.model import Step, Trajectory
from tests.memory.writers.rules.episodes import CODING, HAIR, HEAT, HEAT_LOST, SPOILT, melting
from tests.memory.writers.rules.test_generated import episodes
from tests.places import GENERATED


def of(episode: Trajectory, *kept: int) -> tuple[str, str, str]:
    """Kind, action and missing step of the failure that some of an episode's steps are."""
    found = failure_of(replace(episode, steps=tuple(episode.steps[at] for at in kept)))
    return found.kind, found.action, found.missing


def test_in_a_house_the_first_step_that_was_never_reached_decides() -> None:
    assert of(HEAT, 0) == ("search", "", "take [object]")
    assert of(HEAT, 0, 1, 2) == ("planning", "", "heat [object] with the microwave")
    assert of(HEAT, 1, 2, 3, 4) == ("planning", "", "put [object] in/on [receptacle]")
    refused = ("operation", "heat [object] with stoveburner", "heat [object] with the microwave")
    assert of(HEAT_LOST, *range(5)) == refused
    two = replace(HEAT, task="put two mug in cabinet.")
    assert of(two, 1, 2, 6, 7) == ("search", "", "take a second [object]")
    look = replace(HEAT, task="look at mug under the desklamp.")
    assert of(look, 1, 2)[0] == "planning"


def test_a_search_says_where_it_looked_and_where_not() -> None:
    found = failure_of(replace(HEAT, steps=HEAT.steps[:1]))
    assert "sinkbasin" in found.reflection
    assert "microwave" in found.plan
    assert "sinkbasin" not in found.plan
    seen = failure_of(replace(HEAT, steps=HEAT.steps[:2]))
    assert "countertop" in seen.plan
    one = replace(HEAT, environment="You see a cabinet 1, and a cabinet 19.")
    looked = failure_of(replace(one, steps=(Step("go to cabinet 1", "The cabinet 1 is closed."),)))
    assert "cabinet" in looked.plan
    assert "19" not in looked.plan


def test_scienceworld_is_judged_by_points_refusals_and_rooms() -> None:
    assert failure_of(SPOILT).kind == "planning"
    assert failure_of(SPOILT).action == "focus on stove"
    gibberish = [Step(f"eat {thing}", "No known action matches that input.") for thing in "abcdefg"]
    stuck = replace(melting("ice"), steps=(*melting("ice").steps[:2], *gibberish))
    assert failure_of(stuck).kind == "operation"
    elsewhere = "Your task is to find a(n) plant. Then, move it to the red box in the kitchen."
    assert of(replace(melting("ice"), task=elsewhere), 0)[::2] == ("search", "go to kitchen")
    assert of(melting("ice"), 0, 1, 2)[::2] == ("planning", "focus on what the task names")


def test_a_shop_is_judged_by_how_far_the_purchase_went() -> None:
    assert of(HAIR, 0) == ("search", "", "click[{item}]")
    assert of(HAIR, 0, 2, 4) == ("planning", "", "click[Buy Now]")
    assert of(HAIR, 0, 2, 5)[2].startswith("click a color")


def test_any_other_agent_is_planning_or_operation() -> None:
    assert of(CODING, 0, 2)[0] == "planning"
    assert of(CODING, 1) == ("operation", "bash: pytst", "")
    assert failure_of(Trajectory("t")).kind == "planning"


@pytest.mark.skipif(not GENERATED.is_dir(), reason="the generated episodes are not here")
def test_the_sample_failures_are_of_all_kinds() -> None:
    kinds = {
        domain: Counter(failure_of(one).kind for one in episodes(domain) if not one.outcome.success)
        for domain in ("alfworld", "scienceworld")
    }
    assert kinds["alfworld"].total() == 71
    assert kinds["alfworld"]["operation"] == 0  # none of these logs has a refusal
    assert kinds["scienceworld"].keys() == {"planning", "search", "operation"}
