"""A bank of lessons goes every way that a bank goes, by the commands, in the method's own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.memory.reasoningbank.definition import LESSONS
from tests.cli.support import Program, heat, settle_in


@pytest.fixture
def program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Program:
    settle_in(tmp_path, monkeypatch)
    (tmp_path / "memory_banks").mkdir()
    made = Program(tmp_path, capsys)
    for name in ("kitchen", "other"):
        assert made("init", name, "--method", "reasoningbank", "--embedder", "hashing").code == 0
    assert made("import", "kitchen", made.log(heat("apple"), heat("egg", success=False))).code == 0
    assert made("import", "other", made.log(heat("soup"), heat("apple"))).code == 0
    for name in ("kitchen", "other"):
        assert made("extract", name, "--extractor", "rules").code == 0
    return made


def entries(program: Program, bank: str) -> list[str]:
    nodes = program.json("tree", bank).data["nodes"]
    return [each["description"] for each in nodes if each["parent"] is None]


def test_lessons_are_recalled_with_their_entry_or_by_themselves(program: Program) -> None:
    answer = program.json("recall", "kitchen", "heat an egg", "--explain").data
    found = answer[LESSONS]
    assert found["rule"] == "entry"
    entry, lesson = found["chain"]
    assert (entry["label"], lesson["parent"]) == ("failure", entry["id"])
    recalled = [each for each in found["candidates"] if each["recalled"]]
    assert answer["context"].count("### Lesson (learnt from a failure): ") == len(recalled)
    assert "say whether one of the lessons applies" in answer["context"]
    assert len(found["candidates"]) > len(recalled)
    assert "an entry's lessons come with it" in program("recall", "kitchen", "egg", "--explain").out
    assert program("parameters", "kitchen", "by=lesson").code == 0
    answer = program.json("recall", "kitchen", "heat an egg", "--explain").data
    assert answer["context"].count("### Lesson") == 1
    assert answer[LESSONS]["rule"] == "lesson"
    assert {each["rule"] for each in answer[LESSONS]["candidates"]} <= {"task", "description"}
    assert program("parameters", "kitchen", "by=nothing").code != 0


def test_every_face_has_the_method_s_words(program: Program) -> None:
    assert len(entries(program, "kitchen")) == 2
    told = program.json("info", "kitchen").data
    assert (told[LESSONS]["roots"], told["learnt"]) == (2, 2)
    assert told["parameters"].items() >= {"k": 1, "by": "entry", "trials": 1}.items()
    (first, *_) = program.json("search", "kitchen", "egg").data["nodes"]
    (shown,) = program.json("show", "kitchen", first["node"]["id"]).data["nodes"]
    assert shown["content"]
    for command in ("tree", "info", "verify"):
        assert program(command, "kitchen").code == 0
    for form, path in (("archive", "kitchen.deltamem"), ("markdown", "kitchen.md"), ("jsonl", "x")):
        assert program("export", "kitchen", "--as", form, "-o", path).code == 0
    document = (program.folder / "kitchen.md").read_text()
    assert "## Lessons\n" in document
    assert "Lesson:\n" in document
    assert program("install", "kitchen.deltamem", "--name", "pantry").code == 0
    assert entries(program, "pantry") == entries(program, "kitchen")


def test_two_banks_are_compared_and_merged(program: Program) -> None:
    assert program.json("diff", "kitchen", "other").data["trees"][LESSONS]["added"]
    assert program("merge", "kitchen", "other", "-o", "both").code == 0
    assert len(entries(program, "both")) == 3
    assert program("verify", "both").code == 0
