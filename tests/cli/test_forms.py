"""A bank as what other programs read, and skills as a bank again."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.deltamem.definition import COLLECTIONS
from tests.cli.support import Program, state_of

SECRET = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
FORMS = {"archive": "kitchen.deltamem", "skills": "kitchen-skills"}


def nodes_of(path: Path) -> dict[str, list[tuple[object, ...]]]:
    bank = Bank.open(path)
    return {
        name: [(node.id, node.parent, node.label, node.payload) for node in bank.tree(name)]
        for name in COLLECTIONS
    }


@pytest.mark.parametrize(("form", "name"), FORMS.items())
def test_every_form_is_written_once_and_anew_on_request(
    program: Program, form: str, name: str
) -> None:
    before = state_of(program.bank)
    answer = program("export", "kitchen", "--as", form)
    assert answer.code == 0, answer.err
    assert name in answer.out
    assert (program.folder / name).exists()
    assert program("export", "kitchen", "--as", form).code == 1
    if form == "archive":
        assert program("export", "kitchen", "--replace").out == answer.out
    assert state_of(program.bank) == before


@pytest.mark.parametrize(("form", "name"), FORMS.items())
def test_a_secret_leaves_in_no_form(program: Program, form: str, name: str) -> None:
    path = program.bank / "bank.json"
    path.write_text(path.read_text().replace("hot food", f"hot food {SECRET}"))
    answer = program("export", "kitchen", "--as", form)
    assert answer.code == 1
    assert "bank.json, description: holds a secret: github token" in answer.err
    assert "--allow-secrets" in answer.err
    assert SECRET not in answer.err + answer.out
    document = program.json("export", "kitchen", "--as", form).document
    assert document["status"] == "error"
    assert document["data"]["secrets"] == [
        {"place": "bank.json", "record": "", "field": "description", "kind": "github token"}
    ]
    assert not (program.folder / name).exists()
    assert program("export", "kitchen", "--as", form, "--allow-secrets").code == 0


@pytest.mark.parametrize("option", [("--episodes",), ("--journal",), ("--builder", "Ada")])
def test_what_is_for_archives_only(program: Program, option: tuple[str, ...]) -> None:
    answer = program("export", "kitchen", "--as", "skills", *option)
    assert answer.code == 2
    assert "are for archives" in answer.error


def test_skills_are_a_bank_again(program: Program) -> None:
    program("export", "kitchen", "--as", "skills")
    dry = program.json("install", "kitchen-skills", "--name", "canteen", "--dry-run").data
    path = program.bank.with_name("canteen")
    assert not path.exists()
    answer = program.json("install", "kitchen-skills", "--name", "canteen")
    assert answer.data["task_nodes"] == dry["task_nodes"] > 0
    assert nodes_of(path) == nodes_of(program.bank)
    assert Bank.open(path).frozen
    assert "is sound" in program("verify", "canteen").err
    plain = program("install", "kitchen-skills", "--name", "canteen", "--replace")
    assert "what was changed in them is not taken in" in plain.err
    again = program("export", "kitchen", "--as", "skills", "--replace")
    assert "a folder of skills is not written over" in again.error
