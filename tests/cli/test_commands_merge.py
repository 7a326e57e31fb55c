"""`merge` and `diff`, and `diff` at work inside git."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory import editing
from tests.cli.support import Program, heat, state_of


@pytest.fixture
def two(program: Program) -> Program:
    """Beside `kitchen`, a bank `annex` that learnt something else."""
    calls = (
        ("init", "annex", "--embedder", "hashing"),
        ("parameters", "annex", "task.tau_base=0.5", "env.tau_base=0.5", "task.k_cons=1"),
        ("import", "annex", program.log(heat("plate"), heat("egg"))),
        ("extract", "annex", "--extractor", "rules"),
    )
    for call in calls:
        assert program(*call).code == 0
    return program


@pytest.fixture
def annex(two: Program) -> Path:
    return two.bank.with_name("annex")


def test_banks_of_different_domains_are_merged_only_if_that_is_asked_for(two: Program) -> None:
    for name in ("alfworld", "webshop"):
        assert two("init", name, "--embedder", "hashing", "--domain", name).code == 0
    refused = two.json("merge", "alfworld", "kitchen", "webshop", "--dry-run")
    assert refused.code == 2
    assert "alfworld, webshop" in refused.document["errors"][0]["message"]
    assert two("merge", "alfworld", "webshop", "--across-domains", "--dry-run").code == 0
    assert two("merge", "alfworld", "kitchen", "--dry-run").code == 0


def test_merging_into_a_bank_and_again(two: Program) -> None:
    first = two.json("merge", "kitchen", "annex").data
    assert first["changed"]
    assert [each["name"] for each in first["from"]] == ["kitchen", "annex"]
    assert first["episodes"]["added"] == 1
    before = state_of(two.bank)
    again = two("merge", "kitchen", "annex")
    assert again.code == 0
    assert again.err == "kitchen holds all of it already; nothing was changed\n"
    assert state_of(two.bank) == before
    assert two("verify", "kitchen").code == 0


def test_merging_into_a_new_bank(two: Program) -> None:
    before = state_of(two.bank)
    answer = two("merge", "kitchen", "annex", "-o", "both")
    assert answer.code == 0, answer.err
    assert state_of(two.bank) == before
    found = two.json("diff", "kitchen", "both").data
    new = {node.id for node in Bank.open(two.bank.with_name("annex")).tree("task")}
    old = {node.id for node in Bank.open(two.bank).tree("task")}
    assert {each["id"] for each in found["trees"]["task"]["added"]} == new - old
    assert found["trees"]["task"]["removed"] == []
    assert "something is here already" in two("merge", "kitchen", "annex", "-o", "both").error


def test_a_dry_run_prints_the_plan_and_writes_nothing(two: Program) -> None:
    before = state_of(two.bank)
    answer = two("merge", "kitchen", "annex", "--dry-run")
    assert answer.err == "dry run: nothing was written\n"
    assert "nodes added" in answer.out
    new = next(Bank.open(two.bank.with_name("annex")).tree("task").roots())
    assert f"+ task {new.id[:8]} ● " in answer.out
    assert "Your task is to: heat some plate and put it on the table." in answer.out
    planned = two.json("merge", "kitchen", "annex", "--dry-run").data
    assert state_of(two.bank) == before
    assert two("merge", "kitchen", "annex", "-o", "both").code == 0
    found = two.json("diff", "kitchen", "both").data
    for name in ("task", "env"):
        added = {each["id"] for each in found["trees"][name]["added"]}
        assert added == set(planned["trees"][name]["added"])
    assert planned["trees"]["task"]["added"]


def test_a_conflict_and_a_disagreement_are_shown_with_both_texts(two: Program, annex: Path) -> None:
    shutil.rmtree(annex)
    shutil.copytree(two.bank, annex)
    for path, words in ((two.bank, "MINE"), (annex, "THEIRS")):
        bank = Bank.open(path)
        root = next(bank.tree("task").roots())
        with bank.writing() as batch:
            said = {**root.payload, "activation_condition": words}
            batch.revise_node("task", structs.replace(root, payload=said))
            batch.log("edit")
    assert two("parameters", "annex", "task.d_max=4").code == 0
    answer = two("merge", "kitchen", "annex", "--dry-run")
    assert "was changed in two banks; the first stays" in answer.out
    assert "MINE" in answer.out
    assert "THEIRS" in answer.out
    assert "task.d_max: 5 stays; annex says 4" in answer.out
    data = two.json("merge", "kitchen", "annex", "--dry-run").data
    (conflict,) = data["conflicts"]
    both = {conflict[which]["activation_condition"] for which in ("kept", "lost")}
    assert both == {"MINE", "THEIRS"}


def test_what_merge_refuses(two: Program) -> None:
    assert two("merge", "kitchen").code == 2
    assert "no bank is called" in two("merge", "kitchen", "nowhere").error
    assert two("freeze", "kitchen").code == 0
    assert "`deltamem bank unfreeze`" in two("merge", "kitchen", "annex").error
    assert two("merge", "annex", "kitchen").code == 0


def test_a_difference_is_shown_by_signs(two: Program) -> None:
    bank = Bank.open(two.bank)
    root = next(bank.tree("task").roots())
    shutil.copytree(two.bank, two.bank.with_name("before"))
    quickly = root.payload["execution_procedure"] + " [b]quickly"
    said = {**root.payload, "execution_procedure": quickly}
    editing.edit(bank, "task", root, said)
    answer = two("diff", "before", "kitchen")
    assert answer.code == 0
    first, *_ = answer.out.splitlines()
    assert first.startswith(f"~ task {root.id[:8]}")
    assert "{+ [b]quickly+}" in answer.out
    assert two("diff", "before", "kitchen", "--exit-code").code == 1
    same = two("diff", "kitchen", "kitchen", "--exit-code")
    assert (same.code, same.out, same.err) == (0, "", "nothing differs\n")
    document = two.json("diff", "before", "kitchen", "--exit-code")
    assert (document.code, document.data["different"]) == (1, True)
    (changed,) = document.data["trees"]["task"]["changed"]
    assert [each["name"] for each in changed["fields"]] == ["execution_procedure"]
