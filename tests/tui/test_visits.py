"""A node leads to its episode and back, and what was visited can be visited again."""

from __future__ import annotations

import shutil
from pathlib import Path

from deltamem_tui.bank.node import Origin, born
from deltamem_tui.memory.deltamem.definition import Payload
from deltamem_tui.trajectory.model import Step
from deltamem_tui.tui.core.bank_session import Visit, Visits
from deltamem_tui.tui.models.evidence import steps_repeated
from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.tui.support import LEARNT, Person, add_plain, browse, pane, small_bank, tasks

FRIDGE = ("when an egg is cold", "1. open fridge\n2. take [object]")


def linked_bank(folder: Path) -> None:
    """A bank with a node that repeats the second step, and one whose episode is not there."""
    bank = small_bank(folder / "kitchen")
    nodes = [
        born("task", None, "success", Payload(*FRIDGE), Origin(LEARNT.id or "", "stated")),
        born("task", None, "success", Payload("it is gone", "x"), Origin("0" * 16, "stated")),
    ]
    add_plain(bank, "task", nodes)


def test_a_node_leads_to_its_steps_and_back(tmp_path: Path) -> None:
    folder = tmp_path / "banks"
    linked_bank(folder)
    shutil.copytree(folder / "kitchen", folder / "other")

    async def story(person: Person) -> None:
        outline = person.outline
        await person.press("G")
        assert "shipped without the episode" in pane(person, "detail")
        await person.press("E")
        assert "shipped without the node's episodes" in person.said[-1]
        await person.press("k")
        node = person.node
        assert node.payload == Payload(*FRIDGE)
        await person.press("E")
        steps = person.app.screen.query_one("#steps", TextPane)
        assert [each.title for each in steps.sections if each.marked] == ["2  open fridge 1"]
        assert steps.current is not None
        assert steps.sections[steps.current].marked
        assert FRIDGE[0] in pane(person, "node")
        await person.press("escape")
        assert person.outline is outline
        assert person.node.id == node.id
        await person.press("greater_than_sign")
        assert LEARNT.task in pane(person, "steps")
        await person.press("2")
        await person.write("heat some egg")
        await person.press("enter", "slash")
        await person.write("cool it")
        await person.press("enter", "less_than_sign")
        assert person.app.screen.query_one("#task").value == "heat some egg"  # type: ignore[attr-defined]
        await person.press("b", "j", "enter")
        assert person.app.session.bank.path.name == "other"
        await person.press("less_than_sign", "less_than_sign", "less_than_sign")
        assert person.app.session.bank.path.name == "kitchen"
        assert LEARNT.task in tasks(person)
        await person.press("less_than_sign")
        assert person.node.id == node.id
        await person.press("less_than_sign")
        assert person.said[-1] == "nothing was visited before this"

    browse(folder, story, "kitchen", size=(140, 40))


def test_a_step_is_marked_by_the_words_of_a_clause() -> None:
    steps = [
        Step("go to table 2", "On it is an apple 1."),
        Step("take apple 1 from table 2", "You take it."),
        Step("look", "Nothing."),
    ]
    assert steps_repeated({"when": "look nothing", "how": "1. take [x] from table"}, steps) == [2]
    assert steps_repeated({"when": "", "how": "- apple: table (1 of 1); shelf"}, steps) == [1, 2]


def test_ways_back_keep_which_of_them_were_links() -> None:
    a, b, c = (Visit(Path("bank"), "trees", (each,)) for each in "abc")
    visits = Visits()
    visits.leave(a, by_link=True)
    visits.leave(b)
    assert not visits.came_by_link
    assert visits.back(c) == b
    assert visits.came_by_link
    assert visits.back(b) is not None
    assert visits.forward(a) is not None
    assert visits.came_by_link
    visits.leave(b)
    assert visits.forward(c) is None
