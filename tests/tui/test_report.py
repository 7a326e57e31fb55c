"""The report: a verdict in words, what to do, growth, commits."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui.memory.banks import create_bank
from tests.tui.support import Person, browse, many_nodes, pane


def test_the_verdict_is_in_words_and_the_numbers_are_the_banks(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("4")
        text = pane(person, "report")
        for words in (
            "1 episode learnt, 2 waiting. 1 outcome unknown.",
            "Never used, since no task matched: 8 of 9 nodes.",
            "Failures, kept as warnings: 2 of 9 nodes.",
            "Press 3, then L: learn from the episodes that wait.",
            "6 nodes: 3 roots, 3 residuals",
            "6 changes in the task tree",
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
