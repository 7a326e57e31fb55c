"""The commands speak of a bank as its method does, whichever it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.method import display_of, names
from tests.cli.support import Program, heat, settle_in


@pytest.fixture
def program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Program:
    settle_in(tmp_path, monkeypatch)
    (tmp_path / "memory_banks").mkdir()
    return Program(tmp_path, capsys)


def filled(program: Program, method: str, name: str = "kitchen", *things: str) -> Bank:
    """A bank that learnt two successes and a failure."""
    made = program("init", name, "--method", method, "--embedder", "hashing")
    assert made.code == 0
    assert "thresholds" not in made.err or method == "deltamem"
    first, second = things or ("apple", "egg")
    log = program.log(heat(first), heat(second), heat("bread", success=False))
    assert program("import", name, log, "--domain", "alfworld").code == 0
    return Bank.open(program.folder / "memory_banks" / name)


@pytest.mark.parametrize("method", names())
def test_what_is_learnt_is_counted_whole_and_called_by_its_name(
    program: Program, method: str
) -> None:
    bank = filled(program, method)
    learnt = program.json("extract", "kitchen", "--extractor", "rules", "--limit", "2").data
    answer = program("extract", "kitchen", "--extractor", "rules")
    bank.refresh()
    for name, tree in bank.trees.items():
        found = re.search(rf"nodes written, {display_of(bank, name).title}\W+(\d+)", answer.out)
        assert found
        written = learnt["nodes_written"][name] + int(found[1])
        assert len(tree) <= written <= len(tree) + tree.dead.sum()
    assert "consolidated" not in answer.out
    for writer in ([], ["--extractor", "rules"]):
        assert program("consolidate", "kitchen", *writer).err == "nothing is due\n"


@pytest.mark.parametrize("method", names())
def test_scores_have_a_penalty_where_there_is_one(program: Program, method: str) -> None:
    bank = filled(program, method)
    program("extract", "kitchen", "--extractor", "rules")
    penalised = any(display_of(bank, name).layered for name in bank.trees)
    explained = program("recall", "kitchen", "heat some egg and put it in table.", "--explain")
    assert ("penalty" in explained.out) == penalised
