"""A node leads to its episode and back."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui.bank.node import Origin, born
from deltamem_tui.memory.deltamem.definition import Payload
from deltamem_tui.trajectory.model import Step
from deltamem_tui.tui.models.nodes import steps_repeated
from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.tui.support import LEARNT, Person, add_plain, browse, pane, small_bank

FRIDGE = ("when an egg is cold", "1. open fridge\n2. take [object]")


def test_a_node_leads_to_its_steps_and_back(tmp_path: Path) -> None:
    """One node repeats the second step of its episode; the episode of another is not there."""
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
        steps = person.app.screen.query_one("#steps", TextPane)
        assert [each.title for each in steps.sections if each.marked] == ["2  open fridge 1"]
        assert steps.current is not None
        assert steps.sections[steps.current].marked
        assert FRIDGE[0] in pane(person, "node")
        await person.press("escape")
        assert person.node.id == node.id
        await person.press("E", "1", "escape")
        assert person.trees.is_current, "who went on by a number does not go back by a link"

    browse(tmp_path, story, "kitchen", size=(140, 40))


def test_a_step_is_marked_by_the_words_of_a_clause() -> None:
    steps = [
        Step("go to table 2", "On it is an apple 1."),
        Step("take apple 1 from table 2", "You take it."),
        Step("look", "Nothing."),
    ]
    assert steps_repeated({"when": "look nothing", "how": "1. take [x] from table"}, steps) == [2]
    assert steps_repeated({"when": "", "how": "- apple: table (1 of 1); shelf"}, steps) == [1, 2]
