"""Recall: records drawn by chance, what is built, and the context."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.memory.engine import recall
from deltamem_tui.memory.memp.definition import PROCEDURES
from tests.memory.memp.support import (
    SaidWriter,
    WordEmbedder,
    attempt,
    new_bank,
    numbered,
    records,
    shown,
    teach,
)

HOT = "put a hot apple in fridge."


def grown(path: Path, count: int, **numbers: object) -> Bank:
    bank = new_bank(path, **numbers)
    for number in range(count):
        teach(bank, numbered(attempt(HOT, action=str(number)), number))
    return bank


def shown_of(bank: Bank, task: str, count: int) -> list[Node]:
    found = recall(bank, task, embedder=WordEmbedder(), candidates=count)[PROCEDURES]
    return [each.node for each in found.candidates] if found else []


def test_chance_is_the_same_for_the_same_bank_and_question(tmp_path: Path) -> None:
    bank = grown(tmp_path / "one", 8, key="random", k=3)
    draws = {
        task: [each.id for each in shown(bank, task)]
        for task in (HOT, "put a cup in shelf.", "put a cup in fridge.", "put a lamp in fridge.")
    }
    again = grown(tmp_path / "two", 8, key="random", k=3)
    assert draws == {task: [each.id for each in shown(again, task)] for task in draws}
    assert all(len(set(drawn)) == 3 for drawn in draws.values())
    assert len({tuple(drawn) for drawn in draws.values()}) > 1
    assert [each.id for each in shown_of(bank, HOT, 8)][:3] == draws[HOT]
    found = recall(bank, HOT, embedder=WordEmbedder(), candidates=99)[PROCEDURES]
    assert found is not None
    assert {each.node.id for each in found.candidates} == {each.id for each in records(bank)}


def test_a_script_has_the_present_tasks_names_where_it_is_of_its_kind(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank", k=2)
    wanted = "put a hot cup in shelf."
    teach(bank, attempt("put a apple in shelf.", action="take [object]"))
    teach(bank, attempt(HOT, action="take [object]"))
    context = recall(bank, wanted, embedder=WordEmbedder()).context
    assert f"Task: {HOT}\nHow:\ntake cup" in context
    assert "Task: put a apple in shelf.\nHow:\ntake apple" in context


@pytest.mark.parametrize(
    ("build", "asked", "texts"),
    [
        ("trajectory", ["memp_facts"], ("", "Action: 0\nObservation: done\nAction: look")),
        ("script", ["memp_script", "memp_facts"], ("0", "")),
    ],
)
def test_a_record_keeps_what_is_built(
    tmp_path: Path, build: str, asked: list[str], texts: tuple[str, str]
) -> None:
    bank, writer = new_bank(tmp_path / "bank", build=build), SaidWriter()
    teach(bank, numbered(attempt(HOT, action="0"), 0), writer)
    (record,) = records(bank)
    assert writer.asked == asked
    script, trajectory = record.payload["script"], record.payload["trajectory"]
    assert (script, trajectory.rpartition("\n")[0]) == texts
    context = recall(bank, HOT, embedder=WordEmbedder()).context
    assert ("How:" in context, "What was done:" in context) == (bool(script), bool(trajectory))
    assert f"Task: {HOT}" in context
