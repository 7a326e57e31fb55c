"""The commands that make a bank, feed it and let it learn; freezing and thawing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import (
    DeltaMemError,
    ExtractionError,
    LanguageModelError,
    RecordError,
    VectorError,
)
from deltamem_tui.memory.method import RulesExtractor
from deltamem_tui.trajectory.model import Trajectory
from tests.cli.support import RECORDS, SWEEP, Program, heat, state_of


def test_a_bank_is_made_filled_and_asked(empty: Program) -> None:
    made = empty.json("init", "kitchen", "--embedder", "hashing", "--domain", "alfworld")
    assert made.code == 0
    assert made.data["bank"] == "kitchen"
    assert made.data["embedder"]["model"] == "hashing"
    assert made.data["domain"] == "alfworld"
    assert made.data["parameters"]["task"]["tau_base"] == 0.66
    imported = empty.json("import", "kitchen", empty.log())
    assert imported.code == 0
    data = imported.data
    assert [data[key] for key in ("imported", "duplicates", "rejected")] == [4, 0, 0]
    assert data["trajectories"][0] == {
        "id": Bank.open(empty.bank).episodes.ids()[0],
        "task": RECORDS[0]["task"],
        "steps": 4,
        "success": True,
        "reward": 1.0,
        "outcome_source": "stated",
        "reason": None,
        "format": "native",
        "source": "log.jsonl",
        "position": "line 1",
        "reception": "imported",
    }
    learnt = empty.json("extract", "kitchen", "--extractor", "rules").data
    assert [learnt[key] for key in ("learned", "skipped", "waiting")] == [3, 0, 1]
    assert learnt["nodes_written"]["task"] == 3
    assert set(learnt["usage"]) == {"calls", "cached", "prompt_tokens", "completion_tokens", "cost"}
    assert empty.json("recall", "kitchen", RECORDS[1]["task"]).data["task"]["match"]
    assert verify(Bank.open(empty.bank)) == []


def test_a_dry_run_imports_nothing(program: Program) -> None:
    before = state_of(program.bank)
    log = program.log(heat("bread"), heat("apple"))
    answer = program("import", "kitchen", log, "--dry-run")
    assert answer.code == 0
    assert "imported\t1\n" in answer.out
    assert "nothing was written" in answer.err
    assert program.json("import", "kitchen", log, "--dry-run").data["dry_run"] is True
    assert state_of(program.bank) == before


def test_a_log_of_which_some_is_broken_is_a_partial_success(program: Program) -> None:
    log = program.folder / "broken.jsonl"
    Path(program.log(heat("bread"), {**SWEEP, "task": " "}, heat("soup"))).rename(log)
    log.write_bytes(log.read_bytes() + b'{"task": "cut\n')
    answer = program.json("import", "kitchen", str(log))
    assert answer.code == 3
    assert answer.document["status"] == "partial"
    assert (answer.data["imported"], answer.data["rejected"]) == (2, 2)
    errors = answer.document["errors"]
    assert [error["position"] for error in errors] == ["line 2", "line 4"]
    assert all(error["source"] == "broken.jsonl" for error in errors)
    assert errors[0]["message"] == "the episode has no task"
    again = program("import", "kitchen", str(log))
    assert again.code == 3
    assert again.err.count("error: broken.jsonl, line ") == 2


def test_extracting_a_few_at_a_time(program: Program) -> None:
    program("import", "kitchen", program.log(heat("bread"), heat("soup")))
    before = state_of(program.bank)
    dry = program.json("extract", "kitchen", "--extractor", "rules", "--dry-run").data
    assert (dry["would_learn"], dry["learned"], dry["waiting"]) == (2, 0, 3)
    assert state_of(program.bank) == before
    first = program.json("extract", "kitchen", "--extractor", "rules", "--limit", "1").data
    assert (first["learned"], first["waiting"]) == (1, 2)
    rest = program("extract", "kitchen", "--extractor", "rules")
    assert "episodes learnt\t1\n" in rest.out
    nothing = program("extract", "kitchen", "--extractor", "rules")
    assert nothing.code == 0
    assert "nothing can be learnt yet: 1 episode has no outcome" in nothing.err
    assert "`deltamem episode outcome BANK ID success|failure`" in nothing.err


@pytest.mark.parametrize("kind", [ExtractionError, VectorError, RecordError])
def test_an_episode_that_cannot_be_extracted_does_not_stop_the_others(
    program: Program, monkeypatch: pytest.MonkeyPatch, kind: type[DeltaMemError]
) -> None:
    program("import", "kitchen", program.log(heat("bread"), heat("soup")))
    write = RulesExtractor.write

    def stubborn(self: Any, purpose: str, trajectory: Trajectory, *rest: Any) -> Any:
        if "bread" in trajectory.task:
            raise kind("no bread today")
        return write(self, purpose, trajectory, *rest)

    monkeypatch.setattr(RulesExtractor, "write", stubborn)
    answer = program.json("extract", "kitchen", "--extractor", "rules")
    assert answer.code == 3
    assert (answer.data["learned"], answer.data["waiting"]) == (1, 2)
    (error,) = answer.document["errors"]
    assert error["message"] == "no bread today"
    assert error["source"] in Bank.open(program.bank).episodes.waiting()


@pytest.mark.parametrize(
    ("refusal", "code", "said"),
    [(LanguageModelError("no key"), 3, "no key"), (KeyboardInterrupt(), 130, "interrupted")],
    ids=["no key", "Ctrl+C"],
)
@pytest.mark.parametrize("before", [0, 1])
def test_what_was_learnt_before_everything_stopped_is_told(
    program: Program,
    monkeypatch: pytest.MonkeyPatch,
    refusal: BaseException,
    code: int,
    said: str,
    before: int,
) -> None:
    program("import", "kitchen", program.log(heat("bread"), heat("soup"), heat("cake")))
    write = RulesExtractor.write
    asked: set[str] = set()

    def stopped(self: Any, purpose: str, trajectory: Trajectory, *rest: Any) -> Any:
        asked.add(trajectory.id)
        if len(asked) > before:
            raise refusal
        return write(self, purpose, trajectory, *rest)

    monkeypatch.setattr(RulesExtractor, "write", stopped)
    answer = program.json("extract", "kitchen", "--extractor", "rules")
    assert len(asked) == before + 1
    assert answer.code == (code if before or code == 130 else 1)
    assert answer.document["status"] == ("partial" if before else "error")
    if before:
        assert (answer.data["learned"], answer.data["waiting"]) == (1, 3)
    else:
        assert answer.data is None
    assert [error["message"] for error in answer.document["errors"]] == [said]
    assert verify(Bank.open(program.bank)) == []


def test_consolidate_fuses_what_is_due(program: Program) -> None:
    program("parameters", "kitchen", "task.k_cons=none")
    nodes = program.json("tree", "kitchen", "--tree", "task").data["nodes"]
    residual = next(node for node in nodes if node["kind"] == "residual")
    bank = Bank.open(program.bank)
    with bank.writing() as batch:
        batch.count("task", residual["id"], hits=2)
        batch.log("learn")
    assert program.json("consolidate", "kitchen", "--extractor", "rules").data["chains"] == []
    program("parameters", "kitchen", "task.k_cons=2")
    due = program.json("consolidate", "kitchen", "--extractor", "rules", "--dry-run").data
    assert due["consolidated"] == 0
    assert [chain["node"] for chain in due["chains"]] == [residual["id"]]
    done = program.json("consolidate", "kitchen", "--extractor", "rules").data
    assert done["consolidated"] == 1
    root = program.json("show", "kitchen", done["chains"][0]["root"]).data["nodes"][0]
    assert (root["kind"], root["origin"]["nodes"][-1]) == ("root", residual["id"])
    answer = program("consolidate", "kitchen", "--extractor", "rules")
    assert (answer.out, answer.err) == ("", "nothing is due\n")
    assert verify(Bank.open(program.bank)) == []


def test_parameters_are_shown_and_changed(program: Program) -> None:
    answer = program(
        "parameters", "kitchen", "env.enabled=false", "task.k_cons=none", "task.recall=paper"
    )
    assert answer.code == 0
    assert {"env.enabled\tfalse", "task.k_cons\tnone"} <= {*answer.out.splitlines()}
    assert "task.recall\tpaper\n" in answer.out
    assert "env.recall" not in answer.out  # it has no use for it
    shown = program.json("parameters", "kitchen").data["parameters"]
    assert shown["env"]["enabled"] is False
    assert shown["task"]["k_cons"] is None
    assert [shown[tree]["recall"] for tree in ("task", "env")] == ["paper", "kind"]
    before = state_of(program.bank)
    program("parameters", "kitchen", "env.enabled=false")  # as it is already
    assert state_of(program.bank) == before


def test_freezing_and_thawing(program: Program) -> None:
    frozen = program.json("freeze", "kitchen")
    assert frozen.code == 0
    assert frozen.data["frozen"] is True
    assert "task.nodes.jsonl" in frozen.data["digests"]
    assert program.json("info", "kitchen").data["frozen"] is True
    assert program("verify", "kitchen").err.startswith("kitchen is sound\n")
    again = program("freeze", "kitchen")
    assert again.code == 1
    assert "the bank is frozen" in again.error
    assert program("unfreeze", "kitchen").err == "kitchen can be written again\n"
    assert program("unfreeze", "kitchen").err == "kitchen was not frozen\n"
    assert program("parameters", "kitchen", "task.d_max=7").code == 0


@pytest.mark.parametrize("named", ["shop", "package/memory_banks/shop"])
@pytest.mark.parametrize(
    "call",
    [
        ("unfreeze",),
        ("freeze",),
        ("parameters", "task.d_max=9"),
        ("extract", "--extractor", "rules"),
        ("consolidate", "--extractor", "rules"),
    ],
    ids=lambda call: str(call[0]),
)
def test_a_shipped_bank_is_read_only(program: Program, named: str, call: tuple[str, ...]) -> None:
    shipped = program.folder / "package" / "memory_banks" / "shop"
    shutil.copytree(program.bank, shipped)
    before = state_of(shipped)
    command, *rest = call
    answer = program(command, named, *rest)
    assert answer.code == 1
    assert "the bank came with the package and is read only" in answer.error
    assert "package/memory_banks/shop --unfreeze` makes one" in answer.error
    assert state_of(shipped) == before


def test_a_shipped_bank_is_written_where_its_folder_is_the_banks_folder(program: Program) -> None:
    shipped = program.folder / "package" / "memory_banks"
    shutil.copytree(program.bank, shipped / "shop")
    assert program("parameters", "shop", "task.d_max=9", "--banks", str(shipped)).code == 0
    assert program("parameters", "kitchen", "task.d_max=9").code == 0  # one's own, as ever
