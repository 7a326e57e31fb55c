"""ALFWorld: a house told by kinds."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from deltamem_tui.memory.procedure import Procedure
from deltamem_tui.memory.rules_extractor import RulesExtractor
from deltamem_tui.trajectory.model import Step, Trajectory
from tests.memory.support import extract
from tests.memory.writers.rules.episodes import HEAT, HEAT_LOST, learnt

RULES = RulesExtractor()


def test_a_success_becomes_a_procedure_of_kinds() -> None:
    payload = learnt(HEAT)[0].payload
    assert payload["activation_condition"] == ("heat some … and put it in …, or put a hot … in …")
    assert payload["execution_procedure"] == (
        "1. go to countertop\n"
        "2. take [object] from countertop\n"
        "3. go to microwave\n"
        "4. heat [object] with microwave\n"
        "5. go to [receptacle]\n"
        "6. open [receptacle]\n"
        "7. put [object] in/on [receptacle]\n"
        "Worked with [object] = mug, [receptacle] = cabinet."
    )
    assert payload["termination_condition"] == (
        "`put [object] in/on [receptacle]` is answered: "
        "You put the [object] in/on the [receptacle]."
    )


def test_a_failure_becomes_a_record_of_tries_and_answers() -> None:
    payload = learnt(HEAT_LOST)[0].payload
    assert payload["execution_procedure"] == (
        "[TRIED] go to countertop; take [object] from countertop\n"
        "[FAILED] heat [object] with stoveburner (2 times) → Nothing happens.\n"
        "[TRIED] go to [receptacle] (the last try) → The [receptacle] is closed.\n"
        "[UNEXPLORED] put [object] in/on [receptacle] once it is in hand; go to garbagecan; "
        "go to microwave; go to sinkbasin"
    )
    assert payload["termination_condition"] == ""


def test_knowledge_is_told_by_kind_and_never_by_instance() -> None:
    payload = learnt(HEAT, "env")[0].payload
    assert payload["activation_condition"] == (
        "in the middle of a room, looking around you see a cabinet, a countertop, a garbagecan, "
        "a microwave, a sinkbasin"
    )
    assert payload["execution_procedure"] == (
        "- microwave: heat works with its door closed\n"
        "- sinkbasin (1 looked at): empty\n"
        "- countertop (1 looked at): mug\n"
        "- cabinet (1 looked at): opens and closes; plate"
    )


def test_knowledge_does_not_depend_on_the_outcome() -> None:
    lost = HEAT.with_outcome(HEAT_LOST.outcome)
    assert extract(RULES, "env", HEAT, ()) == extract(RULES, "env", lost, ())


def test_of_each_kind_of_place_is_counted_how_many_had_a_thing_at_the_first_look() -> None:
    def opened(number: int, things: str) -> Step:
        see = f"You open the cabinet {number}. In it, you see {things}."
        return Step(f"open cabinet {number}", see)

    put = Step("put mug 1 in/on cabinet 1", "You put the mug 1 in/on the cabinet 1.")
    again = Step("go to cabinet 1", "On the cabinet 1, you see a mug 1.")
    steps = (
        Step("go to cabinet 1", "The cabinet 1 is closed."), opened(1, "nothing"), put, again,
        Step("go to cabinet 2", "The cabinet 2 is closed."), opened(2, "a plate 1, and a plate 2"),
        Step("go to cabinet 3", "The cabinet 3 is closed."), opened(3, "a cup 1, and a plate 3"),
    )  # fmt: skip
    facts = learnt(replace(HEAT, steps=steps), "env")[0].payload["execution_procedure"]
    assert facts == "- cabinet (3 looked at): opens and closes; plate (in 2); cup"


def test_a_chain_learns_where_the_thing_of_the_task_was_found_and_what_works() -> None:
    chain = learnt(replace(HEAT, steps=HEAT.steps[:1]), "env")
    (_, residual) = learnt(HEAT, "env", chain)
    assert residual.payload["execution_procedure"] == (
        "- mug: countertop (1 of 1); sinkbasin (0 of 1); cabinet (0 of 1)\n"
        "- microwave: heat works with its door closed"
    )
    assert residual.payload["activation_condition"].endswith("a sinkbasin (mug, microwave)")
    assert extract(RULES, "env", HEAT, learnt(HEAT, "env")).payload is None


def test_what_was_done_with_other_things_is_a_detour() -> None:
    detour = (
        Step("take plate 1 from countertop 1", "You pick up the plate 1 from the countertop 1."),
        Step("put plate 1 in/on countertop 1", "You put the plate 1 in/on the countertop 1."),
    )
    longer = replace(HEAT, steps=(*HEAT.steps[:2], *detour, *HEAT.steps[2:]))
    assert learnt(longer)[0].payload == learnt(HEAT)[0].payload


@pytest.mark.parametrize(
    ("task", "trigger"),
    [
        ("put a cd in shelf.", "put a … in …, or put some … on …"),
        ("put some vase on coffeetable.", "put a … in …, or put some … on …"),
        ("put two cd in dresser.", "put two … in …, or find two … and put them in …"),
        (
            "find two box and put them in coffeetable.",
            "put two … in …, or find two … and put them in …",
        ),
        (
            "cool some pan and put it in diningtable.",
            "cool some … and put it in …, or put a cool … in …",
        ),
        ("put a hot mug in fridge.", "heat some … and put it in …, or put a hot … in …"),
        (
            "look at bowl under the desklamp.",
            "look at … under the desklamp, or examine the … with the desklamp",
        ),
        (
            "examine the pen with the desklamp.",
            "look at … under the desklamp, or examine the … with the desklamp",
        ),
        (
            "examine the book with the floorlamp.",
            "look at … under the floorlamp, or examine the … with the floorlamp",
        ),
    ],
)
def test_a_goal_leaves_its_object_and_receptacle_open(task: str, trigger: str) -> None:
    assert learnt(replace(HEAT, task=task))[0].payload["activation_condition"] == trigger


def test_the_same_way_with_another_object_adds_its_names_once() -> None:
    def renamed(text: str) -> str:
        return text.replace("mug 2", "egg 1").replace("cabinet", "fridge").replace("mug", "egg")

    egg = Trajectory(
        task=renamed(HEAT.task),
        environment=HEAT.environment,
        domain="alfworld",
        outcome=HEAT.outcome,
        steps=tuple(Step(renamed(step.action), renamed(step.observation)) for step in HEAT.steps),
    )
    chain = learnt(egg, "task", learnt(HEAT))
    assert chain[1].payload == {
        "activation_condition": f"{chain[0].payload['activation_condition']} (egg, fridge)",
        "execution_procedure": ("Worked as it stands with [object] = egg, [receptacle] = fridge."),
        "termination_condition": "",
    }
    assert extract(RULES, "task", egg, chain).payload is None


def acts(*actions: str) -> tuple[Step, ...]:
    return tuple(Step(action, "Done.") for action in actions)


@pytest.mark.parametrize(
    ("task", "actions", "procedure"),
    [
        pytest.param(
            "put two cd in safe.",
            (
                "go to desk 1", "take cd 1 from desk 1", "take pen 1 from desk 1",
                "go to safe 1", "open safe 1", "put cd 1 in/on safe 1",
                "go to desk 1", "take cd 2 from desk 1", "go to safe 1", "put cd 2 in/on safe 1",
            ),
            (
                "go to desk", "take [object] from desk",
                "go to [receptacle]", "open [receptacle]", "put [object] in/on [receptacle]",
                "go to desk", "take [object] from desk",
                "go to [receptacle]", "put [object] in/on [receptacle]",
            ),
            id="two objects",
        ),
        pytest.param(
            "examine the bowl with the desklamp.",
            (
                "go to desk 1", "use desklamp 1", "go to shelf 2", "take bowl 1 from shelf 2",
                "go to desk 1", "use desklamp 1",
            ),
            ("go to shelf", "take [object] from shelf", "go to desk", "use [tool]"),
            id="a lamp that was lit too early",
        ),
        pytest.param(
            "put a cd in safe.",
            (
                "go to desk 1", "take cd 1 from desk 1", "go to shelf 1", "put cd 1 in/on shelf 1",
                "take cd 1 from shelf 1", "go to safe 1", "put cd 1 in/on safe 1",
            ),
            (
                "go to desk", "take [object] from desk",
                "go to [receptacle]", "put [object] in/on [receptacle]",
            ),
            id="put down on the way",
        ),
        pytest.param(
            "clean some mug and put it in cabinet.",
            (
                "go to desk 1", "take mug 1 from desk 1", "go to sinkbasin 1",
                "clean mug 1 with sinkbasin 1", "go to shelf 1", "put mug 1 in/on shelf 1",
                "take mug 1 from shelf 1", "go to cabinet 1", "put mug 1 in/on cabinet 1",
            ),
            (
                "go to desk", "take [object] from desk",
                "go to sinkbasin", "clean [object] with sinkbasin",
                "go to [receptacle]", "put [object] in/on [receptacle]",
            ),
            id="put down between cleaning and the end",
        ),
        pytest.param(
            "put a cd in safe.",
            (
                "go to desk 1", "take cd 1 from desk 1", "put cd 1 in/on desk 1",
                "go to bed 1", "take cd 2 from bed 1", "go to safe 1", "put cd 2 in/on safe 1",
            ),
            (
                "go to bed", "take [object] from bed",
                "go to [receptacle]", "put [object] in/on [receptacle]",
            ),
            id="put back where it was",
        ),
        pytest.param(
            "put a hot mug in safe.",
            (
                "go to desk 1", "take mug 1 from desk 1", "go to safe 1", "put mug 1 in/on safe 1",
                "go to bed 1", "take mug 2 from bed 1", "go to microwave 1",
                "heat mug 2 with microwave 1", "go to safe 1", "put mug 2 in/on safe 1",
            ),
            (
                "go to bed", "take [object] from bed", "go to microwave",
                "heat [object] with microwave", "go to [receptacle]",
                "put [object] in/on [receptacle]",
            ),
            id="another one that was never heated",
        ),
        pytest.param(
            "examine the bowl with the desklamp.",
            (
                "go to desk 1", "use desklamp 1", "go to shelf 2", "take bowl 1 from shelf 2",
                "go to desk 1",
            ),
            ("go to desk", "use [tool]", "go to shelf", "take [object] from shelf", "go to desk"),
            id="a lamp that was lit before",
        ),
    ],
)  # fmt: skip
def test_a_procedure_is_what_the_goal_needs(
    task: str, actions: tuple[str, ...], procedure: tuple[str, ...]
) -> None:
    (root,) = learnt(replace(HEAT, task=task, steps=acts(*actions)))
    known = Procedure.of([root])
    assert known is not None
    assert known.steps == procedure
