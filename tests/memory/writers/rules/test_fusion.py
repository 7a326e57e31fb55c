"""Fusing a chain: deltas at their places, nothing twice, failures as warnings."""

from __future__ import annotations

import pytest

from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.deltamem.collections import Payload
from deltamem_tui.memory.writers.rules import RulesExtractor
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
        "1. go to kitchen (open the doors between)\n"
        "2. focus on {substance}\n"
        "3. pick up metal pot\n"
        "4. move {substance} to stove\n"
        "5. activate stove\n"
        "6. examine {substance} (repeat, here 3 times)\n"
        "[FAILED] focus on stove (the last try) → You focus on the stove.\n"
        "[FAILED] go to kitchen → The door is not open."
    )
    assert payload["termination_condition"] == chain[0].payload["termination_condition"]


def test_the_fused_root_covers_every_episode_of_its_chain() -> None:
    pot = Step("pick up metal pot", "You move the metal pot to the inventory.", reward=1.0)
    episodes = (melting("ice"), melting("lead", pot), SPOILT)
    chain = learnt(episodes[2], "task", learnt(episodes[1], "task", learnt(episodes[0])))
    payload = fuse(RULES, "task", chain).payload
    assert payload is not None
    for episode in episodes:
        assert extract(RULES, "task", episode, (node(payload),)).payload is None


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
