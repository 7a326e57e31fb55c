"""What goes out as skills comes back as it was; what a person changed comes back as a revision."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Origin, born
from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.embedding.load import load
from deltamem_tui.errors import BankExistsError, RecordError
from deltamem_tui.memory.banks import create_bank, open_bank
from deltamem_tui.memory.deltamem.definition import COLLECTIONS, Payload
from deltamem_tui.memory.skills.installing import install_skills
from deltamem_tui.memory.skills.layout import is_name, slug
from deltamem_tui.memory.skills.reading import is_skills_folder, read_skills
from deltamem_tui.memory.skills.writing import write_skills
from deltamem_tui.text import clean
from tests.bank.killing import run_until_killed
from tests.effort import examples, in_turn
from tests.memory.skills.grown import SPROUTS, TEXTS, UNCLEAN_SPROUTS, Sprout, grown_bank

SOME = [
    Sprout("task", "success", Payload("boil water", "heat it", "it boils"), None, False, Origin()),
    Sprout("task", "success", Payload("boil lead", "use a furnace"), 0, False, Origin()),
    Sprout("task", "failure", Payload("boil by sun", "wait"), 0, False, Origin()),
    Sprout("task", "failure", Payload("deep", "deeper"), 1, True, Origin()),
    Sprout("env", "success", Payload("the kitchen", "a stove"), None, False, Origin()),
    Sprout("env", "success", Payload("the kitchen at night", "it is dark"), 0, False, Origin()),
]


@examples(20)
@given(SPROUTS)
def test_every_node_comes_back(sprouts: list[Sprout]) -> None:
    with grown_bank(sprouts) as (bank, folder):
        write_skills(bank, folder / "skills")
        book = read_skills(folder / "skills")
        assert not book.changed
        assert not book.adopted
        assert not book.missing
        assert not book.left
        again = install_skills(book, folder / "again")
        for name in COLLECTIONS:
            assert list(again.tree(name)) == list(bank.tree(name))
            assert np.array_equal(again.tree(name).embeddings, bank.tree(name).embeddings)
        assert again.manifest.settings == bank.manifest.settings
        assert again.manifest.embedder == bank.manifest.embedder
        assert verify(again) == []


@examples(20)
@given(UNCLEAN_SPROUTS)
@example([Sprout("task", "success", Payload("a", "b\r\nc"), None, False, Origin())])
@example([Sprout("task", "success", Payload("a", "b\x1b[1mc"), None, False, Origin())])
@example([Sprout("env", "success", Payload("", ""), None, False, Origin())])
def test_what_is_not_clean_comes_back_clean_as_a_revision(sprouts: list[Sprout]) -> None:
    with grown_bank(sprouts) as (bank, folder):
        write_skills(bank, folder / "skills")
        book = read_skills(folder / "skills")
        assert not book.changed
        assert not book.missing
        assert not book.left
        again = install_skills(book, folder / "again")
        assert verify(again) == []
        for name in COLLECTIONS:
            for before, after in zip(bank.tree(name), again.tree(name), strict=True):
                texts = before.payload
                assert after.payload == {key: clean(text) for key, text in texts.items()}
                assert after.revision == (0 if after.payload == before.payload else 1)
        write_skills(again, folder / "once more")
        assert read_skills(folder / "once more").nodes == book.nodes


def test_a_node_that_a_merge_moved_goes_out_as_a_revision(tmp_path: Path) -> None:
    with grown_bank(SOME) as (bank, folder):
        lines = bank.path / "task.nodes.jsonl"
        # What a merge writes of a root whose text was once another's child.
        moved = born("task", None, "success", Payload("x", "y"), Origin())
        odd = structs.replace(moved, id="0123456789abcdef")
        with bank.writing() as batch:
            vector = load("hashing").embed_passages(["x"])[0]
            batch.add_node("task", odd, vector)
            batch.log("grow")
        assert b"0123456789abcdef" in lines.read_bytes()
        write_skills(Bank.open(bank.path), folder / "skills")
        book = read_skills(folder / "skills")
        assert not book.changed
        assert book.nodes["task"][-1] == structs.replace(odd, revision=1)
        assert verify(install_skills(book, folder / "again")) == []


def test_an_empty_bank_comes_back_empty(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", domain="webshop")
    write_skills(bank, tmp_path / "skills")
    assert is_skills_folder(tmp_path / "skills")
    again = install_skills(read_skills(tmp_path / "skills"), tmp_path / "again")
    assert [len(again.tree(name)) for name in COLLECTIONS] == [0, 0]
    assert again.manifest.domain == "webshop"
    assert verify(again) == []


def test_a_folder_from_which_every_skill_was_taken_is_no_empty_bank(tmp_path: Path) -> None:
    with grown_bank(SOME[:1]) as (bank, _):
        write_skills(bank, tmp_path / "skills")
    (skill,) = (tmp_path / "skills").glob("*/SKILL.md")
    skill.unlink()
    with pytest.raises(RecordError, match="no skill"):
        install_skills(read_skills(tmp_path / "skills"), tmp_path / "bank")


@examples(20)
@given(SPROUTS)
@example([Sprout("task", "success", Payload("a---z -----", "b"), None, False, Origin())])
def test_the_layout_keeps_to_the_specification(sprouts: list[Sprout]) -> None:
    with grown_bank(sprouts) as (bank, folder):
        written = write_skills(bank, folder / "skills")
        skills = sorted((folder / "skills").glob("*/SKILL.md"))
        assert len(skills) == written.skills == len(list(bank.tree("task").roots()))
        for path in skills:
            head = path.read_text(encoding="utf-8").split("---\n")[1]
            record = yaml.safe_load(head)
            assert record["name"] == path.parent.name
            assert is_name(record["name"])
            assert 1 <= len(record["description"]) <= 1024
            assert "<" not in record["description"]
            assert "---" not in head  # the specification's reference reader would stop there
            assert all(isinstance(value, str) for value in record["metadata"].values())


@examples(15)
@given(SPROUTS)
def test_the_specifications_own_validator_finds_no_fault(sprouts: list[Sprout]) -> None:
    reference = pytest.importorskip("skills_ref")
    with grown_bank(sprouts) as (bank, folder):
        write_skills(bank, folder / "skills")
        for path in (folder / "skills").glob("*/SKILL.md"):
            assert reference.validate(path.parent) == []


def test_links_lead_to_files(tmp_path: Path) -> None:
    with grown_bank(SOME) as (bank, _):
        write_skills(bank, tmp_path / "skills")
    (skill,) = (tmp_path / "skills").glob("*/SKILL.md")
    text = skill.read_text(encoding="utf-8")
    warnings = text.split("## Warnings")[1]
    assert "boil by sun" in warnings
    assert "boil lead" not in warnings
    targets = [part.split(")")[0] for part in text.split("](")[1:]]
    assert len(targets) == 2
    for target in targets:
        reference = (skill.parent / target).resolve()
        assert reference.is_file()
        assert "(../SKILL.md)" in reference.read_text(encoding="utf-8")


@given(st.text(max_size=200))
def test_any_text_gives_a_name_or_none(text: str) -> None:
    name = slug(text)
    assert name == "" or is_name(name)
    assert len(name) <= 40


@examples(10)
@given(TEXTS)
def test_a_changed_text_is_a_revision(text: str) -> None:
    with grown_bank(SOME) as (bank, folder):
        write_skills(bank, folder / "skills")
        (skill,) = (folder / "skills").glob("*/SKILL.md")
        before = skill.read_text(encoding="utf-8")
        assert before.count("\n```text\nheat it\n```\n") == 1
        after = before.replace("```text\nheat it\n```", f"``````text\n{text}\n``````")
        skill.write_text(after, encoding="utf-8")
        book = read_skills(folder / "skills")
        (root,) = bank.tree("task").roots()
        expected = {**root.payload, "execution_procedure": text}
        assert book.changed == (root.id,)
        assert book.nodes["task"][0] == structs.replace(root, payload=expected, revision=1)
        again = install_skills(book, folder / "again")
        assert again.tree("task").node(root.id).payload == expected
        assert verify(again) == []


def test_a_text_without_its_fence_is_still_read(tmp_path: Path) -> None:
    with grown_bank(SOME) as (bank, _):
        write_skills(bank, tmp_path / "skills")
    (skill,) = (tmp_path / "skills").glob("*/SKILL.md")
    text = skill.read_text(encoding="utf-8")
    skill.write_text(text.replace("```text\nheat it\n```", "heat it\n\nslowly"), encoding="utf-8")
    assert read_skills(tmp_path / "skills").nodes["task"][0].payload == Payload(
        "boil water", "heat it\n\nslowly", "it boils"
    )


def test_a_skill_from_elsewhere_becomes_a_root(tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "bake-bread"
    (skill / "references").mkdir(parents=True)
    (skill / "SKILL.md").write_text(
        "---\nname: bake-bread\ndescription: >\n  Use it when bread\n  is wanted.\n---\n\n"
        "# Bread\n\nKnead.\n"
    )
    (skill / "references" / "notes.md").write_text("About flour.\n")
    assert is_skills_folder(tmp_path / "skills")
    assert is_skills_folder(skill)
    book = read_skills(tmp_path / "skills")
    assert book.adopted == (str(skill),)
    assert [each.source for each in book.left] == [str(skill / "references" / "notes.md")]
    (node,) = book.nodes["task"]
    assert node.payload == Payload("Use it when bread is wanted.", "# Bread\n\nKnead.")
    assert (node.kind, node.depth, node.origin.extractor) == ("root", 1, "skill")


def broken(folder: Path, old: str, new: str) -> RecordError:
    """What is said of an export in which a text was put in another's place."""
    with grown_bank(SOME) as (bank, _):
        write_skills(bank, folder / "skills")
    changed = 0
    for path in (folder / "skills").rglob("*"):
        if path.is_file() and old in (text := path.read_text(encoding="utf-8")):
            path.write_text(text.replace(old, new), encoding="utf-8")
            changed += 1
    assert changed
    with pytest.raises(RecordError) as caught:
        read_skills(folder / "skills")
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"label":"success"', '"label":"splendid"', "$.label"),
        ('"revision":0', '"revision":-1', "$.revision"),
        ('"tree":"env"', '"tree":"shrub"', "no tree 'shrub'"),
        ('"id":"', '"id":"../', "$.id"),
        ('"origin":{', '"origin":5,"x":{', "$.origin"),
        ("```text\nheat it\n```", "", "under 'How' is missing"),
        ('"skills_format": 1', '"skills_format": 9', "not an export of format 1"),
        ('{\n  "skills', '{{\n  "skills', "not JSON"),
    ],
)
def test_what_is_broken_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    error = broken(tmp_path, old, new)
    assert message in str(error)
    assert error.source
    assert Path(error.source).exists()


