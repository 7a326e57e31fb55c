"""Credit in the browser: utility in the outlines."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.trajectory.receipt import ShownNode, made
from tests.tui.support import Person, browse, trajectory


def test_a_node_is_shown_with_its_utility_and_found_by_it(folder: Path) -> None:
    bank = Bank.open(folder / "kitchen")
    node = next(iter(bank.tree("task")))
    receipt = made("f" * 16, 0, [ShownNode("task", node.id)], "task", "")
    found = trajectory("heat a doubtful egg", success=False).with_facts(receipts=(receipt,))
    take_in(bank, [found])

    async def story(person: Person) -> None:
        await person.press("s", "s", "s", "g")
        assert "by utility" in person.screen
        assert person.node.id == node.id
        assert "0.00" in person.screen

    browse(folder, story, "kitchen", size=(120, 40))
