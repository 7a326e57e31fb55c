"""Banks to look at, and somebody who presses keys."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input
from textual.worker import Worker, WorkerCancelled

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.node import Label, Node, Origin, born
from deltamem_tui.config import Configuration
from deltamem_tui.embedding.load import load
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.deltamem.definition import COLLECTIONS, METHOD, Parameters, TreeParameters
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.settings import to_record
from deltamem_tui.trajectory.model import Outcome, OutcomeSource, Step, Trajectory
from deltamem_tui.tui.app import DeltaMemApp
from deltamem_tui.tui.screens.episodes import EpisodeList
from deltamem_tui.tui.screens.memory import MemoryScreen
from deltamem_tui.tui.widgets.outline_view import OutlineView
from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.tui.quiet import all_is_done

NUMBERS = Parameters(task=TreeParameters(0.6, k_cons=3, d_max=4), env=TreeParameters(0.6, k_cons=3))

SKILLS: Sequence[tuple[str, str, int | None, Label]] = (
    (
        "heat some object and put it in a place",
        "1. find it\n2. heat it\n3. put it",
        None,
        "success",
    ),
    ("heat some object with a broken microwave", "use the stove", 0, "success"),
    ("heat some object with a broken stove", "use the microwave", 1, "failure"),
    ("cool some object and put it in a place", "1. find it\n2. cool it", None, "success"),
    ("look at some object under the lamp", "[FAILED] look → nothing", None, "failure"),
    ("cool some object in a locked fridge", "unlock it", 3, "success"),
)
SCENES: Sequence[tuple[str, str, int | None, Label]] = (
    ("a kitchen with a fridge and a microwave", "food is in the fridge", None, "success"),
    ("a kitchen with a locked fridge", "the key is in a drawer", 0, "success"),
    ("a bathroom with a sink", "soap is at the sink", None, "success"),
)

NODE_SHOWN = "Origin"
"""Said on a terminal once a node is chosen; the outline and the footer may be drawn before."""


def trajectory(task: str, scene: str = "", *, success: bool | None = None) -> Trajectory:
    source: OutcomeSource = "unknown" if success is None else "stated"
    return Trajectory(
        task=task,
        environment=scene,
        steps=(Step("go to fridge 1", "The fridge 1 is closed."), Step("open fridge 1", "Open.")),
        outcome=Outcome(success, source=source),
        domain="alfworld",
    )


LEARNT = trajectory("heat some egg", "a kitchen", success=True)
READY = trajectory("cool some lettuce and put it in countertop", "a kitchen", success=True)
UNSAID = trajectory("examine the bowl with the desklamp", "a bedroom")


def small_bank(path: Path) -> Bank:
    """Six skills, three pieces of knowledge, three episodes; every kind of node and episode."""
    bank = create_bank(path, embedder="hashing", domain="alfworld", parameters=NUMBERS)
    take_in(bank, [LEARNT, READY, UNSAID])
    grow(bank, "task", SKILLS)
    grow(bank, "env", SCENES)
    with bank.writing() as batch:
        heat = list(bank.tree("task"))[1]
        batch.count("task", heat.id, hits=4, recalls=5, successes=4)
        batch.set_state(LEARNT.id, 1)  # type: ignore[arg-type]
        batch.log("learn", {"trajectory": LEARNT.id, "trees": {"task": {"node": heat.id}}})
    return Bank.open(path)


def grow(bank: Bank, tree: str, said: Sequence[tuple[str, str, int | None, Label]]) -> list[Node]:
    """Write nodes that were described by condition, procedure, parent's number and label."""
    embedder = load("hashing")
    vectors = embedder.embed_passages([condition for condition, *_ in said])
    nodes: list[Node] = []
    with bank.writing() as batch:
        for (condition, procedure, parent, label), vector in zip(said, vectors, strict=True):
            above = None if parent is None else nodes[parent]
            origin = Origin(LEARNT.id, "stated")
            nodes.append(born(tree, above, label, Payload(condition, procedure), origin))
            batch.add_node(tree, nodes[-1], vector)
        batch.log("grow")
    return nodes


def bare_bank(path: Path, dimensions: int = 2) -> Bank:
    """An empty bank whose vectors nobody asks for."""
    card = {**asdict(load("hashing").card), "dimensions": dimensions}
    manifest = Manifest(
        path.name, METHOD.name, COLLECTIONS, embedder=card, settings=to_record(NUMBERS)
    )
    return Bank.create(path, manifest)


