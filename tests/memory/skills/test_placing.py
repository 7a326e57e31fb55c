"""An export over an earlier one: it is replaced whole, and nothing else ever goes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Origin
from deltamem_tui.errors import BankExistsError
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.memory.transfer.skills import write_skills
from tests.memory.skills.grown import Sprout, grow, grown_bank

OLD = [
    Sprout("task", "success", Payload("boil water", "heat it", "it boils"), None, False, Origin()),
    Sprout("task", "success", Payload("boil lead", "use a furnace"), 0, False, Origin()),
    Sprout("task", "success", Payload("bake bread", "knead"), None, False, Origin()),
    Sprout("env", "success", Payload("the kitchen", "a stove"), None, False, Origin()),
]
MORE = [Sprout("task", "success", Payload("wash up", "use soap"), None, False, Origin())]


@pytest.fixture
def bank() -> Iterator[Bank]:
    with grown_bank(OLD) as (grown, _):
        yield grown


@pytest.fixture
def folder(bank: Bank, tmp_path: Path) -> Path:
    """An export, to which a bank has learnt one skill more and lost one with all below it."""
    written = tmp_path / "skills"
    write_skills(bank, written)
    grow(bank, MORE)
    with bank.writing() as batch:
        for node in reversed(list(bank.tree("task"))):
            if "boil" in node.payload["activation_condition"]:
                batch.revise_node("task", structs.replace(node, deleted=True))
        batch.log("forget")
    return written


def contents(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): None if path.is_dir() else path.read_bytes()
        for path in folder.rglob("*")
    }


def fresh(bank: Bank, folder: Path) -> dict[str, bytes | None]:
    """What an export into a new folder writes."""
    write_skills(bank, folder)
    return contents(folder)


def test_an_earlier_export_is_replaced_whole(bank: Bank, folder: Path, tmp_path: Path) -> None:
    for path in folder.glob("*/how.md"):  # what was deleted by hand is written again
        path.unlink()
    with pytest.raises(BankExistsError, match="exported here before"):
        write_skills(bank, folder)
    write_skills(bank, folder, replace=True)
    assert contents(folder) == fresh(bank, tmp_path / "fresh")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fresh", "skills"]


@pytest.mark.parametrize("name", ["mine.txt", "my-own/SKILL.md", ".git/HEAD", "knowledge/x.md"])
def test_other_files_never_go(bank: Bank, folder: Path, name: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("mine")
    before = contents(folder)
    with pytest.raises(BankExistsError, match="is not of the export"):
        write_skills(bank, folder, replace=True)
    assert contents(folder) == before


def test_a_file_that_a_person_changed_is_kept_until_it_is_said(
    bank: Bank, folder: Path, tmp_path: Path
) -> None:
    (skill,) = (path for path in folder.glob("*/how.md") if "knead" in path.read_text())
    skill.write_text(skill.read_text().replace("knead", "knead long"))
    before = contents(folder)
    with pytest.raises(BankExistsError, match="was changed since the export"):
        write_skills(bank, folder, replace=True)
    assert contents(folder) == before
