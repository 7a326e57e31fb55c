"""ScienceWorld: exact rooms and commands, substances left open."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from deltamem_tui.lab.games.scienceworld_house import from_here
from deltamem_tui.memory.procedure import filled
from deltamem_tui.memory.rules_extractor import RulesExtractor
from deltamem_tui.memory.wording import key
from deltamem_tui.trajectory.model import Step
from tests.memory.support import extract
from tests.memory.writers.rules.episodes import HALLWAY, SPOILT, learnt, melting

RULES = RulesExtractor()
MELT = (
    "melt …. First, focus on the substance. Then, take actions that will cause it to "
    "change its state of matter."
)
POT = (
    Step("open cupboard", "The cupboard is now open."),
    Step("pick up metal pot", "You move the metal pot to the inventory.", reward=1.0),
)


def test_a_success_keeps_what_leads_to_the_points() -> None:
    payload = learnt(melting("ice"))[0].payload
    assert payload["activation_condition"] == MELT
    assert payload["execution_procedure"] == (
        "1. go to kitchen\n"
        "2. focus on [substance]\n"
        "3. move [substance] to stove\n"
        "4. activate stove\n"
        "5. wait\n"
        "6. examine [substance]\n"
        "Worked with [substance] = ice."
    )
    assert payload["termination_condition"] == (
        "`examine [substance]` is answered: a substance called [substance]"
    )


def test_a_residual_says_only_what_the_chain_lacks() -> None:
    extraction = extract(RULES, "task", melting("lead", *POT), learnt(melting("ice")))
    assert extraction.reason == "differs from the chain in 1 place"
    payload = extraction.payload
    assert payload is not None
    assert payload["activation_condition"] == f"{MELT} (lead)"
    assert payload["execution_procedure"] == (
        "After step 2:\n+ open cupboard\n+ pick up metal pot\nWorked with [substance] = lead."
    )


def test_a_failure_says_what_earned_its_part_of_the_reward() -> None:
    payload = learnt(SPOILT)[0].payload
    assert payload["execution_procedure"] == (
        "[FAILED] focus on stove → You focus on the stove.\n"
        "[FAILED] go to kitchen → The door is not open.\n"
        "[PARTIAL] 4% of the reward, the last of it for: go to kitchen"
    )
    assert payload["termination_condition"] == ""


def test_a_known_trap_is_skipped_and_a_new_one_is_not() -> None:
    known = learnt(SPOILT)
    assert extract(RULES, "task", SPOILT, known).payload is None
    mistake = Step("focus on agent", "You focus.", reward=-100.0)
    other = replace(SPOILT, steps=(*SPOILT.steps[:3], mistake))
    payload = extract(RULES, "task", other, known).payload
    assert payload is not None
    assert payload["execution_procedure"].splitlines()[0] == (
        "[FAILED] focus on agent → You focus."
    )
    assert "go to kitchen →" not in payload["execution_procedure"]


def test_what_was_only_the_last_thing_done_is_not_called_failed() -> None:
    cut_short = replace(SPOILT, steps=SPOILT.steps[:3])
    lines = learnt(cut_short)[0].payload["execution_procedure"].splitlines()
    assert "[TRIED] go to kitchen (2 times, the last try) → You move to the kitchen." in lines
    assert "[FAILED] go to kitchen → The door is not open." in lines
    assert "[UNEXPLORED] focus on what the task names" in lines


def test_an_episode_that_only_ended_teaches_a_chain_that_knows_the_goal_nothing() -> None:
    gone_on = replace(melting("ice", outcome=SPOILT.outcome))
    extraction = extract(RULES, "task", gone_on, learnt(SPOILT))
    assert extraction.payload is None
    assert extraction.reason == "nothing failed here by itself, and the chain knows the goal"


@pytest.mark.parametrize(
    "silly",
    [
        "connect stove to substance",
        "connect agent to lead",
        "pour lead into hallway",
        "move lead to table",
        "disconnect lead",
        "move orange to stove",
    ],
)
def test_what_one_can_do_with_anything_is_no_step_towards_the_goal(silly: str) -> None:
    plain = learnt(melting("lead"))[0].payload
    assert learnt(melting("lead", Step(silly, "Done.")))[0].payload == plain
    chain = learnt(melting("lead"))
    assert extract(RULES, "task", melting("lead", Step(silly, "Done.")), chain).payload is None


@pytest.mark.parametrize(
    ("kind", "focused", "carried", "learnt_of"),
    [
        ("animal", "turtle egg", "egg turtle egg in inventory", "[thing] in inventory"),
        ("animal", "egg frog", "living thing in inventory", "living thing in inventory"),
        ("plant", "adult pea plant", "pot 3 containing pea plant", "pot 3 containing [thing]"),
    ],
)
def test_what_lives_is_left_open_where_it_is_named(
    kind: str, focused: str, carried: str, learnt_of: str
) -> None:
    episode = replace(
        melting("ice"),
        task=f"Your task is to find a(n) {kind}. First, focus on the thing. Then, move it to the "
        "red box in the kitchen.",
        steps=(
            Step(f"focus on {focused}", f"You focus on the {focused}.", reward=25.0),
            Step(f"move {carried} to red box", "You move it to the red box.", reward=5),
        ),
    )
    assert learnt(episode)[0].payload["execution_procedure"].splitlines()[1:3] == [
        "2. focus on [thing]",
        f"3. move {learnt_of} to [box]",
    ]


def test_a_thing_that_the_task_leaves_to_be_chosen_is_left_open() -> None:
    episode = replace(
        melting("ice"),
        task="Your task is to find the animal with the longest life span, then the shortest life "
        "span. First, focus on the animal with the longest life span.",
        steps=(
            Step("focus on egg parrot", "You focus on the parrot egg.", reward=25.0),
            Step("focus on baby baby mouse", "You focus on the baby mouse.", reward=25.0),
        ),
    )
    assert learnt(episode)[0].payload["execution_procedure"] == (
        "1. go to hallway\n2. focus on [animal]\n3. focus on [second animal]\n"
        "Worked with [animal] = parrot, [second animal] = mouse."
    )


def test_a_thing_is_named_without_the_pot_that_it_happened_to_stand_in() -> None:
    seen = Step("focus on ice in pot 4", "You focus on it.", reward=5.0)
    filled_pot = Step("pour ice into pot 4", "You pour it.", reward=5.0)
    assert (
        "focus on [substance]\n" in learnt(melting("ice", seen))[0].payload["execution_procedure"]
    )
    lines = learnt(melting("ice", filled_pot, seen))[0].payload["execution_procedure"]
    assert "focus on [substance] in pot 4" in lines


def test_a_way_goes_on_from_the_room_that_the_agent_is_in() -> None:
    facts = [("kitchen", "door to hallway; stove"), ("hallway", "door to kitchen; door to bedroom")]
    steps = ["go to kitchen", "activate stove", "open door to bedroom", "go to bedroom", "wait"]
    assert from_here(steps, "bedroom", facts) == [
        *("open door to hallway", "go to hallway", "open door to kitchen", "go to kitchen"),
        *("activate stove", "go to hallway", "go to bedroom", "wait"),
    ]
    assert from_here(steps, "kitchen", facts)[0] == "activate stove"
    for unknown in ("", "attic"):
        assert from_here(steps, unknown, facts)[0] == "go to kitchen"


CONDUCTIVE = (
    "Your task is to determine if {0} is electrically conductive. First, focus on the {0}. If it "
    "is electrically conductive, place it in the {1} box. If it is electrically nonconductive, "
    "place it in the {2} box."
)


def test_two_boxes_are_kept_apart_in_the_task_and_in_its_steps() -> None:
    def into(colour: str) -> str:
        episode = replace(
            melting("lead"),
            task=CONDUCTIVE.format("lead", "red", "green"),
            steps=(
                Step("focus on lead", "You focus on the lead.", reward=50.0),
                Step(f"move lead to {colour} box", f"You move it to the {colour} box.", reward=50),
            ),
        )
        payload = learnt(episode)[0].payload
        assert payload["activation_condition"] == (
            "determine if … is electrically conductive. First, focus on the …. If it is "
            "electrically conductive, place it in the box′. If it is electrically nonconductive, "
            "place it in the box″."
        )
        *_, move, names = payload["execution_procedure"].splitlines()
        assert names == (
            "Worked with [substance] = lead, [box] = red box, [second box] = green box."
        )
        return move

    assert into("red") == "3. move [substance] to [box]"
    assert into("green") == "3. move [substance] to [second box]"
    assert into("blue") == "3. move [substance] to blue box"


def test_another_box_is_another_step() -> None:
    """What is told apart must not be taken for known."""
    assert key("move [substance] to [box]") != key("move [substance] to [second box]")
    assert key("place it in the box′") != key("place it in the box″")


def test_what_is_in_the_hand_already_is_not_picked_up_again() -> None:
    again = Step("pick up metal pot", "You move the metal pot to the inventory.")
    fill = Step("move metal pot to sink", "You move the metal pot to the sink.", reward=1.0)
    lit = Step("activate lighter", "The lighter is now activated.", reward=1.0)
    plain = learnt(melting("lead", POT[1], lit, fill, again))[0].payload
    assert plain["execution_procedure"].count("pick up metal pot") == 2
    twice = learnt(melting("lead", POT[1], lit, again, fill, again))[0].payload
    assert twice == plain


def test_points_that_fall_on_a_silly_action_do_not_make_it_a_step() -> None:
    ripened = Step("connect stove to agent", "Done.", reward=5.0)
    assert learnt(melting("lead", ripened))[0].payload == learnt(melting("lead"))[0].payload


def test_wires_are_a_step_towards_the_goal() -> None:
    wire = Step("connect red wire terminal 1 to anode in lead", "Done.", reward=1.0)
    bulb = Step("connect red wire terminal 2 to cathode in lead", "Done.")
    procedure = learnt(melting("lead", bulb, wire))[0].payload["execution_procedure"]
    assert "connect red wire terminal 2 to cathode in [substance]\n" in procedure
    assert "connect red wire terminal 1 to anode in [substance]\n" in procedure


def test_rooms_that_the_task_does_not_speak_of_are_not_told_as_unexplored() -> None:
    anywhere = replace(SPOILT, task="Your task is to find ice, which is around the house.")
    assert "[UNEXPLORED] go to bedroom" in learnt(anywhere)[0].payload["execution_procedure"]
    named = replace(SPOILT, task="Your task is to find ice in the bedroom.")
    assert "[UNEXPLORED] go to bedroom" in learnt(named)[0].payload["execution_procedure"]
    assert "[UNEXPLORED]" not in learnt(SPOILT)[0].payload["execution_procedure"]


def test_a_thing_that_cost_the_score_is_not_the_thing_that_was_asked_for() -> None:
    wrong = replace(SPOILT, task="Your task is to find a plant. First, focus on the thing.")
    assert "[FAILED] focus on stove →" in learnt(wrong)[0].payload["execution_procedure"]


def test_the_first_way_that_works_is_told_in_full_and_found_by_the_kind_of_task() -> None:
    after_failure = extract(RULES, "task", melting("lead"), learnt(SPOILT))
    assert after_failure.reason == "the first way that works"
    assert after_failure.payload == learnt(melting("lead"))[0].payload


def test_a_success_is_not_skipped_because_a_failure_tried_the_same() -> None:
    lost = melting("ice", outcome=SPOILT.outcome)
    assert extract(RULES, "task", melting("ice"), learnt(lost)).payload is not None


def test_a_question_is_followed_by_its_answer() -> None:
    asked = (
        Step("pick up seed", "Ambiguous request: Please enter the number for the action"),
        Step("0", "You move the seed to the inventory.", reward=1.0),
    )
    lines = learnt(melting("ice", *asked))[0].payload["execution_procedure"].splitlines()
    assert lines[2:4] == ["3. pick up seed", "4. 0"]
    unanswered = melting("ice", asked[0], Step("look around", "A room."))
    assert learnt(unanswered)[0].payload == learnt(melting("ice"))[0].payload


def test_knowledge_is_exact() -> None:
    payload = learnt(melting("ice"), "env")[0].payload
    assert payload["activation_condition"] == (
        "This room is called the hallway. In it, you see: picture. "
        "A door to the bedroom, to the kitchen."
    )
    assert payload["execution_procedure"] == (
        "- hallway: door to bedroom; door to kitchen; picture\n"
        "- kitchen: door to hallway; cupboard; glass jar [sodium chloride]; stove; thermometer\n"
        "- works in kitchen: move [substance] to stove; activate stove"
    )


def test_an_env_residual_says_only_new_facts() -> None:
    extraction = extract(RULES, "env", SPOILT, learnt(melting("ice"), "env"))
    assert extraction.reason == "new to the chain: refused in hallway"
    assert extraction.payload is not None
    assert extraction.payload["execution_procedure"] == (
        "- refused in hallway: go to kitchen → The door is not open."
    )


SINK = "The sink is now activated.", "The sink is now deactivated."
TWO_ROOMS = (
    Step("deactivate sink", "It's not clear how to deactivate that."),
    Step("activate sink", SINK[0]),
    Step("activate sink", "The sink is already activated."),
    Step("deactivate sink", SINK[1]),
    Step("deactivate sink", "I'm not sure how to deactivate a sink that is not even on."),
    Step("go to hallway", "You move to the hallway."),
    Step("activate sink", "The sink appears broken, and can't be activated."),
)


def test_a_command_that_is_answered_in_two_ways_is_told_with_its_room_or_its_moment() -> None:
    lines = learnt(melting("ice", *TWO_ROOMS), "env")[0].payload["execution_procedure"].splitlines()
    assert "- works in kitchen: activate sink; deactivate sink" in lines
    assert (
        "- refused in kitchen: deactivate sink, at first → It's not clear how to deactivate that.; "
        "deactivate sink, after `deactivate sink` → I'm not sure how to deactivate a sink …"
    ) in lines
    assert (
        "- refused in hallway: activate sink → The sink appears broken, and can't be activated."
    ) in lines


def test_where_no_room_is_named_a_command_is_told_without_one() -> None:
    nowhere = replace(SPOILT, environment="", steps=SPOILT.steps[:1])
    assert learnt(nowhere, "env")[0].payload["execution_procedure"] == (
        "- refused: go to kitchen → The door is not open."
    )


def test_boxes_are_put_somewhere_else_each_time_and_are_no_knowledge() -> None:
    boxed = replace(
        melting("ice"), environment=HALLWAY.replace("a picture", "a picture\n\ta red box")
    )
    assert learnt(boxed, "env")[0].payload == learnt(melting("ice"), "env")[0].payload


@pytest.mark.parametrize(
    ("task", "trigger"),
    [
        (
            "use chemistry to create the substance 'salt water'. When done, focus on salt water.",
            "use chemistry to create the substance …. When done, focus on ….",
        ),
        (
            "grow a apple plant from seed. Seeds can be found in the kitchen.",
            "grow a … plant from seed. Seeds can be found in the house.",
        ),
        (
            "determine if unknown substance B is electrically conductive.",
            "determine if unknown substance … is electrically conductive.",
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
            "focus on the life stages of the … plant, starting from earliest to latest.",
        ),
        (
            "focus on the 3 life stages of the beaver, starting from earliest to latest.",
            "focus on the life stages of the …, starting from earliest to latest.",
        ),
        (
            "turn on the red light bulb by powering it using a renewable power source.",
            "turn on the … by powering it using a renewable power source.",
        ),
        (
            "find a(n) plant. Then, focus on the thing and move it to the red box in the kitchen.",
            "find a(n) plant. Then, focus on the thing and move it to the box in the house.",
        ),
    ],
)
def test_a_task_keeps_its_words_of_skill(task: str, trigger: str) -> None:
    episode = replace(melting("ice"), task=f"Your task is to {task}")
    assert learnt(episode)[0].payload["activation_condition"] == trigger


NONSENSE = (
    Step("please wait1 now", "No known action matches that input."),
    Step("pick up cup", "Ambiguous request: Please enter the number for the action"),
    Step("pour cupboard into kitchen", "You can't move something into itself."),
    Step("connect agent to picture", "It's not clear how to connect that."),
)


def test_what_a_random_agent_tried_is_no_warning_and_no_knowledge() -> None:
    lost = replace(SPOILT, steps=(*SPOILT.steps[:3], *NONSENSE * 4, SPOILT.steps[3]))
    for tree in ("task", "env"):
        assert learnt(lost, tree)[0].payload == learnt(SPOILT, tree)[0].payload
    nothing_else = extract(RULES, "task", replace(SPOILT, task="Your task is.", steps=NONSENSE), ())
    assert nothing_else.payload is None
    assert nothing_else.reason == "nothing that this episode ran into is worth a warning"


def test_what_is_so_already_was_not_refused() -> None:
    again = Step("open door to kitchen", "The door is already open.")
    lost = replace(SPOILT, steps=(*SPOILT.steps[:2], again, *SPOILT.steps[2:]))
    assert learnt(lost)[0].payload == learnt(SPOILT)[0].payload


def test_what_is_put_down_on_furniture_is_no_knowledge() -> None:
    put = Step("pour jar into chair", "You pour it."), Step("pour jar into bowl", "You pour it.")
    lines = learnt(melting("ice", *put), "env")[0].payload["execution_procedure"].splitlines()
    assert "- works in kitchen: pour jar into bowl; move [substance] to stove; activate stove" in (
        lines
    )


@pytest.mark.parametrize(
    "task",
    [
        "determine if unknown substance B is electrically conductive. It is in the kitchen.",
        "measure the temperature of unknown substance B, which is located around the kitchen.",
        "measure the melting point of unknown substance B, which is located around the kitchen.",
    ],
)
def test_each_thing_has_its_own_name_as_the_task_gives_it(task: str) -> None:
    payload = learnt(replace(melting("ice"), task=f"Your task is to {task}"))[0].payload
    names = payload["execution_procedure"].splitlines()[-1]
    assert names == "Worked with [substance] = unknown substance B, [room] = kitchen."


def test_idling_is_not_written_out_for_ever() -> None:
    waiting = [Step("wait1", "You decide to wait.")] * 40
    procedure = learnt(melting("ice", *waiting))[0].payload["execution_procedure"]
    assert procedure.count("wait1") == 10


def test_a_success_that_only_looked_is_told_by_its_last_look() -> None:
    looked = replace(melting("ice"), steps=(Step("examine ice", "a substance called ice"),))
    payload = learnt(looked)[0].payload
    assert payload["execution_procedure"].splitlines()[1] == "2. examine [substance]"
    assert payload["termination_condition"] == (
        "`examine [substance]` is answered: a substance called [substance]"
    )


def test_the_way_ends_in_the_room_that_the_task_names() -> None:
    episode = replace(
        melting("ice"),
        task="Your task is to find a(n) non-living thing. First, focus on the thing. Then, move it "
        "to the red box in the workshop.",
        steps=(
            Step("focus on fork", "You focus on the fork.", reward=25.0),
            Step("open door to hallway", "The door is now open."),
            Step("go to hallway", "You move to the hallway."),
            Step("open door to workshop", "The door is now open."),
            Step("go to workshop", "You move to the workshop."),
            Step(
                "move fork in inventory to red box", "You move the fork to the red box.", reward=5
            ),
        ),
    )
    lines = learnt(episode)[0].payload["execution_procedure"].splitlines()
    assert lines[2:6] == [
        "3. open door to hallway",
        "4. go to hallway",
        "5. open door to [room]",
        "6. go to [room]",
    ]


def test_a_task_with_one_room_fills_both_open_rooms() -> None:
    text = "go to [room]\ngo to [second room]"
    assert filled(text, {"room": "kitchen"}) == "go to kitchen\ngo to kitchen"
    both = {"room": "kitchen", "second room": "workshop"}
    assert filled(text, both) == "go to kitchen\ngo to workshop"
    assert filled(text, {"box": "red box"}) == text


def steps_of(*steps: Step, task: str = "") -> list[str]:
    episode = melting("ice")
    known = learnt(replace(episode, task=task or episode.task, steps=steps))[0]
    lines = known.payload["execution_procedure"].splitlines()
    return [line.partition(". ")[2] for line in lines if line[0].isdigit()]


FILLED = (
    Step("pick up pot", "You move the pot to the inventory."),
    Step("move pot to sink", "You move the pot to the sink."),
    Step("activate sink", SINK[0]),
    Step("deactivate sink", SINK[1]),
    Step("pick up pot", "You move the pot to the inventory."),
    Step("focus on ice in pot", "You focus on it.", reward=1.0),
)


def test_what_is_switched_on_counts_for_what_stands_in_it() -> None:
    assert steps_of(*FILLED)[1:6] == [step.action for step in FILLED[:5]]


def test_carrying_a_thing_to_what_does_not_work_is_no_step() -> None:
    broken = replace(FILLED[2], observation="The sink appears broken, and can't be activated.")
    tried = (FILLED[0], FILLED[1], broken, FILLED[4])
    elsewhere = Step("go to kitchen", "You move to the kitchen.")
    plain = steps_of(FILLED[0], elsewhere, *FILLED[1:])
    assert steps_of(*tried, *tried[1:], elsewhere, *FILLED[1:]) == plain
    assert plain.count("move pot to sink") == 1


def test_what_is_carried_in_a_pot_goes_where_the_pot_goes() -> None:
    steps = (
        Step("focus on ice", "You focus on the ice.", reward=1.0),
        Step("move ice to pot", "You move the ice to the pot."),
        Step("pick up pot", "You move the pot to the inventory."),
        Step("move pot to freezer", "You move the pot to the freezer."),
        Step("wait", "You decide to wait for 10 iterations.", reward=1.0),
    )
    assert steps_of(*steps)[2:5] == [
        "move [substance] to pot",
        "pick up pot",
        "move pot to freezer",
    ]


def test_the_tools_are_where_they_were_when_the_thing_is_elsewhere() -> None:
    steps = (
        Step("open door to kitchen", "The door is now open."),
        Step("go to kitchen", "You move to the kitchen."),
        Step("pick up lead", "You move the lead to the inventory.", reward=1.0),
        Step("connect battery anode to wire terminal 1", "Connected.", reward=1.0),
        Step("connect wire terminal 2 to lead terminal 1", "Connected.", reward=1.0),
    )
    task = CONDUCTIVE.format("lead", "red", "green").replace(
        "First", "The lead is located around the kitchen. First"
    )
    fetched = ["go to [room]", "pick up [substance]"]
    assert steps_of(*steps, task=task)[:3] == [*fetched, "go to kitchen"]
    assert "go to kitchen" not in steps_of(*steps[:3], task=task)


@pytest.mark.parametrize(
    ("task", "action", "step"),
    [
        (
            "determine if unknown substance B is electrically conductive.",
            "focus on unknown substance",
            "focus on [substance]",
        ),
        ("turn on the red light bulb.", "drop light", "drop [device]"),
        (
            "determine which of two inclined planes (inclined plane A, inclined plane B) has the …",
            "focus on inclined plane B",
            "focus on inclined plane [second surface]",
        ),
    ],
)
def test_a_thing_of_the_task_is_known_by_its_short_and_its_long_name(
    task: str, action: str, step: str
) -> None:
    done = Step(action, "Done.", reward=1.0)
    assert steps_of(done, task=f"Your task is to {task}")[-1] == step
