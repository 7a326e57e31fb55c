"""A scenario is done once; then the power fails at each of its moments, and the bank goes on."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from deltamem_tui.errors import StorageError
from tests.bank.fragile import FragileOS
from tests.bank.killing import run_until_killed
from tests.bank.power.disk import Change, Disk, Fate, PowerCut, read_tree, write_tree

Step = Callable[[], object]


@dataclass(frozen=True)
class Scenario:
    """What is done below a folder.

    Attributes:
        prepare: Makes what is on the disk before.
        steps: What is done; each is acknowledged when it returns.
        look: What a reader finds, to be compared; raises if it is not sound.
        go_on: What the next writer does; raises if it cannot or if what it leaves is not sound.
        whole: Whether a step that the disk refuses, and reports so, has changed nothing.
    """

    prepare: Callable[[Path], object]
    steps: Callable[[Path], Sequence[Step]]
    look: Callable[[Path], Any]
    go_on: Callable[[Path], object]
    whole: bool = False


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
        self._before = trees[0]
        self._states = [self._outcome(tree) for tree in trees]
        self._seen: dict[int, str] = {}

    def fault(self, cut: PowerCut, fate: Callable[[Change], Fate]) -> str:
        """What a power cut breaks; empty if nothing."""
        tree = cut.left(fate)
        known = hash((cut.acknowledged, repr(tree)))
        if known not in self._seen:
            self._seen[known] = self._fault(tree, cut.acknowledged)
        return self._seen[known]

    def effects(self) -> int:
        """How many effects on the disk the steps have, at each of which a process can be killed."""
        with self._root() as root:
            return run_until_killed(lambda: self._run(root)) or 0

    def fault_if_killed(self, last: int) -> str:
        """What is broken if the process is killed before one of its effects; empty if nothing."""
        with self._root() as root:
            run_until_killed(lambda: self._run(root), last)
            acknowledged = len(_log_of(root).read_bytes()) if _log_of(root).exists() else 0
            return self._fault(read_tree(root), acknowledged)

    def fault_if_full(self, last: int) -> str:
        """What is broken if the disk is full at one of the effects; empty if nothing."""
        with self._root() as root:
            with FragileOS(last, "disk full").at_work(), suppress(StorageError):
                self._run(root)
            acknowledged = len(_log_of(root).read_bytes()) if _log_of(root).exists() else 0
            return self._fault(read_tree(root), acknowledged, refused=self._scenario.whole)

    def _run(self, root: Path) -> None:
        for step in self._scenario.steps(root):
            step()
            with _log_of(root).open("ab") as log:
                log.write(b".")

    @contextmanager
    def _root(self) -> Iterator[Path]:
        root = self._folder / str(next(self._fresh))
        write_tree(self._before, root)
        yield root
        shutil.rmtree(root)

    def _fault(self, tree: Mapping[str, Any], acknowledged: int, *, refused: bool = False) -> str:
        try:
            found = self._outcome(tree)
        except Exception as error:  # noqa: BLE001 - whatever a bank's user would have met
            return f"{type(error).__name__}: {error}"
        begun = self._states[acknowledged : acknowledged + (1 if refused else 2)]
        if found in begun:
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


def _log_of(root: Path) -> Path:
    """Where a run notes each step that was acknowledged: beside what it works on."""
    return root.with_suffix(".log")


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
