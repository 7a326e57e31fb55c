"""Fusing a chain: deltas at their places, nothing twice, failures as warnings."""

from __future__ import annotations

import pytest

from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.deltamem.definition import Payload
from deltamem_tui.memory.procedure import Procedure
from deltamem_tui.memory.rules_extractor import RulesExtractor
from deltamem_tui.trajectory.model import Step
from tests.memory.support import extract, fuse
from tests.memory.writers.rules.episodes import SPOILT, learnt, melting, node

RULES = RulesExtractor()


def test_a_chain_becomes_one_procedure_with_warnings() -> None:
    pot = Step("pick up metal pot", "You move the metal pot to the inventory.", reward=1.0)
    chain = learnt(SPOILT, "task", learnt(melting("lead", pot), "task", learnt(melting("ice"))))
    payload = fuse(RULES, "task", chain).payload
    assert payload is not None
    assert payload["activation_condition"] == chain[-1].payload["activation_condition"]
    assert payload["execution_procedure"] == (
        "1. go to kitchen\n"
        "2. focus on [substance]\n"
        "3. pick up metal pot\n"
        "4. move [substance] to stove\n"
        "5. activate stove\n"
        "6. wait\n"
        "7. examine [substance]\n"
        "Worked with [substance] = lead.\n"
        "[FAILED] focus on stove → You focus on the stove.\n"
        "[FAILED] go to kitchen → The door is not open."
    )
    assert payload["termination_condition"] == chain[0].payload["termination_condition"]


def test_the_fused_root_says_what_its_chain_says() -> None:
    """Also a step that comes twice, before and after what a residual puts between."""
    pot = Step("pick up metal pot", "You move the metal pot to the inventory.", reward=1.0)
    fill = Step("move metal pot to sink", "You move the metal pot to the sink.", reward=1.0)
    once, twice = melting("ice", pot), melting("lead", pot, fill, pot)
    chain = learnt(SPOILT, "task", learnt(twice, "task", learnt(once)))
    payload = fuse(RULES, "task", chain).payload
    assert payload is not None
    root = (node(payload),)
    fused, known = Procedure.of(root), Procedure.of(chain)
    assert fused
    assert known
    assert (fused.steps, fused.names) == (known.steps, known.names)
    assert set(known.warnings) == set(fused.warnings)
    assert payload["execution_procedure"].count("pick up metal pot") == 2
    for episode in (twice, SPOILT):
        assert extract(RULES, "task", episode, root).payload is None


def test_what_a_person_wrote_is_fused_as_it_stands() -> None:
    by_hand = node(Payload("melt lead", "First open the door.\nThen melt it.", "It is liquid."))
    last = learnt(melting("ice"))[0]
    payload = fuse(RULES, "task", (by_hand, last)).payload
    assert payload == {
        "activation_condition": last.payload["activation_condition"],
        "execution_procedure": "\n".join(
            each.payload["execution_procedure"] for each in (by_hand, last)
        ),
        "termination_condition": last.payload["termination_condition"],
    }


def test_facts_of_one_subject_are_told_on_one_line() -> None:
    base = node(Payload("a kitchen", "- drawer: fork; spoon\n- stove: hot"))
    delta = node(Payload("a kitchen (drawer)", "- drawer: spoon; knife\n- It smells of gas."), base)
    payload = fuse(RULES, "env", (base, delta)).payload
    assert payload is not None
    assert payload["execution_procedure"] == (
        "- drawer: fork; spoon; knife\n- stove: hot\n- It smells of gas."
    )


def test_only_failures_fuse_into_a_record() -> None:
    payload = fuse(RULES, "task", learnt(SPOILT)).payload
    assert payload is not None
    assert payload["execution_procedure"] == learnt(SPOILT)[0].payload["execution_procedure"]


def test_there_must_be_a_chain() -> None:
    with pytest.raises(ExtractionError, match="no chain"):
        fuse(RULES, "task", ())