def test_a_lost_parent_a_second_node_and_a_ring_are_refused(tmp_path: Path) -> None:
    with grown_bank(SOME) as (bank, _):
        write_skills(bank, tmp_path / "lost")
        write_skills(bank, tmp_path / "twice")
        write_skills(bank, tmp_path / "ring")
        (root,) = bank.tree("task").roots()
        child = next(iter(bank.tree("task").children(root.id)))
    (skill,) = (tmp_path / "lost").glob("*/SKILL.md")
    skill.unlink()
    with pytest.raises(RecordError, match=f"the parent {root.id} of node"):
        read_skills(tmp_path / "lost" / ".")
    (skill,) = (tmp_path / "twice").glob("*/SKILL.md")
    (skill.parent / "references" / "copy.md").write_text(skill.read_text())
    with pytest.raises(RecordError, match="stands twice"):
        read_skills(tmp_path / "twice")
    (skill,) = (tmp_path / "ring").glob("*/SKILL.md")
    ring = skill.read_text().replace('"parent":null', f'"parent":"{child.id}"')
    skill.write_text(ring)
    with pytest.raises(RecordError, match="is above itself"):
        read_skills(tmp_path / "ring")


def test_an_empty_folder_and_one_that_is_taken_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert not is_skills_folder(tmp_path / "empty")
    with pytest.raises(RecordError, match="no skill"):
        install_skills(read_skills(tmp_path / "empty"), tmp_path / "bank")
    assert not (tmp_path / "bank").exists()
    with grown_bank(SOME) as (bank, folder):
        write_skills(bank, tmp_path / "skills")
        with pytest.raises(BankExistsError):
            write_skills(bank, tmp_path / "skills")
        with pytest.raises(BankExistsError):
            install_skills(read_skills(tmp_path / "skills"), folder / "bank")


