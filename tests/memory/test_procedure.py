"""Procedures: what the rules write of a success can be put together again; edits as text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.deltamem.definition import Parameters, TreeParameters
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.memory.domain import domain_for
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.procedure import (
    Edit,
    Procedure,
    difference,
    filled,
    merged,
    read_edits,
    text_of,
)
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.reading import read_logs
from tests.memory.writers.rules.episodes import node
from tests.places import DOCS

# Few different lines, so that two procedures have some in common; some look like an edit's own.
STEPS = st.lists(
    st.sampled_from(
        [
            "take mug", "open fridge", "look", "wait", "At the start:", "After step 2:",
            "Instead of steps 1 to 3:", "Without step 1.", "+ take mug", "+ ", "1. look",
            "[FAILED] look → No.", "Worked with [object] = mug.",
        ]
    ) | st.text(st.characters(exclude_categories=["C", "Z"]), max_size=5),
    max_size=12,
)  # fmt: skip


def lines_of(edits: list[Edit]) -> list[str]:
    return [line for edit in edits for line in str(edit).split("\n")]


@given(STEPS, STEPS)
def test_the_difference_makes_the_one_of_the_other_also_as_text(
    base: list[str], steps: list[str]
) -> None:
    edits = difference(base, steps)
    assert merged(base, edits) == steps
    assert read_edits(lines_of(edits)) == edits
    assert bool(edits) == (base != steps)


@pytest.mark.parametrize(
    "lines",
    [
        ["look"],
        ["+ look"],
        ["After step 2:"],
        ["After step 2:", "look"],
        ["After step 2:", "+ look", "- wait"],
        ["After step 0:", "+ look"],
        ["Without step 0."],
        ["Instead of step 1"],
        ["Without step " + "9" * 5000 + "."],
        ["After step ٣:", "+ look"],
    ],
)
def test_what_is_no_edit_is_not_read_as_one(lines: list[str]) -> None:
    assert (
        read_edits(["At the start:", "+ wait", *lines][2 if lines[0] == "+ look" else 0 :]) is None
    )


# What took long is waited for, and a thing is named without its stage of life and without the
# numbered pot that it happened to be in.
REWRITTEN = re.compile(r"^wait$|^focus on| in inventory to ")
LINES = st.lists(
    st.sampled_from(["look", "take [object]", "wait", "1. look", "+ wait"]), min_size=1, max_size=8
)
NAMES = st.dictionaries(
    st.sampled_from(["object", "second box", "substance"]),
    st.sampled_from(["mug", "red box", "milk, or tea", "a.b", "["]),
)


@given(st.lists(st.tuples(LINES, NAMES), max_size=5))
def test_a_chain_of_any_procedures_gives_the_last_one(
    procedures: list[tuple[list[str], dict[str, str]]],
) -> None:
    chain: list[Node] = []
    base: tuple[str, ...] = ()
    named: dict[str, str] = {}
    for steps, names in procedures:
        if text := text_of(steps, names, base):
            chain.append(node(Payload("when", text), chain[-1] if chain else None))
            named = names or named
            base = tuple(steps)
        known = Procedure.of(chain)
        assert known is not None
        assert known.steps == base
        assert known.names == named


@pytest.mark.parametrize("domain", ["alfworld", "scienceworld"])
def test_each_chain_of_the_sample_gives_its_episodes_own_commands(
    domain: str, tmp_path: Path
) -> None:
    """Names of the task filled in, they are the commands of the slice that the dialect cut."""
    numbers = TreeParameters(0.8, d_max=4, k_cons=None)
    bank = create_bank(
        tmp_path / "bank",
        embedder="hashing",
        domain=domain,
        parameters=Parameters(numbers, TreeParameters(0.8, enabled=False)),
    )
    episodes = {
        each.id: each
        for each in read_logs([DOCS / "sample" / f"{domain}.jsonl.gz"])
        if isinstance(each, Trajectory)
    }
    for episode in episodes.values():
        learn(bank, episode)
    tree = bank.tree("task")
    dialect = domain_for(domain)
    depths = set()
    for each in tree:
        episode = episodes[each.origin.trajectory]
        if each.label != "success":
            continue
        known = Procedure.of(tree.chain(each.id))
        assert known is not None
        goal = dialect.goal(episode)
        assert list(known.steps) == dialect.procedure(dialect.moves(episode, goal))
        assert known.names == dict(goal.slots)
        did = {step.action.casefold() for step in episode.steps}
        # What is named in short is named as the task does.
        in_full = (filled(goal.generalise(step.action), known.names) for step in episode.steps)
        did |= {action.casefold() for action in in_full}
        if domain == "scienceworld":
            commands = [filled(step, known.names).casefold() for step in known.steps]
            assert {each for each in commands[1:] if not REWRITTEN.search(each)} <= did
            assert commands[0] in did or commands[0].startswith("go to ")
        depths.add(each.depth)
    assert depths >= {1, 2, 3}
    assert max(depths) <= numbers.d_max


@pytest.mark.parametrize(
    "text",
    [
        "Take the mug.",
        "1. take mug\nThen put it down.",
        "- After `take mug`: put it down",
        "Without step 3.",
        "Instead of steps 2 to 1:\n+ look",
    ],
)
def test_what_the_rules_did_not_write_is_not_read_as_a_procedure(text: str) -> None:
    base = node(Payload("when", "1. take mug\n2. put mug down"))
    assert Procedure.of([base, node(Payload("when", text), base)]) is None


def test_numbered_remarks_of_a_model_do_not_take_the_place_of_the_base() -> None:
    base = node(Payload("heat it", "1. take it\n2. heat it"))
    remarks = Payload("heat it late", "1. Step 2 also works in the oven.")
    below = born("task", base, "success", remarks, Origin("b", extractor="model"))
    assert Procedure.of([base, below]) is None
    assert Procedure.of([structs.replace(below, parent=None)]) is not None


def test_a_record_leaves_the_way_as_it_is_and_its_warnings_come_first() -> None:
    base = node(Payload("when", "1. look\nWorked with [object] = mug.\n[FAILED] look → No."))
    record = node(Payload("when", "[FAILED] wait → No.\n[FAILED] look → No."), base, "failure")
    assert Procedure.of([base, record]) == Procedure(
        ("look",), {"object": "mug"}, ("[FAILED] wait → No.", "[FAILED] look → No.")
    )


def test_only_places_with_a_known_name_are_filled_in() -> None:
    names = {"object": "mug", "second box": "red box"}
    text = "put [object] in [second box], then click[blue] [Buy Now] [receptacle]"
    assert filled(text, names) == "put mug in red box, then click[blue] [Buy Now] [receptacle]"
