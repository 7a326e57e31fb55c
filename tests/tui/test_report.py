"""The report: a verdict in words, what to do, growth, commits, and thresholds that are proposed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory import editing
from deltamem_tui.memory.banks import create_bank
from tests.tui.support import Person, browse, many_nodes, pane, take_in_many


def test_the_verdict_is_in_words_and_the_numbers_are_the_banks(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("4")
        text = pane(person, "report")
        for words in (
            "1 episode learnt, 2 waiting. 1 of them do not say how they ended.",
            "8 of 9 nodes were never used",
            "2 of 9 nodes are failures",
            "Press 3, then L: learn from the episodes that wait.",
            "6 nodes: 3 roots, 3 residuals",
            "+6 in the task tree",
        ):
            assert words in text, text

    browse(folder, story, "kitchen", size=(100, 60))


def test_it_says_what_to_do_next(folder: Path) -> None:
    create_bank(folder / "new", embedder="hashing")
    many_nodes(folder / "many")

    def told(bank: str) -> str:
        found: list[str] = []

        async def story(person: Person) -> None:
            await person.press("4")
            found.append(pane(person, "report"))

        browse(folder, story, bank)
        return found[0]

    assert "import your agent's logs" in told("new")
    assert "The thresholds are too high" in told("many")


def test_thresholds_are_proposed_and_written(folder: Path) -> None:
    take_in_many(Bank.open(folder / "kitchen"))

    async def story(person: Person) -> None:
        await person.press("4", "w")
        assert "no thresholds were proposed yet: p proposes" in person.said[-1]
        await person.press("p")
        assert "w writes them" in person.said[-1]
        text = pane(person, "report")
        assert text.startswith("Threshold of the task tree")
        assert "of 17 questions match" in text
        proposed = next(line for line in text.splitlines() if "proposed: " in line)
        await person.press("w")
        stored = person.app.session.bank.manifest.settings["task"]["tau_base"]
        assert proposed.startswith(f"{stored:g} proposed")

    browse(folder, story, "kitchen")


def test_a_frozen_bank_keeps_its_thresholds(folder: Path) -> None:
    take_in_many(Bank.open(folder / "kitchen"))
    Bank.open(folder / "kitchen").freeze()
    before = {file.name: file.read_bytes() for file in (folder / "kitchen").iterdir()}

    async def story(person: Person) -> None:
        await person.press("4", "p")
        assert pane(person, "report").startswith("Threshold")
        await person.press("w")
        assert "the bank is frozen" in person.said[-1]

    browse(folder, story, "kitchen")
    assert {file.name: file.read_bytes() for file in (folder / "kitchen").iterdir()} == before


def deleted(path: Path) -> None:
    bank = Bank.open(path)
    editing.delete(bank, "task", next(bank.tree("task").roots()))


def reembedded(path: Path) -> None:
    Bank.open(path).change_manifest(
        "reembed",
        lambda known: (replace(known, embedder={**known.embedder, "fingerprint": "another"}), {}),
    )


def counted(path: Path) -> None:
    bank = Bank.open(path)
    with bank.writing() as batch:
        batch.count("task", next(bank.tree("task").roots()).id, hits=1)
        batch.log("learn")


@pytest.mark.parametrize(
    ("change", "kept"), [(deleted, False), (reembedded, False), (counted, True)]
)
def test_old_proposals_go_with_what_they_rest_on(
    folder: Path, change: Callable[[Path], None], kept: bool
) -> None:
    take_in_many(Bank.open(folder / "kitchen"))

    async def story(person: Person) -> None:
        await person.press("4", "p")
        change(folder / "kitchen")
        person.app.session.look_for_changes()
        await person.settle()
        assert pane(person, "report").startswith("Threshold") is kept
        await person.press("w")
        assert ("saved: " in person.said[-1]) is kept

    browse(folder, story, "kitchen")
