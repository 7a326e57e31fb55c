"""What an expert notes: places, functions, actions, in each domain that has them."""

from __future__ import annotations

from deltamem_tui.lab.games.alfworld import in_ranges
from deltamem_tui.memory.cdmem.rules import expert_notes
from deltamem_tui.memory.findings import effective_actions
from deltamem_tui.trajectory.model import Step, Trajectory
from tests.memory.writers.rules.episodes import CODING, HAIR, HEAT, HEAT_LOST, melting


def test_a_house_has_things_where_they_were_left() -> None:
    found = expert_notes(HEAT)
    assert found["locations"].splitlines() == ["mug 2: cabinet 1", "plate 1: cabinet 1"]
    assert found["functions"] == "microwave: heat works with its door closed"
    assert found["actions"].splitlines()[0] == HEAT.steps[0].action
    lost = expert_notes(HEAT_LOST)
    assert lost["locations"] == ""
    assert lost["functions"] == "stoveburner: heat did nothing"


def test_thoughts_looks_and_refusals_are_not_actions() -> None:
    idle = [
        ("think: where?", "OK."),
        ("look", "You see it."),
        ("examine desk 1", "On the desk 1, you see a pen 1."),
        ("inventory", "You are not carrying anything."),
        ("take pen 1 from desk 1", "Nothing happens."),
        ("go to desk 1", "You arrive at loc 1. On the desk 1, you see a pen 1."),
    ]
    steps = tuple(Step(action, answer) for action, answer in idle)
    for domain in ("alfworld", "scienceworld"):
        assert effective_actions(Trajectory("t", steps=steps, domain=domain))[-1:] == (
            "go to desk 1",
        )
    assert effective_actions(Trajectory("t", steps=steps, domain="alfworld")) == ("go to desk 1",)


def test_visits_in_a_row_are_ranges() -> None:
    actions = [
        *("go to cabinet 1", "go to cabinet 2", "open cabinet 2", "go to cabinet 3"),
        *("go to cabinet 5", "take mug 1 from cabinet 5", "go to desk 1", "wait"),
    ]
    assert in_ranges(actions) == [
        *("go to cabinet 1–3, 5, open 2", "take mug 1 from cabinet 5", "go to desk 1", "wait"),
    ]


def test_rooms_list_their_things_and_what_worked_in_them() -> None:
    found = expert_notes(melting("ice"))
    places = dict(line.split(": ") for line in found["locations"].splitlines())
    assert places["sodium chloride"] == "glass jar in kitchen"
    assert places["glass jar"] == "kitchen"
    assert not any(thing.startswith("door") for thing in places)
    assert found["functions"].startswith("works in kitchen: ")


def test_shops_and_tools_have_no_places() -> None:
    assert expert_notes(HAIR)["locations"] == expert_notes(CODING)["locations"] == ""
    assert all(each.startswith("option ") for each in expert_notes(HAIR)["functions"].splitlines())
    assert "bash answers: " in expert_notes(CODING)["functions"]
