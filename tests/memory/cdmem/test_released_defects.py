"""What the released code of CDMem gets wrong, a test each that fails on that behaviour."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.cdmem import definition as uses
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.trajectory.model import Step, Trajectory
from tests.memory.cdmem.support import ROOMS, TASKS, EchoWriter, episode, new_bank

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
