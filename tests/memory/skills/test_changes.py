"""What a person did to a folder of skills is taken in or told, and never dropped in silence."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec import structs

from deltamem_tui.bank.node import Origin
from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.memory.deltamem.definition import Payload
from deltamem_tui.memory.methods import DEFAULT
from deltamem_tui.memory.skills.form import form_named
from deltamem_tui.memory.skills.installing import install_skills
from deltamem_tui.memory.skills.reading import SkillBook, read_skills
from deltamem_tui.memory.skills.writing import write_skills
from tests.memory.skills.grown import Sprout, grown_bank

SOME = [
    Sprout("task", "success", Payload("boil water", "heat it", "it boils"), None, False, Origin()),
    Sprout("task", "success", Payload("boil lead", "use a furnace"), 0, False, Origin()),
    Sprout("env", "success", Payload("the kitchen", "a stove"), None, False, Origin()),
    Sprout("env", "success", Payload("the kitchen at night", "it is dark"), 0, False, Origin()),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with grown_bank(SOME) as (bank, _):
        write_skills(bank, tmp_path / "skills")
    return tmp_path / "skills"


def skill_in(folder: Path) -> Path:
    (skill,) = folder.glob("*/SKILL.md")
    return skill


def rewritten(path: Path, old: str, new: str) -> str:
    """Change a file, and give its text."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    return text.replace(old, new)


def payloads(book: SkillBook) -> list[Mapping[str, str]]:
    return [node.payload for nodes in book.nodes.values() for node in nodes]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("description: ", "description: Never "),
        ("# boil water", "# Boil it well"),
        ("Recorded experience", "Sworn experience"),
        ("## Where it differs", "Mind the lid.\n\n## Where it differs"),
        ("## Where it differs", "## Mind\n\n```text\nthe lid\n```\n\n## Where it differs"),
        ("# boil water", "# boil water\n\n# boil water"),
        ("## Where it differs", "## How\n\n```text\nwith a lid\n```\n\n## Where it differs"),
        ("```text\nheat it\n```", "```text\nheat it\n```\n\nwith a lid"),
    ],
)
def test_text_around_the_fences_is_told_line_by_line(folder: Path, old: str, new: str) -> None:
    before = payloads(read_skills(folder))
    text = rewritten(skill_in(folder), old, new)
    book = read_skills(folder)
    assert payloads(book) == before
    assert not book.changed
    (left,) = book.left
    assert left.source == str(skill_in(folder))
    assert "not taken in" in left.message
    assert left.position is not None
    lines = [int(number) for number in left.position.split(" ", 1)[1].split(", ")]
    said = [text.splitlines()[number - 1] for number in lines]
    added = [line for line in new.splitlines() if line.strip() and line not in old.splitlines()]
    assert said
    assert all(any(part in line for line in said) for part in added)


def test_what_was_taken_away_around_the_fences_is_told(folder: Path) -> None:
    (page,) = (folder / "knowledge").glob("*.md")
    rewritten(page, "Adds to: the kitchen\n", "")
    (left,) = read_skills(folder).left
    assert left.source == str(page)
    assert "1 line outside the fences taken away" in left.message


def test_a_change_inside_a_fence_is_told_as_a_change_only(folder: Path) -> None:
    rewritten(skill_in(folder), "heat it", "heat it slowly\n\n# not a heading\n\n## How")
    book = read_skills(folder)
    assert len(book.changed) == 1
    assert book.left == ()


def test_a_text_can_be_emptied(folder: Path) -> None:
    rewritten(skill_in(folder), "```text\nheat it\n```", "```text\n```")
    book = read_skills(folder)
    assert book.nodes["task"][0].payload == Payload("boil water", "", "it boils")
    assert len(book.changed) == 1


def test_line_ends_of_another_system_change_nothing(folder: Path) -> None:
    before = read_skills(folder)
    for path in folder.rglob("*.md"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_skills(folder) == before


def test_nodes_that_are_gone_are_named(folder: Path) -> None:
    nodes = read_skills(folder).nodes
    (reference,) = folder.glob("*/references/*.md")
    reference.unlink()
    shutil.rmtree(folder / "knowledge")
    book = read_skills(folder)
    assert book.missing == (nodes["task"][1].id, *(node.id for node in nodes["env"]))
    assert len(install_skills(book, folder.with_name("bank")).tree("task")) == 1


def test_a_section_that_is_gone_from_a_page_is_named(folder: Path) -> None:
    (page,) = (folder / "knowledge").glob("*.md")
    text = page.read_text()
    page.write_text(text[: text.index("## the kitchen at night")])
    book = read_skills(folder)
    assert len(book.missing) == 1
    assert len(book.nodes["env"]) == 1


def test_files_that_hold_no_node_are_named(folder: Path) -> None:
    skill = skill_in(folder).parent
    others = [folder / "README.md", skill / "scripts", folder / "assets", folder / "knowledge/x.md"]
    for path in others:
        path.parent.mkdir(exist_ok=True)
        if path.suffix:
            path.write_text("hello")
        else:
            path.mkdir()
            (path / "run.sh").write_text("echo")
    (folder / ".git").mkdir()
    (folder / "empty").mkdir()
    book = read_skills(folder)
    assert {left.source for left in book.left} == {str(path) for path in others}


def test_a_page_of_another_export_is_taken_in_and_told(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "two").mkdir()
    with grown_bank([Sprout("task", "success", Payload("x", "y"), None, False, Origin())]) as (
        b,
        _,
    ):
        write_skills(b, tmp_path / "two" / "skills")
    other = skill_in(tmp_path / "two" / "skills").parent
    shutil.copytree(other, folder / other.name)
    book = read_skills(folder)
    assert len(book.nodes["task"]) == 3
    (left,) = book.left
    assert left.source == str(folder / other.name / "SKILL.md")


def test_a_forged_id_is_a_change(folder: Path) -> None:
    root = read_skills(folder).nodes["task"][0]
    for path in folder.rglob("*.md"):
        path.write_text(path.read_text().replace(root.id, "f" * 16))
    book = read_skills(folder)
    # The residual is as little born below the forged root as that is born with its id.
    assert book.changed == ("f" * 16, book.nodes["task"][1].id)
    assert book.missing == (root.id,)
    assert book.nodes["task"][0] == structs.replace(root, id="f" * 16, revision=1)
    assert verify(install_skills(book, folder.with_name("bank"))) == []


def test_a_forged_digest_does_not_hide_a_change(folder: Path) -> None:
    """Nobody can say of a first revision that it is unchanged, whatever digest he writes."""
    from deltamem_tui.memory.skills import section

    root = read_skills(folder).nodes["task"][0]
    payload = {**root.payload, "execution_procedure": "steal it"}
    honest = section.write(form_named(DEFAULT), "task", root, 0)
    forged = section.write(
        form_named(DEFAULT), "task", structs.replace(root, payload=payload, revision=1), 0
    )
    rewritten(skill_in(folder), honest, forged.replace('"revision":1', '"revision":0'))
    assert read_skills(folder).changed == (root.id,)


def test_a_revision_stays_within_the_format(folder: Path) -> None:
    text = rewritten(skill_in(folder), '"revision":0', '"revision":1000000')
    skill_in(folder).write_text(text.replace("heat it", "heat it well"))
    book = read_skills(folder)
    assert book.nodes["task"][0].revision == 1_000_000
    assert verify(install_skills(book, folder.with_name("bank"))) == []
