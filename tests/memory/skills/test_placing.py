"""An export over an earlier one: what it wrote goes, what others put there stays."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Origin
from deltamem_tui.errors import BankError, BankExistsError, DeltaMemError, RecordError
from deltamem_tui.memory.deltamem.definition import Payload
from deltamem_tui.memory.skills.export import write_skills
from deltamem_tui.memory.skills.install import read_skills
from deltamem_tui.memory.skills.layout import SKILL_LIMITS
from tests.bank.killing import run_until_killed
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


def skill_of(folder: Path, text: str) -> Path:
    (found,) = (path for path in folder.glob("*/how.md") if text in path.read_text())
    return found


def test_what_an_export_wrote_goes_and_nothing_else(
    bank: Bank, folder: Path, tmp_path: Path
) -> None:
    boiling = skill_of(folder, "heat it").parent
    strangers = {
        "mine.txt": "years of work",
        "my-own/SKILL.md": "---\nname: my-own\n---\nmine",
        ".git/HEAD": "ref",
        "knowledge/notes.txt": "notes",
        f"{boiling.name}/scripts/run.sh": "echo",
    }
    for name, text in strangers.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    numbers = {name: (folder / name).stat().st_ino for name in strangers}
    write_skills(bank, folder, replace=True)
    after = contents(folder)
    for name, text in strangers.items():
        assert after.pop(name) == text.encode()
        assert (folder / name).stat().st_ino == numbers[name]
    expected = fresh(bank, tmp_path / "fresh")
    written = {name: data for name, data in after.items() if data is not None}
    assert written == {name: data for name, data in expected.items() if data is not None}
    assert not (boiling / "references").exists()  # it was the export's, and is empty


def test_a_file_that_a_person_changed_is_kept_until_it_is_said(
    bank: Bank, folder: Path, tmp_path: Path
) -> None:
    skill = skill_of(folder, "knead")
    skill.write_text(skill.read_text().replace("knead", "knead long"))
    gone = skill_of(folder, "heat it")
    gone.write_text(gone.read_text().replace("heat it", "heat it well"))
    before = contents(folder)
    with pytest.raises(BankExistsError, match="changed since the export") as caught:
        write_skills(bank, folder, replace=True)
    assert skill.parent.name in str(caught.value)
    assert gone.parent.name in str(caught.value)
    assert contents(folder) == before
    write_skills(bank, folder, replace=True, discard_changes=True)
    assert contents(folder) == fresh(bank, tmp_path / "fresh")


def test_a_strangers_file_in_the_way_is_never_written_over(
    bank: Bank, folder: Path, tmp_path: Path
) -> None:
    write_skills(bank, tmp_path / "fresh")
    new = skill_of(tmp_path / "fresh", "soap").relative_to(tmp_path / "fresh")
    (folder / new).parent.mkdir()
    (folder / new).write_text("mine")
    before = contents(folder)
    with pytest.raises(BankExistsError, match="is not of an export"):
        write_skills(bank, folder, replace=True, discard_changes=True)
    assert contents(folder) == before


def test_what_was_deleted_by_hand_is_written_again(
    bank: Bank, folder: Path, tmp_path: Path
) -> None:
    for path in (*folder.glob("*/SKILL.md"), *folder.glob("*/how.md")):
        path.unlink()
    write_skills(bank, folder, replace=True)
    assert contents(folder) == fresh(bank, tmp_path / "fresh")


def test_a_link_is_not_written_through(bank: Bank, folder: Path, tmp_path: Path) -> None:
    before = contents(folder)
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(BankExistsError, match="a link"):
        write_skills(bank, tmp_path / "link", replace=True)
    assert (tmp_path / "link").is_symlink()
    assert contents(folder) == before
    skill = skill_of(folder, "knead")
    elsewhere = skill.parent.rename(tmp_path / "elsewhere")
    skill.parent.symlink_to(elsewhere)
    with pytest.raises(BankExistsError, match="in the way"):
        write_skills(bank, folder, replace=True, discard_changes=True)
    inside = skill.parent.relative_to(folder)
    assert contents(elsewhere) == {
        name: before[(inside / name).as_posix()] for name in ("SKILL.md", "how.md")
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "link", "skills"]


@pytest.mark.parametrize(
    "path",
    [
        "../secret.md",
        "/secret.md",
        "x/../../secret.md",
        "knowledge/../../secret.md",
        "knowledge/.md",
        "./SKILL.md",
        "a\n/SKILL.md",
        "bank.json",
        "deltamem.json",
    ],
)
def test_a_list_names_only_what_an_export_writes(bank: Bank, folder: Path, path: str) -> None:
    secret = folder.with_name("secret.md")
    secret.write_text("secret")
    listing = orjson.loads((folder / "deltamem.json").read_bytes())
    files_listed = listing.setdefault("files", {})
    files_listed[path] = {
        # What "secret" digests to, so that the file would be taken for the export's own.
        "digest": "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b",
        "around": "",
        "tree": "",
        "nodes": [],
    }
    (folder / "deltamem.json").write_bytes(orjson.dumps(listing))
    before = contents(folder)
    with pytest.raises(RecordError, match="not where an export writes"):
        write_skills(bank, folder, replace=True, discard_changes=True)
    assert contents(folder) == before
    assert secret.read_text() == "secret"


def test_what_is_too_large_to_be_read_back_is_not_written(
    bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = replace(SKILL_LIMITS, total=800)
    monkeypatch.setattr("deltamem_tui.memory.skills.export.SKILL_LIMITS", small)
    with pytest.raises(BankError, match="more than the 800 it may have as skills"):
        write_skills(bank, tmp_path / "skills")
    assert list(tmp_path.iterdir()) == []


def test_a_kill_is_told_and_mended_by_the_next(bank: Bank, folder: Path, tmp_path: Path) -> None:
    (folder / "mine.txt").write_text("mine")
    shutil.copytree(folder, tmp_path / "old")
    old, new = read_skills(folder), None
    expected = fresh(bank, tmp_path / "fresh") | {"mine.txt": b"mine"}
    new = read_skills(tmp_path / "fresh")

    def restored() -> None:
        shutil.rmtree(folder)
        shutil.copytree(tmp_path / "old", folder)

    def again(last: int = -1) -> int | None:
        return run_until_killed(lambda: write_skills(bank, folder, replace=True), last)

    restored()
    effects = again()
    assert effects is not None
    assert effects > 20
    seen = []
    for last in range(1, effects + 1):
        restored()
        assert again(last) is None
        seen.append(_state(lambda: read_skills(folder).nodes, old.nodes, new.nodes))
        assert (folder / "mine.txt").read_text() == "mine"
        write_skills(bank, folder, replace=True)
        assert contents(folder) == expected
    assert seen == sorted(seen)
    assert set(seen) == {0, 1, 2}


def _state(read: Callable[[], object], old: object, new: object) -> int:
    """0 if the old is there, 1 if it is said that both are, 2 if the new is."""
    try:
        found = read()
    except DeltaMemError as error:
        return 1 if "interrupted" in error.message else -1
    assert found in (old, new)
    return 0 if found == old else 2
