"""100,000 nodes: what is built and parsed is counted, not timed."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node, Origin, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.tui.models.outline import Family, Outline
from tests.tui.support import Person, bare_bank, browse

ROOTS = 1_000
WIDE = 50_000
SMALL = 49


def nodes() -> Iterator[Node]:
    """100,000: one root with 50,000 children, 999 with 49 each, and the 1,000 roots."""
    for number in range(ROOTS):
        root = born("task", None, "success", Payload(f"root {number}", "do"), Origin())
        yield root
        for child in range(WIDE if number == 7 else SMALL):
            failure = number == 500 and child == 40
            label: Label = "failure" if failure else "success"
            said = Payload(f"residual {number}.{child}", "more")
            yield born("task", root, label, said, Origin())


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    bank = bare_bank(folder / "large")
    vector = np.array([1, 0], dtype=np.float32)
    with bank.writing() as batch:
        for node in nodes():
            batch.add_node("task", node, vector)
        batch.log("grow")
    return folder


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows that were parsed into nodes."""
    rows: list[int] = []
    real = Tree.node_at

    def counted(self: Tree, row: int) -> Node:
        rows.append(row)
        return real(self, row)

    monkeypatch.setattr(Tree, "node_at", counted)
    return rows


def living(kind: type) -> int:
    return sum(issubclass(type(each), kind) for each in gc.get_objects())


def test_opening_parses_a_screenful(large: Path, parsed: list[int]) -> None:
    async def story(person: Person) -> None:
        assert len(person.bank.tree("task")) == ROOTS + WIDE + (ROOTS - 1) * SMALL
        assert person.outline.line_count() == ROOTS
        assert 0 < len(parsed) < 200
        gc.collect()
        assert living(Node) < 200
        assert len(list(person.app.screen.walk_children())) < 100

    browse(large, story, "large", size=(120, 40))


def test_a_node_with_50_000_children_expands_without_parsing_them(
    large: Path, parsed: list[int]
) -> None:
    async def story(person: Person) -> None:
        await person.press(*["j"] * 7)
        before = len(parsed)
        await person.press("space")
        assert person.outline.line_count() == ROOTS + WIDE
        assert len(parsed) - before < 100
        await person.press("G")
        assert person.node.payload["activation_condition"] == f"root {ROOTS - 1}"
        assert len(parsed) - before < 200

    browse(large, story, "large", size=(120, 40))


def test_everything_expanded_is_two_arrays(large: Path) -> None:
    family = Family(Bank.open(large / "large").tree("task"))
    outline = Outline(family)
    for line in range(len(outline) - 1, -1, -1):
        if line % 100 == 0:
            outline.expand_below(line)
    assert isinstance(outline.rows, np.ndarray)
    assert len(outline) == ROOTS + 10 * SMALL
    assert len(Outline(family, family.parents())) == 99_951


def test_a_condition_parses_nothing(large: Path, parsed: list[int]) -> None:
    async def story(person: Person) -> None:
        before = len(parsed)
        await person.press("slash")
        await person.write("label:failure")
        await person.press("enter")
        assert person.outline.line_count() == 2
        assert len(parsed) - before < 100

    browse(large, story, "large")


HEAVY = {"torch", "sentence_transformers", "sklearn", "litellm", "transformers"}


def test_looking_at_a_bank_loads_no_model(large: Path) -> None:
    """In an interpreter of its own, because this one has loaded everything."""
    script = f"""
import asyncio, sys
from pathlib import Path
from deltamem_tui.tui.app import DeltaMemApp

async def look():
    app = DeltaMemApp(Path({str(large)!r}), Path({str(large / "large")!r}))
    async with app.run_test(size=(80, 24)) as pilot:
        for key in ("j", "c", "2", "3", "4", "1"):
            await pilot.press(key)
            await app.workers.wait_for_complete()
            await pilot.pause()

asyncio.run(look())
print("loaded:", *sorted({{name.partition(".")[0] for name in sys.modules}}))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.splitlines()[-1].removeprefix("loaded: ").split())
    assert "textual" in loaded
    assert loaded & HEAVY == set()


NOT_BEFORE_IT_IS_ASKED_FOR = {
    "typer",
    "deltamem_tui.trajectory.readers",
    "litellm",
    "deltamem_tui.memory.prompts.library",
    "deltamem_tui.memory.deltamem.recall",
    "deltamem_tui.tui.screens.banks",
    "deltamem_tui.tui.screens.recall",
    "deltamem_tui.tui.screens.episodes",
    "deltamem_tui.tui.screens.report",
    "deltamem_tui.tui.screens.help",
    "deltamem_tui.tui.widgets.dialogs",
}


def test_the_first_screen_of_a_bank_loads_nothing_but_what_it_shows(large: Path) -> None:
    script = f"""
import asyncio, sys
from pathlib import Path
import deltamem_tui.__main__
from deltamem_tui.tui.app import DeltaMemApp

async def look():
    app = DeltaMemApp(Path({str(large)!r}), Path({str(large / "large")!r}))
    async with app.run_test(size=(80, 24)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.screen.shown.line_count()
        assert len(app.screen_stack) == 1

asyncio.run(look())
print("loaded:", *sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "deltamem_tui.tui.screens.memory" in loaded
    assert loaded & NOT_BEFORE_IT_IS_ASKED_FOR == set()


def test_an_outline_that_is_all_collapsed_visits_no_node(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    family = Family(Bank.open(large / "large").tree("task"))
    monkeypatch.setattr(Family, "children", None)
    assert Outline(family).rows.tolist() == family.roots.tolist()
