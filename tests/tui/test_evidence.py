"""A node leads to its episode and back."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui.bank.node import Origin, born
from deltamem_tui.memory.deltamem.rules import Payload
from tests.tui.support import LEARNT, Person, add_plain, browse, pane, small_bank

FRIDGE = ("when an egg is cold", "1. open fridge\n2. take [object]")


def test_a_node_leads_to_its_episode_and_back(tmp_path: Path) -> None:
    nodes = [
        born("task", None, "success", Payload(*FRIDGE), Origin(LEARNT.id or "", "stated")),
        born("task", None, "success", Payload("it is gone", "x"), Origin("0" * 16, "stated")),
    ]
    add_plain(small_bank(tmp_path / "kitchen"), "task", nodes)

    async def story(person: Person) -> None:
        await person.press("G")
        assert "shipped without the episode" in pane(person, "detail")
        await person.press("E")
        assert "shipped without the node's episodes" in person.said[-1]
        await person.press("k")
        node = person.node
        await person.press("E")
        assert f"Episode {LEARNT.id}" in pane(person, "steps")
        assert FRIDGE[0] in pane(person, "node")
        await person.press("escape")
        assert person.node.id == node.id
        await person.press("E", "1", "escape")
        assert person.trees.is_current, "who went on by a number does not go back by a link"

    browse(tmp_path, story, "kitchen", size=(140, 40))
