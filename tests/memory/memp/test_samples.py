"""The generated episodes through MemP by rules, and what rules write."""

from __future__ import annotations

from msgspec.structs import replace

from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.memory.memp import write as rules
from deltamem_tui.memory.memp.definition import (
    ADJUST,
    FACTS,
    KEY,
    PROCEDURES,
    SCRIPT,
    record_payload,
)
from tests.memory.writers.model.support import EPISODE, LOST

LOGS = {
    "alfworld": "alfworld_valid_train_experts.jsonl",
    "scienceworld": "scienceworld_train_variations.jsonl",
}


def record(script: str, trajectory: str = "") -> Node:
    return born(
        PROCEDURES, None, "success", record_payload(EPISODE.task, script, trajectory), Origin()
    )


def test_scripts_are_the_dialects_procedure_and_facts_its_goals() -> None:
    script = rules.write_by_rules(SCRIPT, EPISODE, ()).payloads[0]["script"]
    assert script.splitlines()[1:3] == [
        "2. take [object] from [place]",
        "3. go to sinkbasin",
    ]
    found = {
        each["name"]: each["value"] for each in rules.write_by_rules(FACTS, EPISODE, ()).payloads
    }
    assert found == {"do": "clean", "state": "clean", "object": "cup", "receptacle": "cabinet"}


REFUSED = replace(
    LOST,
    steps=(
        EPISODE.steps[0],
        *(type(step)(step.action, "Nothing happens.") for step in EPISODE.steps[1:]),
    ),
)


def test_a_repair_warns_of_the_first_prescribed_step_that_was_refused() -> None:
    for told in (
        record("1. take [object] from countertop\n2. clean [object] with sinkbasin"),
        record("", "Action: take cup 2 from countertop 1"),
    ):
        script = rules.write_by_rules(ADJUST, REFUSED, (told,)).payloads[0]["script"]
        *before, note = script.splitlines()
        assert before == told.payload["script"].splitlines()
        assert note == "[TRAP] take [object] from countertop → Nothing happens."
        assert not rules.write_by_rules(ADJUST, REFUSED, (record(script),)).payloads or not before


def test_a_repair_else_says_what_is_missing_and_keeps_the_last_three_notes() -> None:
    lost = replace(LOST, steps=LOST.steps[:2])
    told = record("1. go to desk\n[TRAP] a → b\n[TRAP] c → d\n[TRAP] e → f")
    script = rules.write_by_rules(ADJUST, lost, (told,)).payloads[0]["script"]
    assert script.splitlines()[:3] == ["1. go to desk", "[TRAP] c → d", "[TRAP] e → f"]
    assert script.splitlines()[3].startswith("[MISSING] clean [object]")
    assert KEY not in script
    told = record("1. clean [object] with sinkbasin")
    assert rules.write_by_rules(ADJUST, lost, (told,)).payload is None
    other_kind = replace(lost, task="put two cup in cabinet.")
    assert rules.write_by_rules(ADJUST, other_kind, (record("1. go to desk"),)).payload is None
