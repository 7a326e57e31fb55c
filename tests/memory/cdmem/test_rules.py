"""Insights by rules: what has support, whatever the order; and what is known of a place."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.memory.cdmem import write
from deltamem_tui.memory.cdmem.definition import EXPERT, FAILURE, FUNCTIONS, PLANS, SHORTCUT
from deltamem_tui.memory.engine import learn, recall
from tests.memory.cdmem.support import new_bank
from tests.memory.writers.rules.episodes import HEAT, HEAT_LOST


def node(text: str) -> Node:
    return born("short", None, "success", {"text": text}, Origin())


@given(st.lists(st.sampled_from(["a", "b\nc", "d\ne\nf"])), st.randoms())
def test_plans_by_support_in_any_order(drawn: list[str], random) -> None:  # type: ignore[no-untyped-def]
    nodes = list(map(node, drawn))
    found = write.by_support(PLANS, nodes)
    random.shuffle(nodes)
    assert write.by_support(PLANS, nodes) == found
    support = Counter(drawn)
    assert [support[text] for text in found] == sorted(support.values(), reverse=True)


def test_what_a_thing_does_is_one_line_the_most_seen_first() -> None:
    nodes = [node(text) for text in ("a: x; y\nb: z", "a: y", "c")]
    assert write.by_support(FUNCTIONS, nodes) == ["a: y; x", "b: z", "c"]


def test_an_episode_in_the_rules_words() -> None:
    notes = write.write_by_rules(EXPERT, HEAT, (), {}).payload
    way = write.write_by_rules(SHORTCUT, HEAT, (), {}).payload
    known = "pen 1: desk 1\nmug 1: desk 1"
    lost = write.write_by_rules(FAILURE, HEAT_LOST, (), {"env_memory": known}).payload
    assert notes
    assert way
    assert lost
    assert "microwave: heat works" in notes["functions"]
    assert "[object]" in way["plan"]
    assert lost["failure"] in ("planning", "search", "operation")
    places = lost["env_memory"].splitlines()
    assert places[0] == "pen 1: desk 1"
    assert sum(line.startswith("mug 1:") for line in places) == 1  # a thing is at one place


def test_an_example_has_no_detour_that_a_replay_does_without(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank")
    learn(bank, HEAT)
    lines = recall(bank, HEAT.task, HEAT.environment).context.splitlines()
    steps = [
        (line.removeprefix("> "), lines[at + 1])
        for at, line in enumerate(lines)
        if line.startswith("> ")
    ]
    assert steps == [(each.action, each.observation) for each in HEAT.steps[1:]]
