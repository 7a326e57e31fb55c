"""Insights by rules: what has support, whatever the order; and what is known of a place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.memory.cdmem import rules
from deltamem_tui.memory.cdmem.definition import EXPERT, FAILURE, SHORTCUT
from deltamem_tui.memory.engine import learn, recall
from tests.memory.cdmem.support import new_bank
from tests.memory.writers.rules.episodes import HEAT, HEAT_LOST


def node(**texts: str) -> Node:
    fields = ("text", "failure", "cause", "remedy")
    return born("short", None, "success", {name: texts.get(name, "") for name in fields}, Origin())


PLANS = st.lists(st.sampled_from(["a", "b\nc", "d\ne\nf"]))


@given(PLANS, st.randoms())
def test_plans_by_support_in_any_order(drawn: list[str], random) -> None:  # type: ignore[no-untyped-def]
    nodes = [node(text=text) for text in drawn]
    found = rules.plans(nodes)
    random.shuffle(nodes)
    assert rules.plans(nodes) == found
    support = Counter(drawn)
    assert sorted(found) == sorted(support)
    assert [support[text] for text in found] == sorted(support.values(), reverse=True)


def functions(*lines: str) -> Sequence[str]:
    return rules.functions([node(text=line) for line in lines])


def test_functions_have_support_or_are_uncontradicted() -> None:
    assert functions("fridge: cool works; open works") == ["fridge: cool works; open works"]
    assert functions("fridge: cool works", "fridge: cool did nothing") == []
    once = ["lamp: use works", "fridge: cool did nothing", "fridge: cool works"]
    assert functions(*once, "fridge: cool works") == ["fridge: cool works", "lamp: use works"]
    assert functions("a stove heats") == ["a stove heats"]


def test_a_thing_is_at_one_place_the_last_one() -> None:
    assert rules.merged("mug 1: shelf 1\npen 1: desk 1", "Mug 1: desk 2") == (
        "pen 1: desk 1\nMug 1: desk 2"
    )
    assert rules.merged("", "") == ""


def test_an_episode_in_the_rules_words() -> None:
    notes = rules.write_by_rules(EXPERT, HEAT, (), {}).payload
    way = rules.write_by_rules(SHORTCUT, HEAT, (), {}).payload
    lost = rules.write_by_rules(FAILURE, HEAT_LOST, (), {"env_memory": "pen 1: desk 1"}).payload
    assert notes
    assert way
    assert lost
    assert "microwave: heat works" in notes["functions"]
    assert "[object]" in way["plan"]
    assert lost["failure"] in ("planning", "search", "operation")
    assert lost["env_memory"].startswith("pen 1: desk 1")


def test_an_example_has_no_detour_that_a_replay_does_without(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank")
    learn(bank, HEAT)
    context = recall(bank, HEAT.task, HEAT.environment).context
    assert steps_in(context) == [(each.action, each.observation) for each in HEAT.steps[1:]]


def steps_in(context: str) -> list[tuple[str, str]]:
    lines = context.splitlines()
    return [
        (line.removeprefix("> "), lines[at + 1])
        for at, line in enumerate(lines)
        if line.startswith("> ")
    ]