def add_plain(bank: Bank, tree: str, nodes: Sequence[Node]) -> None:
    """Write nodes with a vector that means nothing."""
    vector = np.zeros(bank.manifest.dimensions, dtype=np.float32)
    vector[0] = 1
    with bank.writing() as batch:
        for node in nodes:
            batch.add_node(tree, node, vector)
        batch.log("grow")


def many_nodes(path: Path) -> Bank:
    """150 skills and 40 pieces of knowledge, most of them never hit, one 31 times."""
    bank = small_bank(path)
    counts: Mapping[str, int] = {"task": 144, "env": 37}
    for tree, count in counts.items():
        said = [Payload(f"when it is {number}", f"do {number}") for number in range(count)]
        add_plain(bank, tree, [born(tree, None, "success", each, Origin()) for each in said])
    with bank.writing() as batch:
        for node, hits in zip(bank.tree("env"), (31, 9, 2, 2), strict=False):
            batch.count("env", node.id, hits=hits)
        batch.log("learn")
    return Bank.open(path)


class Person:
    """Somebody who presses keys and looks at the screen."""

    def __init__(self, app: DeltaMemApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        """Press keys, each once all that the one before it began is done, beside the screen too."""
        for key in keys:
            await self.pilot.press(key)
            if self._running(work=True):
                await self.settle()
        await self.settle()

    async def write(self, text: str) -> None:
        """Put a text into the line in focus, as a paste would."""
        line = self.app.focused
        assert isinstance(line, Input)
        line.value = text
        await self.settle()

    async def resize(self, size: tuple[int, int]) -> None:
        """Give the terminal another size."""
        await self.pilot.resize_terminal(*size)
        await self.settle(work=False)

    async def settle(self, *, work: bool = True) -> None:
        """Wait until no worker runs and no message waits.

        Args:
            work: Wait for what takes long as well, and not only for what screens look up.
        """
        await all_is_done()
        while running := self._running(work):
            with suppress(WorkerCancelled):  # given up for its successor, which runs by now
                await self.app.workers.wait_for_complete(running)
            await all_is_done()

    def _running(self, work: bool) -> list[Worker[Any]]:
        return [
            worker
            for worker in self.app.workers
            if not worker.is_finished and (work or worker.group != "work")
        ]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that happens while a worker still runs."""
        for _ in range(2_000):
            if condition():
                return
            await self.pilot.pause(0.01)
        raise AssertionError(f"it did not happen; the screen says\n{self.screen}")

    @property
    def screen(self) -> str:
        """What the terminal shows."""
        return screen_text(self.app)

    @property
    def trees(self) -> MemoryScreen:
        screen = self.app.screen
        assert isinstance(screen, MemoryScreen)
        return screen

    @property
    def outline(self) -> OutlineView:
        """The outline in focus."""
        return self.trees.shown

    @property
    def rows(self) -> list[int]:
        """The rows of the nodes that the outline in focus shows."""
        assert self.outline.outline is not None
        return [int(row) for row in self.outline.outline.rows]

    @property
    def node(self) -> Node:
        """The node under the cursor."""
        node = self.outline.node
        assert node is not None
        return node

    @property
    def bank(self) -> Bank:
        """The bank that is open, as it was last read."""
        assert self.app.session.home is not None
        return self.app.session.home.bank

    @property
    def said(self) -> list[str]:
        """What the program told the person, oldest first."""
        return list(self.app.notes.history)


def screen_text(app: App[None]) -> str:
    """The screen as lines of text."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)


def browse(
    folder: Path,
    story: Callable[[Person], Awaitable[None]],
    bank: str | None = None,
    *,
    size: tuple[int, int] = (100, 30),
    configuration: Configuration | None = None,
) -> None:
    """Run the browser on a banks folder while somebody does what the story says."""
    app = DeltaMemApp(folder, folder / bank if bank else None, configuration)

    async def run() -> None:
        async with app.run_test(size=size, notifications=True) as pilot:
            person = Person(app, pilot)
            await person.settle()
            await story(person)

    asyncio.run(run())


def pane(person: Person, name: str) -> str:
    """What a text pane says, whether it can be seen or not."""
    sections = person.app.screen.query_one(f"#{name}", TextPane).sections
    return "\n".join(f"{each.title}\n{each.body}" for each in sections)


def tasks(person: Person) -> list[str]:
    """The tasks of the episodes that are listed."""
    book = person.app.screen.query_one(EpisodeList).book
    assert book is not None
    return [book.trajectory(number).task for number in range(len(book))]
