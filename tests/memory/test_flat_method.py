"""A method that the package does not know goes every way that DeltaMem goes, by the commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import UsageError
from deltamem_tui.memory import editing
from deltamem_tui.memory import method as methods
from tests.cli.support import Program, heat, settle_in
from tests.memory import flat_method
from tests.memory.flat_method import NOTES


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods, "PLACES", {**methods.PLACES})
    flat_method.register()


@pytest.fixture
def program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Program:
    """The program, with a flat bank that learnt two notes and a failure."""
    settle_in(tmp_path, monkeypatch)
    (tmp_path / "memory_banks").mkdir()
    made = Program(tmp_path, capsys)
    assert made("init", "kitchen", "--method", "flat", "--embedder", "hashing").code == 0
    log = made.log(heat("apple"), heat("egg"), heat("bread", success=False))
    assert made("import", "kitchen", log).code == 0
    learnt = made.json("extract", "kitchen", "--extractor", "rules")
    assert (learnt.data["learned"], learnt.data["skipped"]) == (3, 1)
    assert learnt.data["nodes_written"] == {NOTES: 2}
    return made


def notes_of(program: Program, bank: str) -> list[str]:
    return [each["task"] for each in program.json("tree", bank).data["nodes"]]


def test_it_is_offered_beside_the_package_s_own(program: Program) -> None:
    first, *_, last = methods.names()
    assert (first, last) == ("deltamem", "flat")
    refused = program("init", "other", "--method", "flta")
    assert refused.code == 2
    assert "did you mean flat?" in refused.error


def test_what_it_learnt_is_recalled_and_explained(program: Program) -> None:
    answer = program.json("recall", "kitchen", "heat an apple", "--explain").data
    assert "### Note\nFor: Your task is to: heat some apple" in answer["context"]
    assert "Do: put apple 1 in/on table 1" in answer["context"]
    assert len(answer[NOTES]["candidates"]) == 2
    assert program("parameters", "kitchen", "k=1").code == 0
    answer = program.json("recall", "kitchen", "heat an apple").data
    assert answer["context"].count("### Note") == 1
    assert program("parameters", "kitchen", "k=0").code != 0


def test_it_is_listed_searched_and_shown(program: Program) -> None:
    assert len(notes_of(program, "kitchen")) == 2
    (first, _) = program.json("search", "kitchen", "egg").data["nodes"]
    assert "egg" in first["node"]["task"]
    (shown,) = program.json("show", "kitchen", first["node"]["id"]).data["nodes"]
    assert shown["advice"] == "put egg 1 in/on table 1"
    told = program.json("info", "kitchen").data
    assert (told[NOTES]["nodes"], told["learnt"], told["parameters"]["k"]) == (2, 3, 2)
    for command in (("tree", "kitchen"), ("show", "kitchen", shown["id"]), ("info", "kitchen")):
        assert program(*command).code == 0
    assert program("search", "kitchen", "egg").code == 0
    assert program("chain", "kitchen", shown["id"]).code == 0


def test_it_is_verified_frozen_exported_and_installed(program: Program) -> None:
    assert program("freeze", "kitchen").code == 0
    assert program("verify", "kitchen").code == 0
    for form, path in (("archive", "kitchen.deltamem"), ("skills", "skills")):
        assert program("export", "kitchen", "--as", form, "-o", path).code == 0
    assert program("install", "kitchen.deltamem", "--name", "pantry").code == 0
    assert notes_of(program, "pantry") == notes_of(program, "kitchen")
    assert Bank.open(program.folder / "memory_banks" / "pantry").manifest.method == "flat"


def test_two_of_them_are_compared_and_merged(program: Program) -> None:
    program("init", "other", "--method", "flat", "--embedder", "hashing")
    program("import", "other", program.log(heat("soup"), heat("egg")))
    program("extract", "other", "--extractor", "rules")
    found = program.json("diff", "kitchen", "other")
    assert len(found.data["trees"][NOTES]["added"]) == 1
    assert program("merge", "kitchen", "other", "-o", "both").code == 0
    assert len(notes_of(program, "both")) == 3
    assert program("verify", "both").code == 0


def test_a_person_edits_its_notes(program: Program) -> None:
    bank = Bank.open(program.bank)
    node = next(iter(bank.tree(NOTES)))
    change = editing.edit(bank, NOTES, node, {**node.payload, "advice": "eat it"})
    assert change.nodes[0].payload["advice"] == "eat it"
    assert editing.undo(bank).nodes[0].payload == node.payload


def test_a_bank_whose_method_is_not_here_says_so(program: Program) -> None:
    methods.PLACES.pop("flat")
    answer = program("recall", "kitchen", "heat an apple")
    assert "there is no method 'flat'" in answer.error
    assert len(notes_of(program, "kitchen")) == 2  # what it holds can still be read


def test_an_unknown_method_names_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"one of deltamem, .*flat"):
        methods.method_named("no-such-method")
