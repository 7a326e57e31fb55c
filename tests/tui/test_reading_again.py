"""What a person looks at, while the bank is read again and after it was left."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui import paths
from deltamem_tui.agents.sessions import SessionFile, StateFolder
from deltamem_tui.bank.bank import Bank
from deltamem_tui.tui.screens.banks import BankList, BanksScreen
from tests.tui.support import Person, browse


def test_a_bank_that_another_process_writes_is_read_again(folder: Path) -> None:
    from deltamem_tui.memory import editing

    async def story(person: Person) -> None:
        await person.press("j", "right")
        kept = person.node.id
        bank = Bank.open(folder / "kitchen")
        editing.delete(bank, "task", next(bank.tree("task").roots()))
        person.app.session.look_for_changes()
        await person.settle()
        assert len(person.bank.tree("task")) == 3
        assert person.node.id == kept
        assert person.outline.line_count() == 3
        assert "task tree · 3 nodes" in person.screen

    browse(folder, story, "kitchen")


def test_a_named_bank_that_cannot_be_read_gives_way_to_the_banks_and_says_why(
    folder: Path,
) -> None:
    manifest = folder / "kitchen" / "bank.json"
    sound = manifest.read_bytes()
    manifest.write_bytes(sound[:-9])
    StateFolder(paths.state_folder()).enqueue(SessionFile("codex", "one", "kitchen"))

    async def story(person: Person) -> None:
        assert isinstance(person.app.screen, BanksScreen)
        assert "not JSON" in " ".join(person.screen.split())
        (said,) = person.said
        assert "kitchen" in said
        chosen = person.app.screen.query_one(BankList).bank
        assert chosen is not None
        assert chosen.place.name == "kitchen"
        manifest.write_bytes(sound)
        await person.press("enter")
        assert person.outline.line_count() == 3, "it can be opened once it is sound"

    browse(folder, story, "kitchen")
