"""AWM: induction, recall, credit, the released code's defects, and what rules write."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory import engine
from deltamem_tui.memory.awm.definition import INDUCE, KIND, SOLVED, TASKS, WORKFLOWS
from deltamem_tui.memory.awm.write import actions_in, occur, write_by_rules
from deltamem_tui.memory.engine import recall
from deltamem_tui.memory.methods import method_of
from deltamem_tui.memory.vectors.embedder import embedder_of
from tests.memory.awm.support import Inducer, attempt, new_bank, steps_of, teach
from tests.memory.writers.model.support import EPISODE
from tests.memory.writers.rules.episodes import HEAT

WASH = ("wash it", "dry it")
FULL = ("rinse it", *WASH)


def recalled(bank: Bank, task: str) -> list[str]:
    found = recall(bank, task)[WORKFLOWS]
    return [chain[0].payload["steps"] for chain in found.chains] if found else []


def test_the_whole_file_of_the_kind_is_recalled_and_no_other(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank", domain="alfworld")
    assert teach(bank, HEAT).decision == "induce"
    teach(bank, EPISODE)
    found = recall(bank, "put a hot potato in fridge.")
    assert "4. heat potato with microwave\n5. go to fridge" in found.context
    assert "clean" not in found.context.partition("### ")[2]
    unknown = recall(bank, "put a cool potato in fridge.")[WORKFLOWS]
    assert unknown is not None
    assert (unknown.chains, unknown.rule, unknown.new_kind) == ((), "kind", True)
    assert len(bank.tree(SOLVED)) == 2


def test_a_kind_that_the_rules_do_not_know_is_the_nearest(tmp_path: Path) -> None:
    """The released script for ten workflows by meaning takes the least similar ones first."""
    bank = new_bank(tmp_path / "bank")
    teach(bank, attempt("Wash the cup", *WASH, kind="wash the dishes"))
    teach(bank, attempt("Book a flight", "open site", "pay", kind="book a flight"))
    assert recalled(bank, "book me a flight to Rome") == ["1. open site\n2. pay"]
    assert recalled(bank, "wash all the dishes") == ["1. wash it\n2. dry it"]


def test_one_is_credited_only_where_its_steps_were_taken_in_order(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank")
    teach(bank, attempt("a cup", *FULL), Inducer([WASH, WASH[::-1], ("wash [thing]", "dry it")]))
    teach(bank, attempt("a pan", "wash it", "wait", "dry it", success=False), Inducer())
    tree = bank.tree(WORKFLOWS)
    assert [tree.counts(node.id).recalls for node in tree] == [1, 0, 1]
    assert not occur(["click[{item}]"], ["click[{option}]"])


def test_tasks_stand_beside_their_own_actions(tmp_path: Path) -> None:
    """The released code pairs result files in the folder's order with tasks by position."""
    bank, writer = new_bank(tmp_path / "bank"), Inducer([WASH])
    for number, thing in enumerate(("cup", "axe", "box")):
        teach(bank, attempt(f"a {thing}", *WASH, f"store the {thing}", number=number), writer)
    assert len(writer.given[-1]) == 3
    for text in writer.given[-1]:
        assert text.partition("\n")[0].removeprefix("Task: a ") in text.partition("store the ")[2]


def test_a_task_counts_once_and_memory_does_not_flicker(tmp_path: Path) -> None:
    """The released code draws one trajectory a template without a seed, and overwrites."""
    bank, writer = new_bank(tmp_path / "bank"), Inducer([WASH, FULL])
    teach(bank, attempt("a cup", *FULL), writer)
    before = list(bank.tree(WORKFLOWS))
    assert teach(bank, attempt("A  CUP", *WASH, number=1), writer).decision == "skip"
    assert teach(bank, attempt("a pan", *FULL, number=2), writer).decision == "keep"
    assert list(bank.tree(WORKFLOWS)) == before
    assert len(writer.given) == 2


def test_what_comes_again_later_is_the_same_node(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank")
    other = ("sing it", "hum it")
    teach(bank, attempt("a cup", *WASH), Inducer([WASH]))
    (first,) = bank.tree(WORKFLOWS)
    teach(bank, attempt("a song", *other, number=1), Inducer([other]))
    assert steps_of(bank) == [list(other)]
    teach(bank, attempt("a hymn", *other, number=2), Inducer([WASH]))
    (again,) = bank.tree(WORKFLOWS)
    assert again.id == first.id


@pytest.mark.parametrize("answer", [None, (), [("wash it",)]])
def test_an_empty_answer_wipes_nothing_and_the_induction_stays_due(
    tmp_path: Path, answer: list[tuple[str, ...]] | None
) -> None:
    """The released code overwrites the file with an empty answer."""
    bank = new_bank(tmp_path / "bank")
    teach(bank, attempt("a cup", *FULL), Inducer([FULL]))
    assert engine.due(bank) == []
    assert teach(bank, attempt("a pan", *WASH, number=1), Inducer(answer)).decision == "wait"
    assert steps_of(bank) == [list(FULL)]
    (due,) = engine.due(bank)
    assert [node.payload["task"] for node in due.nodes] == ["a pan"]
    assert method_of(bank).due_rows(bank, bank.tree(SOLVED)).tolist() == [False, True]
    refused = engine.maintain(bank, due, Inducer(answer), embedder_of(bank))
    assert refused is not None
    assert (refused.root, engine.due(bank)) == (None, [due])
    done = engine.maintain(bank, due, Inducer([WASH]), embedder_of(bank))
    assert done is not None
    assert done.written
    assert (steps_of(bank), engine.due(bank)) == ([list(WASH)], [])
    assert engine.maintain(bank, due, Inducer([FULL]), embedder_of(bank)) is None


def induced(*ways: str) -> list[str]:
    texts = tuple(f"Task: {number}\n{way}" for number, way in enumerate(ways))
    found = write_by_rules(INDUCE, None, (), {KIND: "chores", TASKS: texts}).payloads
    return [", ".join(actions_in(each["steps"])) for each in found]


def test_rules_find_what_recurs_and_with_one_task_its_way() -> None:
    ways = ["1. wash\n2. dry\n3. store", "1. fetch\n2. wash\n3. dry"]
    assert induced(*ways) == ["wash, dry"]
    assert induced(*ways, "1. sing") == ["wash, dry"]
    assert induced("1. a\n2. b\n3. c", "1. c\n2. a") == ["c, a"]  # nothing recurs
    assert induced("1. sing") == []
    opened = "1. wash\n2. dry\n3. open\n4. store"
    assert induced(ways[0], opened) == ["wash, dry, store"]
    with pytest.raises(ExtractionError):
        write_by_rules("awm_other", None, ())
