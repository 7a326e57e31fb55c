"""What the rules write: of agents without a known domain, and of chains that are fused."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import ExtractionError, TrajectoryError
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.memory.method import RulesExtractor
from deltamem_tui.memory.procedure import Procedure, marks_in
from deltamem_tui.text import count_tokens
from deltamem_tui.trajectory.model import Outcome, Step
from tests.memory.support import extract, fuse
from tests.memory.writers.rules.episodes import CODING, SPOILT, learnt, melting, node
from tests.places import BANKS

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


def test_an_agent_with_tools() -> None:
    payload = learnt(CODING)[0].payload
    assert payload["activation_condition"] == (
        "Make the test in tests/test_dates.py pass, see issue 4213."
    )
    lines = payload["execution_procedure"].splitlines()
    assert "Edited: src/dates.py" in lines
    assert not payload["termination_condition"]


def test_without_a_task_there_is_no_skill() -> None:
    with pytest.raises(ExtractionError, match="no task"):
        extract(RULES, "task", replace(CODING, task=" \x07 "), ())


def test_without_an_outcome_there_is_no_skill_but_there_is_knowledge() -> None:
    unknown = replace(CODING, steps=(Step("make test", "ok"),)).with_outcome(Outcome())
    with pytest.raises(TrajectoryError, match="outcome"):
        extract(RULES, "task", unknown, ())
    assert extract(RULES, "env", unknown, ()).payload is not None


@pytest.mark.parametrize("tree", ["task", "env"])
def test_an_episode_without_steps_says_nothing(tree: str) -> None:
    extraction = extract(RULES, tree, replace(CODING, steps=()), ())
    assert extraction.payload is None
    assert extraction.reason


def test_a_residual_of_the_shipped_bank_is_short_beside_a_root() -> None:
    tokens: dict[str, list[int]] = {"root": [], "residual": []}
    for tree in Bank.open(BANKS / "scienceworld").trees.values():
        for each in tree:
            tokens[each.kind].append(count_tokens(each.text))
    root, residual = (sum(tokens[kind]) / len(tokens[kind]) for kind in ("root", "residual"))
    assert residual <= 0.6 * root


@pytest.mark.parametrize(
    ("procedure", "marks"),
    [
        ("", ()),
        ("1. take it\n2. heat it", ()),
        ("[TRIED] a; b\n[FAILED] c → no\n[TRIED] d", ("[TRIED]", "[FAILED]")),
        (
            "- [FAILED] a\n  * [UNEXPLORED] b\n1. [PARTIAL] half",
            ("[FAILED]", "[UNEXPLORED]", "[PARTIAL]"),
        ),
        ("[TRAP] bought at once\n[FIX] compare first", ("[TRAP]",)),
        ("press the key that says [FAILED]", ()),
        ("[failed] is no mark", ()),
    ],
)
def test_marks_stand_at_the_beginning_of_a_line(procedure: str, marks: tuple[str, ...]) -> None:
    assert marks_in(Payload("when", procedure)) == marks


@pytest.mark.parametrize("line", ["1\n", "\n", "1 2 3 4 5 6 7 8 9\n", "=" * 1000 + "\n"])
def test_very_many_lines_without_a_letter_are_looked_at_once(line: str) -> None:
    """From every line's beginning on it would be hours, in which no key answers."""
    text = line * (1_000_000 // len(line))
    assert marks_in(Payload("when", text + "[TRAP]")) == ("[TRAP]",)
