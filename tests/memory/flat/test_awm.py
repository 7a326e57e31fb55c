"""AWM against slow references, where the released code errs, and what its rules write."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as some

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.engine import recall
from deltamem_tui.memory.flat.awm import (
    actions_in,
    common_steps,
    write_by_rules,
)
from deltamem_tui.memory.flat.definitions import INDUCE, KIND, SOLVED, TASKS, WORKFLOWS
from tests.effort import examples
from tests.memory.flat.awm import Answer, Inducer, attempt, new_bank, steps_of, teach
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
    teach(bank, attempt("a cup", *FULL), Inducer([WASH, WASH[::-1], ("WASH  it", "store it")]))
    teach(bank, attempt("a pan", "wash it", "wait", "dry it", success=False), Inducer())
    tree = bank.tree(WORKFLOWS)
    assert [tree.counts(node.id).recalls for node in tree] == [1, 0, 0]


def test_tasks_stand_beside_their_own_actions(tmp_path: Path) -> None:
    """The released code pairs result files in the folder's order with tasks by position."""
    bank, writer = new_bank(tmp_path / "bank"), Inducer([WASH])
    for number, thing in enumerate(("cup", "axe", "box")):
        teach(bank, attempt(f"a {thing}", *WASH, f"store the {thing}", number=number), writer)
    assert len(writer.given[-1]) == 3
    for text in writer.given[-1]:
        assert text.partition("\n")[0].removeprefix("Task: a ") in text.partition("store the ")[2]


@pytest.mark.parametrize("answer", [None, (), [("wash it",)]])
def test_an_empty_answer_wipes_nothing_and_the_next_success_is_induced_with_it(
    tmp_path: Path, answer: list[tuple[str, ...]] | None
) -> None:
    """The released code overwrites the file with an empty answer."""
    bank, writer = new_bank(tmp_path / "bank"), Inducer([FULL])
    teach(bank, attempt("a cup", *FULL), writer)
    assert teach(bank, attempt("a pan", *WASH, number=1), Inducer(answer)).decision == "wait"
    assert steps_of(bank) == [list(FULL)]
    teach(bank, attempt("a pot", *WASH, number=2), writer)
    assert len(writer.given[-1]) == 3


def induced(*ways: str) -> list[str]:
    texts = tuple(f"Task: {number}\n{way}" for number, way in enumerate(ways))
    found = write_by_rules(INDUCE, None, (), {KIND: "chores", TASKS: texts}).payloads
    return [", ".join(actions_in(each["steps"])) for each in found]


def test_rules_write_what_half_of_the_tasks_have_in_common_else_the_shortest_way() -> None:
    ways = ["1. wash\n2. dry\n3. store", "1. fetch\n2. wash\n3. dry"]
    assert induced(*ways) == ["wash, dry"]
    assert induced(*ways, "1. sing") == ["wash, dry"]  # no way has less than two steps
    assert induced(*ways, "1. wash\n2. rest\n3. store") == ["wash, dry, store"]
    assert induced("1. a\n2. b\n3. c", "1. c\n2. a") == ["c, a"]  # nothing recurs
    assert induced("1. sing") == []
    opened = "1. wash\n2. dry\n3. open\n4. store"
    assert induced(ways[0], opened) == ["wash, dry, store"]
    with pytest.raises(ExtractionError):
        write_by_rules("awm_other", None, ())


# Against slow references

ACTIONS = some.sampled_from(["wash it", "rinse it", "dry it"])
STEPS = some.lists(ACTIONS, min_size=1, max_size=3).map(tuple)
Steps = tuple[str, ...]


class Told(NamedTuple):
    """One episode of a stream, and what the writer would answer after it."""

    kind: str
    task: str
    success: bool
    actions: Steps
    answer: Answer


STREAMS = some.lists(
    some.builds(
        Told,
        some.sampled_from(["chores", "errands"]),
        some.sampled_from(["a cup", "a pan", "a pot", "A  cup"]),
        some.sampled_from([True, True, False]),
        some.lists(ACTIONS, min_size=1, max_size=4).map(tuple),
        some.none() | some.lists(STEPS, max_size=3),
    ),
    max_size=10,
)


@dataclass
class Known:
    """A kind as the reference has it: solved tasks with what was done, and workflows."""

    solved: dict[str, Steps] = field(default_factory=dict)
    living: list[Steps] = field(default_factory=list)
    born: dict[Steps, tuple[Steps, tuple[str, ...]]] = field(default_factory=dict)


def within(steps: Steps, actions: Steps) -> bool:
    if not steps:
        return True
    return any(
        action == steps[0] and within(steps[1:], actions[at + 1 :])
        for at, action in enumerate(actions)
    )


@examples(30)
@given(STREAMS)
def test_any_stream_has_the_workflows_and_counts_of_the_slow_reference(
    stream: list[Told],
) -> None:
    kinds = {"chores": Known(), "errands": Known()}
    counts: dict[tuple[str, Steps, tuple[str, ...]], list[int]] = {}
    with TemporaryDirectory() as folder:
        bank = new_bank(Path(folder) / "bank")
        for number, told in enumerate(stream):
            known = kinds[told.kind]
            for steps in known.living:
                if within(steps, told.actions):
                    counted = counts[told.kind, *known.born[steps]]
                    counted[0] += 1
                    counted[1] += told.success
            episode = attempt(
                told.task,
                *told.actions,
                kind=told.kind,
                success=told.success,
                number=number,
            )
            teach(bank, episode, Inducer(told.answer))
            template = told.task.lower().replace("  ", " ")
            if told.success and template not in known.solved:
                known.solved[template] = told.actions
                induce(known, told, counts)
            elif known.solved and not known.living:
                induce(known, told, counts)
        found = {
            (node.payload["group"], tuple(actions_in(node.payload["steps"]))): [
                bank.tree(WORKFLOWS).counts(node.id).recalls,
                bank.tree(WORKFLOWS).counts(node.id).successes,
            ]
            for node in bank.tree(WORKFLOWS)
        }
        assert found == {
            (kind, steps): counts[kind, *known.born[steps]]
            for kind, known in kinds.items()
            for steps in known.living
        }


def induce(
    known: Known, told: Told, counts: dict[tuple[str, Steps, tuple[str, ...]], list[int]]
) -> None:
    wanted = list(dict.fromkeys(tuple(each) for each in told.answer or () if len(each) > 1))
    if not wanted:
        return
    for steps in wanted:
        if steps not in known.living:
            known.born[steps] = steps, tuple(known.solved)
            counts.setdefault((told.kind, *known.born[steps]), [0, 0])
    known.living = wanted


SEQUENCES = some.lists(some.lists(some.sampled_from("abc"), max_size=8).map(tuple), max_size=5)


def in_order(steps: Steps, way: Steps) -> bool:
    return steps in set(combinations(way, len(steps)))


@given(SEQUENCES)
def test_common_steps_are_in_the_first_way_and_in_half_of_the_others(ways: list[Steps]) -> None:
    found = common_steps(ways)
    assert in_order(tuple(found), ways[0] if ways else ())
    assert all(2 * sum(step in way for way in ways[1:]) >= len(ways[1:]) for step in found)
    assert common_steps([*ways[:1], *ways[:1]]) == [step for way in ways[:1] for step in way]
