"""The trees screen: moving, chains, sorting, pages, and reading a node elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Origin, born
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.tui.screens.banks import BanksScreen
from deltamem_tui.tui.screens.memory import MemoryScreen
from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.tui.support import Person, add_plain, bare_bank, browse


def test_vim_keys_and_arrows_move(folder: Path) -> None:
    async def story(person: Person) -> None:
        for keys, line in (
            (("j",), 1),
            (("down",), 2),
            (("k",), 1),
            (("G",), 2),
            (("g",), 0),
            (("end",), 2),
            (("up", "up", "up"), 0),
            (("pagedown",), 2),
            (("pageup",), 0),
        ):
            await person.press(*keys)
            assert person.outline.cursor == line, keys

    browse(folder, story, "kitchen")


def test_fold_expand_below_and_collapse_all(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("space")
        assert person.outline.line_count() == 4
        await person.press("asterisk")
        assert person.outline.line_count() == 5
        await person.press("enter")
        assert (person.outline.line_count(), person.outline.cursor) == (3, 0)

    browse(folder, story, "kitchen")


def test_the_detail_says_all_of_a_node(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("l", "j")
        shown = "\n".join(f"{each.title}\n{each.body}" for each in person.trees.readable())
        for words in (
            f"task residual {person.node.id} · success",
            "depth 2 · 1 child · matched 5 later episodes: 4 succeeded, 4 of them with it as",
            "When\nheat some object with a broken microwave",
            "How\nuse the stove",
            f"episode {person.node.origin.trajectory} (outcome: stated)",
        ):
            assert words in shown

    browse(folder, story, "kitchen")


def test_the_chain_is_what_an_agent_receives(folder: Path) -> None:
    from deltamem_tui.memory.deltamem.definition import DISPLAY
    from deltamem_tui.memory.recall_result import chain_entries

    async def story(person: Person) -> None:
        await person.press("asterisk", "j", "j", "c")
        pane = person.trees.query_one("#detail", TextPane)
        chain = person.bank.tree("task").chain(person.node.id)
        entries = chain_entries(DISPLAY["task"], chain)
        assert [f"{each.title}\n{each.body}" for each in pane.sections] == entries
        assert (len(entries), pane.current) == (3, 2)
        await person.press("c")
        assert pane.current is None

    browse(folder, story, "kitchen")


LOOK, COOL = "look at some object under the lamp", "cool some object and put it in a place"
HEAT = "heat some object and put it in a place"
SORTED = {
    "newest": [LOOK, COOL, HEAT],
    "hits": [COOL, LOOK, HEAT],
    "utility": [HEAT, COOL, LOOK],
    "birth": [HEAT, COOL, LOOK],
}
"""What the roots are sorted to: each order tells those apart that it is about."""


def test_siblings_are_sorted(folder: Path) -> None:
    bank = Bank.open(folder / "kitchen")
    _, _, _, cool, look, _ = (node.id for node in bank.tree("task"))
    with bank.writing() as batch:
        batch.count("task", cool, hits=3, recalls=3)
        batch.count("task", look, hits=2, recalls=2)
        batch.log("learn")

    async def story(person: Person) -> None:
        tree = person.bank.tree("task")
        for order, wanted in SORTED.items():
            chosen = person.node.id
            await person.press("s")
            roots = [tree.node_at(row) for row in person.rows]
            assert [node.payload["activation_condition"] for node in roots] == wanted, order
            assert (f"by {order}" in person.screen) == (order != "birth")
            assert person.node.id == chosen
        assert person.trees.list_filter.arrangement.order == "birth"

    browse(folder, story, "kitchen")


def wide(path: Path) -> Path:
    """A bank of forty roots, the eleventh with two children."""
    bank = bare_bank(path / "wide")
    roots = [born("task", None, "success", Payload(f"root {n}", "do"), Origin()) for n in range(40)]
    said = [Payload(f"child {n}", "more") for n in range(2)]
    children = [born("task", roots[10], "success", each, Origin()) for each in said]
    add_plain(bank, "task", [*roots, *children])
    return path


def test_an_outline_is_clicked_and_scrolled(tmp_path: Path) -> None:
    async def story(person: Person) -> None:
        async def click(column: int, line: int) -> None:
            top = int(person.outline.scroll_offset.y)
            await person.pilot.click("#task", offset=(column, 1 + line - top))
            await person.settle()

        await click(8, 3)
        assert (person.outline.cursor, person.outline.line_count()) == (3, 40)
        await click(8, 10)
        assert person.node.payload["activation_condition"] == "root 10"
        assert "root 10" in "".join(each.body for each in person.trees.readable())
        await click(8, 10)  # the second click on a node unfolds it
        assert person.outline.line_count() == 42
        await click(0, 10)  # as does one on its sign
        assert person.outline.line_count() == 40
        await click(0, 4)  # a node without children stays as it is
        assert (person.outline.cursor, person.outline.line_count()) == (4, 40)
        await person.pilot._post_mouse_events([events.MouseScrollDown], "#task", offset=(8, 3))
        await person.settle()
        assert person.outline.scroll_offset.y > 0
        assert person.outline.cursor == 4
        await click(8, 6)
        assert person.outline.cursor == 6
        await person.pilot.click("#env", offset=(3, 2))
        await person.settle()
        assert person.outline.tree_name == "env"

    browse(wide(tmp_path), story, "wide")


def test_copy_goes_to_terminal_and_local_clipboard(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyperclip  # type: ignore[import-untyped]

    copied: list[str] = []
    monkeypatch.setattr(pyperclip, "copy", copied.append)

    async def story(person: Person) -> None:
        await person.press("c", "y")
        assert "When: heat some object" in person.app.clipboard
        assert copied == [person.app.clipboard]
        assert person.said[-1].startswith("copied ")

    browse(folder, story, "kitchen")


def test_the_pager_gets_the_whole_text(folder: Path) -> None:
    async def story(person: Person) -> None:
        read: list[str] = []
        person.app.texts.read = read.append
        await person.press("v")
        assert "When\nheat some object and put it in a place" in read[0]

    browse(folder, story, "kitchen")


def test_the_way_out_goes_one_step_at_a_time(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("slash")
        await person.write("stove")
        await person.press("enter", "c")
        await person.pilot.click("#detail")
        assert not person.outline.has_focus
        assert "chain from the root" in person.screen
        await person.press("escape")
        assert "chain from the root" not in person.screen
        assert person.outline.has_focus
        assert person.trees.list_filter.arrangement.text == "stove"
        await person.press("escape")
        assert person.trees.list_filter.arrangement.text == ""
        await person.press("escape")
        assert isinstance(person.app.screen, MemoryScreen), "not by one key too many"
        await person.press("escape")
        assert isinstance(person.app.screen, BanksScreen)

    browse(folder, story, "kitchen")
