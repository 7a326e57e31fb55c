"""The review queue in the browser: what it shows, what it hides, and what a verdict asks."""

from __future__ import annotations

from pathlib import Path

import orjson

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.credit.credit import append_receipt, node_credit
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.outcomes import with_verdict
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.trajectory.readers.native import to_record
from deltamem_tui.trajectory.receipt import ShownNode, made
from deltamem_tui.tui.core.work import Progress
from deltamem_tui.tui.jobs.episodes import import_logs
from deltamem_tui.tui.screens.review import ReviewBook
from tests.tui.support import Person, browse, pane, trajectory

WORD = Outcome(False, None, "judge", "the egg is cold")


def doubted(folder: Path) -> str:
    """A waiting success of the log that a judge doubts."""
    found = with_verdict(trajectory("heat a doubtful egg", success=True), WORD)
    take_in(Bank.open(folder / "kitchen"), [found])
    return found.id


def test_blind_hides_every_word_and_reason(folder: Path) -> None:
    name = doubted(folder)
    book = ReviewBook.read(Bank.open(folder / "kitchen"))
    assert book.ids[0] == name
    for blind in (True, False):
        texts = [
            f"{each.title} {each.body}" for each in book.sections(0, blind=blind, read_key="v")
        ]
        seen = any("judge" in text or "cold" in text or "log" in text for text in texts)
        assert seen is not blind
        assert bool(book.line(0, blind=blind).why) is not blind


def test_a_verdict_is_given_blind(folder: Path) -> None:
    name = doubted(folder)

    def said() -> bool | None:
        found = episode(Bank.open(folder / "kitchen"), name)
        assert found is not None
        return found.outcome.success

    async def story(person: Person) -> None:
        await person.press("5")
        assert "the egg is cold" in pane(person, "episode")
        await person.press("h", "minus", "y")
        assert said() is False
        assert "the egg is cold" in person.said[-1]  # what was hidden is told after the verdict

    browse(folder, story, "kitchen", size=(120, 40))


def test_a_node_is_shown_with_its_utility_and_found_by_it(folder: Path) -> None:
    bank = Bank.open(folder / "kitchen")
    node = next(iter(bank.tree("task")))
    receipt = made("f" * 16, 0, [ShownNode("task", node.id)], "task", "")
    found = trajectory("heat a doubtful egg", success=False).with_facts(receipts=(receipt,))
    take_in(bank, [found])

    async def story(person: Person) -> None:
        await person.press("slash")
        await person.write("utility:<.5 shown:1")
        await person.press("enter")
        assert person.node.id == node.id
        assert person.outline.line_count() == 1
        assert "0.00" in person.screen
        await person.press("4")
        assert "Lift" in pane(person, "numbers")

    browse(folder, story, "kitchen", size=(120, 40))


def test_receipts_come_with_a_log(folder: Path, tmp_path: Path) -> None:
    bank = Bank.open(folder / "kitchen")
    node = next(iter(bank.tree("task")))
    shown = trajectory("heat a shown egg", success=True)
    receipt = made("f" * 16, 0, [ShownNode("task", node.id)], shown.task, "")
    append_receipt(tmp_path / "shown.jsonl", receipt)
    log = tmp_path / "log.jsonl"
    log.write_bytes(orjson.dumps(to_record(shown)) + b"\n")
    import_logs(bank.path, str(log), "", Progress("importing"), str(tmp_path / "shown.jsonl"))
    assert node_credit(Bank.open(bank.path), "task", node.id).strict.mean == 1.0
