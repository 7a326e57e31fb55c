"""Learning replayed: the trees as they were, and what each commit brought."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.undo import Past
from deltamem_tui.bank.upkeep.compact import compact
from deltamem_tui.memory.editing import delete
from deltamem_tui.tui.screens.growth import GrowthSlider, beginning, growth_at, sizes
from deltamem_tui.tui.widgets.outline_view import OutlineView
from tests.tui.support import SCENES, SKILLS, Person, browse


def test_each_commit_marks_what_it_brought(folder: Path) -> None:
    bank = Bank.open(folder / "kitchen")
    root = next(iter(bank.tree("task")))
    delete(bank, "task", root)
    past = Past.read(Bank.open(bank.path))
    events = [moment.event for moment in past.moments]
    assert events == ["init", "import", "grow", "grow", "learn", "delete"]
    assert sizes(past) == [0, 0, 6, 9, 9, 6]
    grown = [growth_at(past, number).trees for number in range(len(events))]
    assert [len(each["task"].marks) for each in grown] == [0, 0, len(SKILLS), 0, 0, 0]
    assert [len(each["env"].marks) for each in grown] == [0, 0, 0, len(SCENES), 0, 0]
    assert [len(each["task"].outline) for each in grown] == [0, 0, len(SKILLS), 3, 3, 2]
    last = growth_at(past, len(events) - 1).sections
    assert [len(each.body.splitlines()) for each in last if "Deleted" in each.title] == [3]
    assert beginning(past) == ""


def test_the_slider_goes_through_the_commits(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("6")
        screen = person.app.screen
        slider, task = screen.query_one(GrowthSlider), screen.query_one("#task", OutlineView)
        seen = []
        for key in ("home", "l", "l", "end", "left", "pageup"):
            await person.press(key)
            seen.append((slider.number, len(task.shown_tree or ())))
        assert seen == [(0, 0), (1, 0), (2, 6), (4, 6), (3, 6), (2, 6)]
        await person.pilot.click(slider, offset=(99, 1))
        await person.settle()
        assert slider.number == 4
        await person.press("h", "h")
        compact(Bank.open(person.app.session.bank.path))
        person.app.session.look_for_changes()
        await person.settle()
        assert len(slider.sizes) == 1
        assert "compacted away" in person.screen

    browse(folder, story, "kitchen")


def test_a_bank_without_its_journal_says_so(folder: Path) -> None:
    (folder / "kitchen" / "journal.jsonl").unlink()

    async def story(person: Person) -> None:
        await person.press("6", "left", "space")
        assert "came without its journal" in person.screen

    browse(folder, story, "kitchen")


def test_a_journal_that_cannot_be_read_is_not_waited_for(folder: Path) -> None:
    (folder / "kitchen" / "journal.jsonl").write_bytes(b"no commit\n")

    async def story(person: Person) -> None:
        await person.press("6")
        assert "reading the journal" not in person.screen
        assert "h earlier" not in person.screen

    browse(folder, story, "kitchen")
