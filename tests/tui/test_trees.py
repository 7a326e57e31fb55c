"""The trees screen: moving, filtering, chains, and putting right."""

from __future__ import annotations

import threading
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.widgets import Input

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Origin, Payload, born
from deltamem_tui.tui import programs, state
from deltamem_tui.tui.background import Progress
from deltamem_tui.tui.messages import Told
from deltamem_tui.tui.models.arrangement import Arrangement, arrange
from deltamem_tui.tui.screens import trees
from deltamem_tui.tui.screens.banks import BanksScreen
from deltamem_tui.tui.screens.trees import TreesScreen
from deltamem_tui.tui.widgets.dialogs import ConfirmDialog
from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.tui.support import Person, add_plain, bare_bank, browse, grow


def depth_and_text(person: Person) -> tuple[int, str]:
    return person.node.depth, person.node.payload.activation_condition


def test_a_chain_opens_step_by_step(folder: Path) -> None:
    async def story(person: Person) -> None:
        assert person.outline.line_count() == 3
        await person.press("right")
        # The chain of lone children opens in one go, down to where nothing is left to open.
        assert person.outline.line_count() == 5
        await person.press("right", "l")
        assert depth_and_text(person) == (3, "heat some object with a broken stove")
        await person.press("h")
        assert person.node.depth == 2
        await person.press("r")
        assert person.node.depth == 1
        await person.press("left")
        assert person.outline.line_count() == 3

    browse(folder, story, "kitchen")


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
        await person.press("j", "j", "minus")
        assert (person.outline.line_count(), person.outline.cursor) == (3, 0)
        await person.press("enter")
        assert person.outline.line_count() == 4

    browse(folder, story, "kitchen")