def test_the_shipped_bank_comes_back(tmp_path: Path) -> None:
    bank = open_bank("scienceworld", Path("memory_banks"))
    write_skills(bank, tmp_path / "skills")
    book = read_skills(tmp_path / "skills")
    for name in COLLECTIONS:
        assert book.nodes[name] == tuple(structs.replace(node) for node in bank.tree(name))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("replacing", [False, True])
def test_a_kill_leaves_the_old_or_the_new(tmp_path: Path, replacing: bool) -> None:
    with grown_bank(SOME) as (bank, _):
        write_skills(bank, tmp_path / "skills")
    book = read_skills(tmp_path / "skills")
    with grown_bank(SOME[:1]) as (old, _):
        shutil.copytree(old.path, tmp_path / "old")
    path = tmp_path / "banks" / "shop"
    embedder = load("hashing")

    def fresh() -> None:
        shutil.rmtree(path.parent, ignore_errors=True)
        path.parent.mkdir()
        if replacing:
            shutil.copytree(tmp_path / "old", path)

    def arrive() -> None:
        install_skills(book, path, embedder=embedder, replacing=replacing, frozen=True)

    fresh()
    effects = run_until_killed(arrive)
    assert effects is not None
    assert effects > 20
    seen = []
    for number, last in enumerate(in_turn(effects, apart=10)):
        fresh()
        assert run_until_killed(arrive, last) is None
        found = Bank.open(path) if path.exists() else None
        is_new = found is not None and len(found.tree("task")) == 4
        assert is_new or (found is not None) == replacing
        seen.append(is_new)
        if found is not None:
            assert found.frozen == is_new
        if number % 6 == 0:  # what is left over is in nobody's way
            install_skills(book, path, embedder=embedder, replacing=path.exists())
            assert [each.name for each in path.parent.iterdir()] == [path.name]
            assert verify(Bank.open(path)) == []
    assert seen == sorted(seen)
    assert set(seen) == {False, True}
