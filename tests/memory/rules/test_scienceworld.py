"""ScienceWorld: exact rooms and commands, substances left open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deltamem_tui.memory.rules import RulesExtractor
from deltamem_tui.trajectory.model import Step
from tests.memory.rules.episodes import SPOILT, learnt, melting

RULES = RulesExtractor()
MELT = (
    "melt a substance. First, focus on the substance. Then, take actions that will cause it to "
    "change its state of matter."
)
POT = (
    Step("open cupboard", "The cupboard is now open."),
    Step("pick up metal pot", "You move the metal pot to the inventory.", reward=1.0),
)


def test_a_success_keeps_what_leads_to_the_points() -> None:
    payload = learnt(melting("ice"))[0].payload
    assert payload.activation_condition == MELT
    assert payload.execution_procedure == (
        "1. go to kitchen (open the doors between)\n"
        "2. focus on {substance}\n"
        "3. move {substance} to stove\n"
        "4. activate stove\n"
        "5. examine {substance} (repeat, here 3 times, until: a substance called {substance})"
    )
    assert payload.termination_condition == (
        "`examine {substance}` is answered: a substance called {substance}"
    )


def test_a_residual_says_only_what_the_chain_lacks() -> None:
    extraction = RULES.extract("task", melting("lead", *POT), learnt(melting("ice")))
    assert extraction.reason == "differs from the chain in 1 places"
    payload = extraction.payload
    assert payload is not None
    assert payload.activation_condition == f"{MELT} (lead)"
    assert payload.execution_procedure == (
        "- After `focus on {substance}`: open cupboard; pick up metal pot"
    )


def test_a_failure_says_what_earned_its_part_of_the_reward() -> None:
    payload = learnt(SPOILT)[0].payload
    assert payload.execution_procedure == (
        "[FAILED] focus on stove (the last try) → You focus on the stove.\n"
        "[FAILED] go to kitchen → The door is not open.\n"
        "[PARTIAL] 4% of the reward, the last of it for: go to kitchen\n"
        "[UNEXPLORED] go to bedroom"
    )
    assert payload.termination_condition == ""


def test_a_known_trap_is_skipped_and_a_new_one_is_not() -> None:
    known = learnt(SPOILT)
    assert RULES.extract("task", SPOILT, known).payload is None
    other = replace(SPOILT, steps=(*SPOILT.steps[:3], Step("focus on agent", "You focus.")))
    payload = RULES.extract("task", other, known).payload
    assert payload is not None
    assert payload.execution_procedure.splitlines()[0] == (
        "[FAILED] focus on agent (the last try) → You focus."
    )
    assert "go to kitchen →" not in payload.execution_procedure


def test_the_first_way_that_works_is_told_in_full_and_found_by_the_kind_of_task() -> None:
    after_failure = RULES.extract("task", melting("lead"), learnt(SPOILT))
    assert after_failure.reason == "the first way that works"
    assert after_failure.payload == learnt(melting("ice"))[0].payload


def test_a_success_is_not_skipped_because_a_failure_tried_the_same() -> None:
    lost = melting("ice", outcome=SPOILT.outcome)
    assert RULES.extract("task", melting("ice"), learnt(lost)).payload is not None


def test_a_question_and_its_answer_are_one_action() -> None:
    asked = (
        Step("pick up seed", "Ambiguous request: Please enter the number for the action"),
        Step("0", "You move the seed to the inventory.", reward=1.0),
    )
    procedure = learnt(melting("ice", *asked))[0].payload.execution_procedure
    assert "pick up seed (asked which one, answer 0)" in procedure


def test_knowledge_is_exact() -> None:
    payload = learnt(melting("ice"), "env")[0].payload
    assert payload.activation_condition == (
        "This room is called the hallway. In it, you see: picture. "
        "A door to the bedroom, to the kitchen."
    )
    assert payload.execution_procedure == (
        "- hallway: door to bedroom; door to kitchen; picture\n"
        "- kitchen: door to hallway; cupboard; glass jar [sodium chloride]; stove; thermometer\n"
        "- commands that work: connect picture to agent; move {substance} to stove; activate stove"
    )


def test_an_env_residual_says_only_new_facts() -> None:
    extraction = RULES.extract("env", SPOILT, learnt(melting("ice"), "env"))
    assert extraction.reason == "new to the chain: refused"
    assert extraction.payload is not None
    assert extraction.payload.execution_procedure == (
        "- refused: go to kitchen → The door is not open."
    )


@pytest.mark.parametrize(
    ("task", "trigger"),
    [
        (
            "use chemistry to create the substance 'salt water'. When done, focus on salt water.",
            "use chemistry to create the substance. When done, focus on the substance.",
        ),
        (
            "grow a apple plant from seed. Seeds can be found in the kitchen.",
            "grow a plant from seed. Seeds can be found in the house.",
        ),
        (
            "determine if unknown substance B is electrically conductive.",
            "determine if an unknown substance is electrically conductive.",
        ),
        (
            "determine which of the two inclined planes (B, D) has the shallowest angle.",
            "determine which of the two inclined planes has the shallowest angle.",
        ),
        (
            "determine which of the two inclined planes (brass, iron) has the most friction.",
            "determine which of the two inclined planes (materials) has the most friction.",
        ),
        (
            "focus on the life stages of the apple plant, starting from earliest to latest.",
            "focus on the life stages of the plant, starting from earliest to latest.",
        ),
        (
            "focus on the 3 life stages of the beaver, starting from earliest to latest.",
            "focus on the life stages of the animal, starting from earliest to latest.",
        ),
        (
            "turn on the red light bulb by powering it using a renewable power source.",
            "turn on the light bulb by powering it using a renewable power source.",
        ),
        (
            "find a(n) plant. Then, focus on the thing and move it to the red box in the kitchen.",
            "find a(n) plant. Then, focus on the thing and move it to the box in the house.",
        ),
    ],
)
def test_a_task_keeps_its_words_of_skill(task: str, trigger: str) -> None:
    episode = replace(melting("ice"), task=f"Your task is to {task}")
    assert learnt(episode)[0].payload.activation_condition == trigger