def test_failures_are_found_where_they_are_hidden(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("f")
        assert depth_and_text(person) == (3, "heat some object with a broken stove")
        await person.press("f")
        assert depth_and_text(person) == (1, "look at some object under the lamp")
        await person.press("F")
        assert person.node.depth == 3
        await person.press("p")
        assert person.node.depth == 2

    browse(folder, story, "kitchen")


def test_the_next_due_node_is_the_one_with_enough_hits(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("d")
        assert depth_and_text(person) == (2, "heat some object with a broken microwave")
        await person.press("t")
        assert person.outline.tree_name == "env"
        await person.press("d")
        assert "no node that is due" in person.said[-1]

    browse(folder, story, "kitchen")


def test_the_detail_says_all_of_a_node(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("d")
        shown = "\n".join(f"{each.title}\n{each.body}" for each in person.trees.readable())
        for words in (
            f"task residual {person.node.id} · success",
            "depth 2 · 1 child · 4 hits · recalled 5 times, 4 succeeded · 10 tokens",
            "When\nheat some object with a broken microwave",
            "How\nuse the stove",
            f"episode {person.node.origin.trajectory} (outcome: stated)",
        ):
            assert words in shown

    browse(folder, story, "kitchen")


def test_the_chain_is_what_an_agent_receives(folder: Path) -> None:
    from deltamem_tui.memory.context import chain_entries

    async def story(person: Person) -> None:
        await person.press("f", "c")
        pane = person.trees.query_one("#detail", TextPane)
        entries = chain_entries("task", person.app.bank.chain("task", person.node.id))
        assert [f"{each.title}\n{each.body}" for each in pane.sections] == entries
        assert (len(entries), pane.current) == (3, 2)
        await person.press("left_square_bracket", "left_square_bracket")
        assert pane.current == 0
        await person.press("left_square_bracket", "right_square_bracket")
        assert pane.current == 1
        assert "▌ ### Skill delta 1" in person.screen
        await person.press("c")
        assert pane.current is None

    browse(folder, story, "kitchen")


def long_chain(folder: Path, length: int) -> None:
    """A bank with one chain of as many nodes, each of which says three lines."""
    above, nodes = None, []
    for number in range(1, length + 1):
        said = Payload(f"condition {number}", f"step {number}\nand more\nand still more")
        above = born("task", above, "success", said, Origin())
        nodes.append(above)
    add_plain(bare_bank(folder / "long"), "task", nodes)


@pytest.mark.parametrize(("length", "height"), [(8, 60), (8, 24), (40, 40), (300, 24)])
def test_the_step_of_a_long_chain_is_in_sight(tmp_path: Path, length: int, height: int) -> None:
    """Also if the pane had no scrollbar before: the detail of a node may fit it."""
    long_chain(tmp_path, length)

    async def story(person: Person) -> None:
        await person.press("l", "G")
        assert person.node.depth == length
        await person.press("c")
        assert f"▌ step {length}" in [line.strip() for line in person.screen.splitlines()]
        await person.press("left_square_bracket")
        assert f"▌ step {length - 1}" in [line.strip() for line in person.screen.splitlines()]
        await person.press("c", "c")
        assert f"▌ step {length}" in [line.strip() for line in person.screen.splitlines()]

    browse(tmp_path, story, "long", size=(100, height))


FILTERS = {
    "FRIDGE": 1,
    "label:failure": 2,
    "kind:residual depth:2": 2,
    "hits:>3": 1,
    "is:never-recalled": 5,
    "recalls:1-5": 1,
    "recalls:1-4": 0,
    "recalls:>=5 hits:4": 1,
    "recalls:0-4": 5,
    "recalls:<1": 5,
    "is:consolidated": 0,
    "kind:root label:success": 2,
    "is:due": 1,
    '"some object" heat': 3,
    "nothing-like-it": 0,
}


def test_a_filter_keeps_what_it_says(folder: Path) -> None:
    async def story(person: Person) -> None:
        for typed, kept in FILTERS.items():
            await person.press("slash")
            await person.write(typed)
            await person.press("enter")
            family = person.outline.outline.family  # type: ignore[union-attr]
            assert family.kept is not None
            assert int(family.kept.sum()) == kept, typed
            assert f"{kept} fit the filter" in person.screen
            assert (person.outline.node is None) == (kept == 0)
        await person.press("escape")
        assert person.outline.outline.family.kept is None  # type: ignore[union-attr]

    browse(folder, story, "kitchen")


def test_what_was_collapsed_before_a_filter_is_collapsed_after_it(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("minus", "g", "j", "l")
        before = person.rows
        assert len(before) == 4
        await person.press("g", "slash")
        for typed in ("a", "label:failure"):
            await person.write(typed)
        await person.press("enter")
        assert len(person.rows) == 4, "both failures and what is above them"
        assert person.rows != before
        await person.press("G", "slash")
        await person.write("")
        await person.press("enter")
        assert person.rows == before

    browse(folder, story, "kitchen")


def test_a_bank_left_under_a_filter_shows_it_and_has_its_folds_after_it(folder: Path) -> None:
    async def leave(person: Person) -> None:
        await person.press("minus", "slash")
        await person.write("label:failure broken")
        await person.press("enter")
        assert len(person.rows) == 3
        await person.press("q")

    async def come_back(person: Person) -> None:
        assert person.app.screen.query_one("#filter", Input).value == "label:failure broken"
        assert "label:failure broken" in person.screen
        await person.press("g", "escape")
        assert len(person.rows) == 3
        assert [person.node.depth, person.outline.outline.expanded] == [1, set()]  # type: ignore[union-attr]

    browse(folder, leave, "kitchen")
    browse(folder, come_back, "kitchen")


def test_enter_on_a_filter_that_is_under_way_waits_for_it_and_begins_no_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    real, asked = arrange, []

    def slow(bank: Bank, arrangement: Arrangement, *rest: Any) -> Any:
        asked.append(arrangement.text)
        if arrangement.text:
            begun.set()
            assert go_on.wait(20)
        return real(bank, arrangement, *rest)

    monkeypatch.setattr(trees, "arrange", slow)

    async def story(person: Person) -> None:
        await person.press("slash")
        person.app.screen.query_one("#filter", Input).value = "lamp"
        await person.until(begun.is_set)
        await person.pilot.press("enter")
        for key in ("j", "c"):
            person.app.post_message(events.Key(key, key))
        await person.pilot.pause()
        assert len(person.rows) == 3, "what was there before"
        go_on.set()
        await person.settle()
        assert asked == ["", "lamp"]
        assert len(person.rows) == 1
        pane = person.trees.query_one("#detail", TextPane)
        assert "lamp" in pane.sections[0].body, "the key waited for what was found"
        await person.press("slash", "enter")
        assert asked == ["", "lamp"]

    browse(folder, story, "kitchen")


def test_a_filter_that_is_none_is_told(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("slash")
        await person.write("depth:deep")
        await person.press("enter")
        assert "no condition on a number" in person.said[-1]
        assert person.outline.line_count() == 3

    browse(folder, story, "kitchen")


LOOK, COOL = "look at some object under the lamp", "cool some object and put it in a place"
HEAT = "heat some object and put it in a place"
SORTED = {
    "newest": [LOOK, COOL, HEAT],
    "hits": [LOOK, COOL, HEAT],
    "recalls": [COOL, LOOK, HEAT],
    "children": [HEAT, COOL, LOOK],
    "birth": [HEAT, COOL, LOOK],
}
"""What the roots are sorted to: each order tells those apart that it is about."""


def test_siblings_are_sorted(folder: Path) -> None:
    bank = Bank.open(folder / "kitchen")
    _, _, _, cool, look, _ = (node.id for node in bank.tree("task"))
    with bank.writing() as batch:
        batch.count("task", cool, hits=2, recalls=3)
        batch.count("task", look, hits=3, recalls=2)
        batch.log("learn")

    async def story(person: Person) -> None:
        tree = person.app.bank.tree("task")
        for order, wanted in SORTED.items():
            chosen = person.node.id
            await person.press("s")
            roots = [tree.node_at(row) for row in person.rows]
            assert [node.payload.activation_condition for node in roots] == wanted, order
            assert (f"by {order}" in person.screen) == (order != "birth")
            assert person.node.id == chosen
        assert person.trees.arrangement.order == "birth"

    browse(folder, story, "kitchen")


def wide(path: Path) -> Path:
    """A bank of forty roots, the eleventh with two children."""
    bank = bare_bank(path / "wide")
    roots = [born("task", None, "success", Payload(f"root {n}", "do"), Origin()) for n in range(40)]
    said = [Payload(f"child {n}", "more") for n in range(2)]
    children = [born("task", roots[10], "success", each, Origin()) for each in said]
    add_plain(bank, "task", [*roots, *children])
    return path


def test_pages_are_as_long_as_what_one_sees(tmp_path: Path) -> None:
    async def story(person: Person) -> None:
        page = person.outline.scrollable_content_region.height - 1
        for key, line in (
            ("pagedown", page),
            ("ctrl+d", 2 * page),
            ("G", 39),
            ("ctrl+u", 39 - page),
            ("home", 0),
            ("pageup", 0),
        ):
            await person.press(key)
            assert person.outline.cursor == line, key
            assert person.node.payload.activation_condition == f"root {line}"
            assert person.node.payload.activation_condition in person.screen

    browse(wide(tmp_path), story, "wide")


def test_an_outline_is_clicked_and_scrolled(tmp_path: Path) -> None:
    async def story(person: Person) -> None:
        async def click(column: int, line: int) -> None:
            top = int(person.outline.scroll_offset.y)
            await person.pilot.click("#task", offset=(column, 1 + line - top))
            await person.settle()

        await click(8, 3)
        assert (person.outline.cursor, person.outline.line_count()) == (3, 40)
        await click(8, 10)
        assert person.node.payload.activation_condition == "root 10"
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


def edited(changes: dict[str, str]) -> object:
    def edit(text: str) -> str:
        for before, after in changes.items():
            assert before in text
            text = text.replace(before, after)
        return text

    return edit


def test_an_edit_is_embedded_journalled_and_undone(folder: Path) -> None:
    async def story(person: Person) -> None:
        before = person.node
        tree = person.app.bank.tree("task")
        vector = tree.embeddings[tree.row(before.id)].copy()
        person.app.edited = edited({"heat some object and": "warm every object and"})  # type: ignore[assignment]
        await person.press("e")
        assert person.node.payload.activation_condition.startswith("warm every object")
        assert person.node.revision == 1
        tree = person.app.bank.tree("task")
        assert (tree.embeddings[tree.row(before.id)] != vector).any()
        assert person.app.bank.commit.event == "edit"
        await person.press("u")
        assert person.node.payload == before.payload
        tree = person.app.bank.tree("task")
        assert (tree.embeddings[tree.row(before.id)] == vector).all()
        assert person.app.bank.commit.event == "undo"
        await person.press("u")
        assert "no change by hand is left" in person.said[-1]

    browse(folder, story, "kitchen")


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ("", "heading of the activation condition is missing"),
        (
            "= activation condition\n\n= execution procedure\nx\n= termination condition\n",
            "no activation condition",
        ),
    ],
)
def test_an_edit_that_says_nothing_is_refused(folder: Path, after: str, words: str) -> None:
    async def story(person: Person) -> None:
        sequence = person.app.bank.commit.sequence
        person.app.edited = lambda _: after
        await person.press("e")
        assert words in person.said[-1]
        assert Bank.open(folder / "kitchen").commit.sequence == sequence

    browse(folder, story, "kitchen")


def test_an_edit_of_what_another_changed_meanwhile_is_refused(folder: Path) -> None:
    async def story(person: Person) -> None:
        def edit(text: str) -> str:
            from deltamem_tui.memory import editing

            bank = Bank.open(folder / "kitchen")
            editing.relabel(bank, "task", bank.tree("task").node(person.node.id), "failure")
            return text.replace("heat", "warm")

        person.app.edited = edit
        await person.press("e")
        assert "was changed since you read it" in person.said[-1]
        assert "warm" not in Bank.open(folder / "kitchen").tree("task").node(person.node.id).text

    browse(folder, story, "kitchen")


def test_an_edit_while_work_goes_on_is_refused_before_anything_is_typed(folder: Path) -> None:
    go_on, opened = threading.Event(), threading.Event()

    def learn(_: Progress) -> Told:
        assert go_on.wait(20)
        return Told("learnt")

    def edit(text: str) -> str:
        opened.set()
        return text

    async def story(person: Person) -> None:
        person.app.edited = edit
        person.app.work("learning", learn, can_stop=True)
        await person.pilot.press("e")
        await person.until(lambda: bool(person.said))
        assert person.said == ["still learning; x cancels it"]
        go_on.set()
        await person.settle()
        assert not opened.is_set()
        await person.press("e")
        assert opened.is_set()

    browse(folder, story, "kitchen")


def test_an_editor_whose_command_cannot_be_read_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "vi 'x")

    async def story(person: Person) -> None:
        person.app.edited = programs.edited
        await person.press("e")
        assert person.said[-1].startswith("$EDITOR is no command")
        assert "no closing quotation" in person.said[-1]

    browse(folder, story, "kitchen")


def test_relabel(folder: Path) -> None:
    async def story(person: Person) -> None:
        labels = []
        for key in ("L", "L", "u", "u"):
            await person.press(key)
            labels.append(person.node.label)
        assert labels == ["failure", "success", "failure", "success"]
        assert person.node.revision == 4

    browse(folder, story, "kitchen")


def test_move_and_undo(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("j", "m")
        assert "go to its new parent and press m" in person.said[-1]
        moved = person.node.id
        await person.press("k", "m")
        assert person.node.id == moved
        assert (person.node.depth, person.node.kind) == (2, "residual")
        child = next(person.app.bank.tree("task").children(moved))
        assert child.depth == 3
        await person.press("u")
        node = person.app.bank.tree("task").node(moved)
        assert (node.depth, node.kind, node.parent) == (1, "root", None)
        assert next(person.app.bank.tree("task").children(moved)).depth == 2

    browse(folder, story, "kitchen")


def test_a_node_that_is_being_moved_is_marked_until_the_move_ends(folder: Path) -> None:
    """Whatever else is said meanwhile, one sees what the next m would do."""

    async def story(person: Person) -> None:
        def marked() -> bool:
            lines = person.screen.splitlines()
            mode = any(f"moving » {moved}: m below" in line for line in lines)
            line = any("» cool some object and put" in line for line in lines)
            assert mode == line == (person.trees.moving is not None)
            return mode

        async def begin() -> None:
            await person.press("1", "g", "j", "m")

        moved = [node.id for node in person.app.bank.tree("task").roots()][1]
        await begin()
        assert marked()
        await person.press("y", "k", "c", "question_mark", "escape", "t", "t")
        assert marked()
        await person.press("escape")
        assert not marked()
        await begin()
        await person.press("2", "escape", "1")
        assert not marked()
        await begin()
        await person.press("k", "m")
        assert not marked()
        assert person.app.bank.tree("task").node(moved).depth == 2

    browse(folder, story, "kitchen", size=(100, 30))


def test_make_root(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("d", "M")
        assert (person.node.depth, person.node.kind) == (1, "root")
        assert person.app.bank.tree("task").node(person.node.id).parent is None

    browse(folder, story, "kitchen")


def test_a_move_that_cannot_be_is_refused(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("m", "d", "m")
        assert "cannot hang below itself" in person.said[-1]
        await person.press("g", "m", "escape")
        assert person.said[-1] == "not moved"
        assert isinstance(person.app.screen, TreesScreen)

    browse(folder, story, "kitchen")


def test_a_move_past_d_max_is_refused(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("j", "m", "g", "f", "m")
        assert "D_max is 4" in person.said[-1]

    browse(folder, story, "kitchen")


def test_delete_shows_what_goes_and_can_be_undone(folder: Path) -> None:
    async def story(person: Person) -> None:
        deleted = person.node
        await person.press("D")
        assert isinstance(person.app.screen, ConfirmDialog)
        assert "Delete 3 nodes of the task tree?" in person.screen
        assert f"root {deleted.id}" in person.screen
        failure = next(each for each in person.app.bank.tree("task") if each.label == "failure")
        assert f"{failure.id} ✗ heat some object with a broken stove" in person.screen
        await person.press("escape")
        assert len(person.app.bank.tree("task")) == 6
        await person.press("delete", "y")
        assert len(person.app.bank.tree("task")) == 3
        assert person.node != deleted
        await person.press("u")
        assert len(person.app.bank.tree("task")) == 6
        assert person.node.id == deleted.id, "one looks at what came back"
        assert max(node.depth for node in person.app.bank.tree("task")) == 3

    browse(folder, story, "kitchen")


def test_what_goes_is_told_apart_before_it_is_deleted(folder: Path) -> None:
    """Also nodes that are recalled for the same, whose beginnings are the same."""
    alike = "the same words before " * 5
    bank = Bank.open(folder / "kitchen")
    said = [(alike, "1. sing la", None), (alike, "1. sing lo", 0), (f"{alike}two", "sing", 0)]
    nodes = grow(bank, "task", [(*each, "success") for each in said])

    async def story(person: Person) -> None:
        await person.press("G", "D")
        assert f"{nodes[1].id} ″ lo" in person.screen
        assert f"{nodes[2].id} …two" in person.screen
        assert "→ 1. sing la" in person.screen

    browse(folder, story, "kitchen")


def test_nothing_is_changed_in_a_frozen_bank(folder: Path) -> None:
    Bank.open(folder / "kitchen").freeze()

    async def story(person: Person) -> None:
        person.app.edited = lambda text: text + "more"
        for number, key in enumerate(("e", "L", "m", "M", "D", "u"), start=1):
            await person.press(key)
            assert len(person.said) == number
            assert "the bank is frozen" in person.said[-1]
            assert isinstance(person.app.screen, TreesScreen)
        assert "FROZEN" in person.screen

    browse(folder, story, "kitchen")
    from deltamem_tui.bank.upkeep.verify import verify

    assert verify(Bank.open(folder / "kitchen")) == []


def test_a_bank_that_another_process_writes_is_read_again(folder: Path) -> None:
    from deltamem_tui.memory import editing

    async def story(person: Person) -> None:
        await person.press("j", "right")
        kept = person.node.id
        bank = Bank.open(folder / "kitchen")
        editing.delete(bank, "task", next(bank.tree("task").roots()))
        person.app.look_for_changes()
        await person.settle()
        assert len(person.app.bank.tree("task")) == 3
        assert person.node.id == kept
        assert person.outline.line_count() == 3
        assert "task · 3 nodes" in person.screen

    browse(folder, story, "kitchen")


def test_a_bank_that_was_closed_while_it_was_read_again_stays_closed(folder: Path) -> None:
    async def story(person: Person) -> None:
        person.app.open_bank(folder / "kitchen")
        await person.app.close_bank()
        await person.settle()
        assert isinstance(person.app.screen, BanksScreen)

    browse(folder, story, "kitchen")


@pytest.mark.parametrize(
    ("key", "module", "name"),
    [
        ("1", "screens.trees", "arrange"),
        ("2", "screens.recall", "answer"),
        ("3", "models.episodes", "nodes_by_episode"),
    ],
)
def test_what_is_found_out_while_the_bank_is_closed_is_dropped(
    folder: Path, monkeypatch: pytest.MonkeyPatch, key: str, module: str, name: str
) -> None:
    """A look-up that began when the bank was read again ends when the bank is closed already."""
    from deltamem_tui.memory import editing

    looks = import_module(f"deltamem_tui.tui.{module}")
    real, go_on = getattr(looks, name), threading.Event()

    def slow(*question: Any) -> Any:
        assert go_on.wait(20)
        return real(*question)

    async def story(person: Person) -> None:
        await person.press("enter", key)
        if key == "2":
            await person.write("heat some object")
            await person.press("enter")
        app, pop_screen = person.app, person.app.pop_screen
        monkeypatch.setattr(looks, name, slow)
        bank = Bank.open(folder / "kitchen")
        editing.relabel(bank, "task", next(bank.tree("task").roots()), "failure")
        app.look_for_changes()
        await person.until(lambda: app.bank.commit.event == "relabel")

        async def popped() -> None:
            assert not app.opened
            go_on.set()
            await app.workers.wait_for_complete()
            await pop_screen()

        monkeypatch.setattr(app, "pop_screen", popped)
        await person.pilot.press("escape")
        await person.settle()
        assert isinstance(app.screen, BanksScreen)
        assert app.failure is None

    browse(folder, story)


def test_what_was_collapsed_stays_so_when_the_bank_is_read_again(folder: Path) -> None:
    async def leave(person: Person) -> None:
        await person.press("d", "3", "escape")

    async def come_back(person: Person) -> None:
        await person.press("1", "minus", "L")
        assert person.outline.line_count() == 3

    browse(folder, leave, "kitchen")
    browse(folder, come_back, "kitchen")


def test_a_bank_is_found_as_it_was_left(folder: Path) -> None:
    async def leave(person: Person) -> None:
        await person.press("d", "t", "s", "3", "escape")
        assert isinstance(person.app.screen, BanksScreen)

    async def come_back(person: Person) -> None:
        assert "reading" not in person.screen
        await person.press("1")
        trees = person.trees
        node = trees.outline("task").node
        assert node is not None
        assert node.payload.activation_condition == "heat some object with a broken microwave"
        assert trees.arrangement.order == "newest"
        assert trees.outline("task").line_count() == 4

    browse(folder, leave, "kitchen")
    browse(folder, come_back, "kitchen")


@pytest.mark.parametrize(
    "text", ["{}", '{"screen": "trees"}', '{"nodes": {}}', '{"nodes": [1]}', "[]", "1", "{"]
)
def test_a_state_that_lacks_something_is_like_none(folder: Path, text: str) -> None:
    file = state.state_file(folder / "kitchen")
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert state.load(folder / "kitchen").nodes == {}

    async def story(person: Person) -> None:
        assert person.outline.cursor == 0
        assert "heat some object" in person.screen

    browse(folder, story, "kitchen")


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
        person.app.paged = read.append
        await person.press("v")
        assert "When\nheat some object and put it in a place" in read[0]

    browse(folder, story, "kitchen")
