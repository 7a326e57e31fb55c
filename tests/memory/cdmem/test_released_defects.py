"""What the released code of CDMem gets wrong, a test each that fails on that behaviour."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.cdmem import definition as uses
from deltamem_tui.memory.cdmem.definition import ENV_INSIGHTS, ENVIRONMENTS, TASK_INSIGHTS
from deltamem_tui.memory.cdmem.definition import TASKS as SHORT
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.memory.cdmem.support import ROOMS, TASKS, EchoWriter, episode, new_bank
from tests.memory.writers.rules.test_generated import FILES
from tests.memory.writers.rules.test_generated import episodes as generated

MUG, PEN, EGG = TASKS


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return new_bank(tmp_path / "bank", batch=1)


def context(bank: Bank, task: str, room: str) -> str:
    return recall(bank, task, episode(task, room).environment).context


def test_locations_are_shown_and_a_failure_updates_them(bank: Bank) -> None:
    def seen(place: str, *, success: bool) -> Trajectory:
        step = Step(f"go to {place}", f"On the {place}, you see a mug 1.")
        lost = episode(MUG, ROOMS[0], success=success)
        return structs.replace(lost, steps=(step,))

    learn(bank, seen("shelf 1", success=True))
    assert "shelf 1: mug 1" in context(bank, EGG, ROOMS[0])
    learn(bank, seen("desk 2", success=False))
    assert "desk 2: mug 1" in context(bank, EGG, ROOMS[0])
    assert "shelf 1: mug 1" not in context(bank, EGG, ROOMS[0])


@pytest.mark.parametrize("kind", ["SEARCH", "a Search failure", "search."])
def test_a_reflection_is_kept_however_its_type_is_written(bank: Bank, kind: str) -> None:
    class Shouting(EchoWriter):
        def write(self, purpose, *rest):  # type: ignore[no-untyped-def]
            found = super().write(purpose, *rest)
            if purpose == uses.FAILURE:
                return dataclasses.replace(
                    found, payload={**(found.payload or {}), "failure": kind}
                )
            return found

    learn(bank, episode(MUG, ROOMS[0], success=False), Shouting())
    shown = context(bank, MUG, ROOMS[0])
    assert "- search: lost" in shown
    assert "Next time: look" in shown


@pytest.mark.parametrize(("size", "batches"), [(1, 6), (2, 3), (3, 2), (4, 1), (7, 0)])
def test_a_batch_is_exactly_b_new_members(tmp_path: Path, size: int, batches: int) -> None:
    bank, writer = new_bank(tmp_path / "bank", batch=size), EchoWriter()
    for at in range(6):
        learn(bank, episode(MUG, ROOMS[at % 2], steps=2, at=at), writer)
    assert [len(batch) for _, batch, _ in writer.batches] == [size] * batches
    read = [text for _, batch, _ in writer.batches for text in batch]
    assert len(set(read)) <= len(read) == size * batches


def test_exemplars_are_not_drawn_but_ranked_the_same_at_every_question(bank: Bank) -> None:
    same = episode(MUG, ROOMS[0], 3, at=1)
    alike = [episode(PEN, ROOMS[0], steps, at=at) for at, steps in ((2, 2), (3, 1), (4, 1))]
    for each in (same, *alike):
        learn(bank, each)
    asked = [recall(bank, MUG, same.environment)[SHORT] for _ in range(3)]
    sources = [[chain[-1].origin.trajectory for chain in each.chains] for each in asked if each]
    assert sources == [[same.id, alike[2].id]] * 3


def test_an_environment_is_a_set_of_receptacles_not_a_sentence(bank: Bank) -> None:
    learn(bank, episode(MUG, ROOMS[0], success=False), EchoWriter())
    learn(bank, episode(MUG, ROOMS[1], success=False, at=1), EchoWriter())
    assert ROOMS[0] != ROOMS[1]
    assert sum(node.depth == 2 for node in bank.tree(ENVIRONMENTS)) == 1
    assert context(bank, MUG, ROOMS[1]).count("- search: lost") == 2


def test_env_insights_come_from_the_env_index_across_kinds_of_task(tmp_path: Path) -> None:
    bank, writer = new_bank(tmp_path / "bank", batch=2), EchoWriter()
    learn(bank, episode(MUG, ROOMS[0]), writer)
    learn(bank, episode(EGG, ROOMS[2], at=1), writer)
    assert writer.batches == [(uses.FUNCTIONS, ("lamp: shines 0", "lamp: shines 1"), ())]
    assert len(bank.tree(TASK_INSIGHTS)) == 0
    found = recall(bank, PEN, episode(PEN, ROOMS[1]).environment)[ENV_INSIGHTS]
    assert found
    assert len(found.chains) == 2


def test_short_term_memories_are_written_from_all_that_the_paper_names(bank: Bank) -> None:
    writer = EchoWriter()
    first = learn(bank, episode(MUG, ROOMS[0], success=False), writer).trees[SHORT].node
    learn(bank, episode(MUG, ROOMS[1], at=1), writer)
    learn(bank, episode(MUG, ROOMS[1], success=False, at=2), writer)
    asked = [each for each in writer.asked if each[0] in (uses.SHORTCUT, uses.FAILURE)]
    assert first
    assert [len(notes) for _, notes, _ in asked] == [0, 1, 2]
    assert asked[1][1] == (first.id,)
    assert set(asked[1][2]) == {"expert_actions"}
    assert asked[2][2]["env_memory"] == "all 0\nmug 1: desk 1"
    assert asked[2][2]["locations"] == "mug 1: desk 2"


@pytest.mark.skipif(not FILES["scienceworld"].exists(), reason="the samples are not here")
def test_scienceworld_has_exemplars_of_every_kind_that_was_solved(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank", "scienceworld", batch=1000)
    learnt = list(generated("scienceworld"))[::12]
    for each in learnt:
        learn(bank, each)
    solved = [each for each in learnt if each.outcome.success]
    assert len(solved) > 15
    for each in solved:
        found = recall(bank, each.task, each.environment)[SHORT]
        assert found
        assert any(chain[-1].label == "success" for chain in found.chains)


def test_what_cannot_be_solved_teaches_no_exemplar(bank: Bank) -> None:
    lost = episode(MUG, ROOMS[0]).with_outcome(Outcome(False, 0.0, "stated"))
    learn(bank, lost)
    assert "### Example" not in context(bank, MUG, ROOMS[0])
