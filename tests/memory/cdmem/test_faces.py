"""CDMem by the commands: everything that can be asked of a bank reads in its words."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.cdmem.definition import COLLECTIONS, ENVIRONMENTS
from deltamem_tui.memory.cdmem.definition import TASKS as SHORT
from tests.cli.support import Program, heat, settle_in

LOG = [heat(each, success=at % 3 < 2) for at, each in enumerate(("apple", "egg", "mug", "cup"))]


@pytest.fixture
def program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Program:
    settle_in(tmp_path, monkeypatch)
    (tmp_path / "memory_banks").mkdir()
    made = Program(tmp_path, capsys)
    for name, log in (("kitchen", LOG), ("other", [*LOG[1:], heat("pan")])):
        init = ("--method", "cdmem", "--embedder", "hashing", "--domain", "alfworld")
        assert made("init", name, *init).code == 0
        assert made("parameters", name, "batch=2").code == 0
        assert made("import", name, made.log(*log)).code == 0
        assert made("extract", name, "--extractor", "rules").code == 0
    return made


def test_commands_read_in_its_words(program: Program) -> None:
    nodes = program.json("tree", "kitchen").data["nodes"]
    assert {each["tree"] for each in nodes} == set(COLLECTIONS)
    (memory, *_) = [each for each in nodes if (each["tree"], each["depth"]) == (SHORT, 3)]
    assert program("show", "kitchen", memory["id"]).code == 0
    assert program.json("search", "kitchen", "microwave").data["nodes"]
    answer = program.json(
        "recall", "kitchen", LOG[0]["task"].replace("apple", "bread"), "--explain"
    )
    assert answer.data["task_insights"]["rule"] == "insight"
    assert "### Plans for this kind of task" in answer.data["context"]
    assert program.json("info", "kitchen").data["parameters"]["batch"] == 2
    assert program.json("consolidate", "kitchen", "--extractor", "rules").data["chains"] == []


def test_it_travels_and_is_merged_where_kinds_are_the_same(program: Program) -> None:
    assert program("verify", "kitchen", "--vectors").code == 0
    for form in ("archive", "markdown", "jsonl"):
        assert program("export", "kitchen", "--as", form, "-o", f"out.{form}").code == 0
    assert program("install", "out.archive", "--name", "again").code == 0
    assert program("diff", "kitchen", "other").code in (0, 1)
    assert program("merge", "kitchen", "other", "-o", "both").code == 0
    assert program("verify", "both").code == 0
    bank = Bank.open(program.folder / "memory_banks" / "both")
    roots = [node for node in bank.tree(SHORT) if node.depth == 1]
    assert len(roots) == 2  # one kind of task: its successes and its failures
    assert sum(node.depth == 1 for node in bank.tree(ENVIRONMENTS)) == 1


def test_a_budget_shortens_examples_and_drops_none(program: Program) -> None:
    task, contexts = LOG[0]["task"], {}
    for budget in ("none", "1"):
        assert program("parameters", "kitchen", f"budget={budget}").code == 0
        contexts[budget] = program.json("recall", "kitchen", task).data["context"]
    whole, short = contexts["none"].splitlines(), contexts["1"].splitlines()
    assert len(short) < len(whole)
    for lines in (whole, short):
        assert sum(line.startswith("### Example") for line in lines) == 2
