"""A scenario is done once; then the power fails at each of its moments, and the bank goes on."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from tests.bank.power.disk import Change, Disk, Fate, PowerCut, read_tree, write_tree

Step = Callable[[], object]
UNFINISHED = "unfinished"
"""What a reader finds that is told that a step was broken off."""


@dataclass(frozen=True)
class Scenario:
    """What is done below a folder.

    Attributes:
        prepare: Makes what is on the disk before.
        steps: What is done; each is acknowledged when it returns.
        look: What a reader finds, to be compared; raises if it is not sound.
        go_on: What the next writer does; raises if it cannot or if what it leaves is not sound.
        needless: The sites whose syncs are not needed here, and why they stay.
    """

    prepare: Callable[[Path], object]
    steps: Callable[[Path], Sequence[Step]]
    look: Callable[[Path], Any]
    go_on: Callable[[Path], object]
    needless: Mapping[str, str] = field(default_factory=dict)


class Trial:
    """A scenario that was done once, on a disk that took notes.

    Attributes:
        disk: The disk.
    """

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self._scenario = scenario
        self._folder = folder
        self._fresh = count()
        root = folder / "root"
        root.mkdir()
        scenario.prepare(root)
        self.disk = Disk(root)
        trees = [read_tree(root)]
        for step in scenario.steps(root):
            with self.disk.recording():
                step()
            self.disk.acknowledge()
            trees.append(read_tree(root))
        self._states = [self._outcome(tree) for tree in trees]
        self._seen: dict[int, str] = {}

    def fault(self, cut: PowerCut, fate: Callable[[Change], Fate]) -> str:
        """What a power cut breaks; empty if nothing."""
        tree = cut.left(fate)
        known = hash((cut.acknowledged, repr(tree)))
        if known not in self._seen:
            self._seen[known] = self._fault(tree, cut.acknowledged)
        return self._seen[known]

    def _fault(self, tree: Mapping[str, Any], acknowledged: int) -> str:
        try:
            found = self._outcome(tree)
        except Exception as error:  # noqa: BLE001 - whatever a bank's user would have met
            return f"{type(error).__name__}: {error}"
        begun = self._states[acknowledged : acknowledged + 2]
        if found in begun:
            return ""
        if found[0] == UNFINISHED and found[1] in [each[1] for each in begun[1:]]:
            return ""
        earlier = found[0] in [each[0] for each in self._states]
        return "another step's state" if earlier else "no step's state"

    def _outcome(self, tree: Mapping[str, Any]) -> tuple[Any, Any]:
        """What a reader finds in a folder, and what is there after the next writer."""
        path = self._folder / str(next(self._fresh))
        write_tree(tree, path)
        try:
            found = self._scenario.look(path)
            self._scenario.go_on(path)
            return found, self._scenario.look(path)
        finally:
            shutil.rmtree(path)


def fates(cut: PowerCut, random: Random, drawn: int) -> Iterator[Callable[[Change], Fate]]:
    """What may become of what was not synced: all of it lost, all kept, and some draws.

    Args:
        cut: When the power failed.
        random: What draws.
        drawn: How many draws.
    """
    yield lambda _: Fate.LOST
    yield lambda _: Fate.KEPT
    for _ in range(drawn):
        chances = random.choice([(8, 1, 1, 1), (1, 8, 1, 1), (1, 1, 1, 1)])
        drawn_fates = random.choices(list(Fate), chances, k=len(cut.pending))
        yield dict(zip(cut.pending, drawn_fates, strict=True)).__getitem__


def unsynced_fates(cut: PowerCut) -> Iterator[Callable[[Change], Fate]]:
    """What may become of what a left out sync owes, while all the rest is kept or lost."""
    owed = [change for change in cut.pending if change in cut.owed]
    for fate in (Fate.LOST, Fate.ZEROS, Fate.HALF):
        yield _fate_of(owed, fate, Fate.KEPT)
    for change in owed[:20]:
        yield _fate_of([change], Fate.LOST, Fate.KEPT)
    yield _fate_of(owed, Fate.LOST, Fate.LOST)


def _fate_of(changes: Iterable[Change], theirs: Fate, others: Fate) -> Callable[[Change], Fate]:
    chosen = set(changes)
    return lambda change: theirs if change in chosen else others
