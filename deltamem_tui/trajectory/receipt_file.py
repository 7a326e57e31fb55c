"""Receipts in files of a person's, joined to the episodes that they belong to.

One without the name of an `episode` is for those with its task, and its scene where several have
that task; where it is still not plain, none is taken: credit is not guessed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from deltamem_tui.errors import RecordError, UsageError
from deltamem_tui.trajectory.logs.record import Record
from deltamem_tui.trajectory.logs.sources import find_logs
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.receipt import Receipt, digest_of, parsed, together
from deltamem_tui.trajectory.user_outcomes import external_ids

NAME = "receipt"
"""The name of metadata by which an episode's log names its receipt."""


@dataclass(slots=True)
class ReceiptFile:
    """The receipts that a person gives for an import."""

    by_name: Mapping[str, list[Receipt]] = field(default_factory=dict)
    by_task: Mapping[str, list[Receipt]] = field(default_factory=dict)
    joined: dict[str, set[str]] = field(default_factory=dict)
    unclear: set[str] = field(default_factory=set)

    @property
    def given(self) -> set[str]:
        """The ids of all receipts."""
        every = (*self.by_name.values(), *self.by_task.values())
        return {each.id for receipts in every for each in receipts}

    @property
    def shared(self) -> set[str]:
        """The ids of those without a name that fit several episodes: not all may have seen it."""
        unnamed = {each.id for receipts in self.by_task.values() for each in receipts}
        return {each for each in unnamed if len(self.joined.get(each, ())) > 1}

    def apply(self, trajectory: Trajectory) -> Trajectory:
        """Return the episode as its log has it, with the receipts that belong to it."""
        if not (self.by_name or self.by_task):
            return trajectory
        found = self._named(trajectory) or self._by_task(trajectory)
        if not found:
            return trajectory
        for each in found:
            self.joined.setdefault(each.id, set()).add(trajectory.id)
        return trajectory.with_facts(receipts=together((*trajectory.receipts, *found)))

    def _named(self, trajectory: Trajectory) -> list[Receipt]:
        names = (trajectory.id, *external_ids(trajectory), trajectory.metadata.get(NAME, ""))
        return [each for name in dict.fromkeys(names) for each in self.by_name.get(name, ())]

    def _by_task(self, trajectory: Trajectory) -> list[Receipt]:
        fitting = self.by_task.get(digest_of(trajectory.task), [])
        found: list[Receipt] = []
        for bank in dict.fromkeys(each.bank for each in fitting):
            several = [each for each in fitting if each.bank == bank]
            if _differ(several):
                scene = digest_of(trajectory.environment)
                several = [each for each in several if each.environment == scene]
            if _differ(several) or not several:
                self.unclear.add(trajectory.id)
            else:
                found.append(several[0])
        return found


def _differ(receipts: Iterable[Receipt]) -> bool:
    return len({frozenset((e.collection, e.node) for e in each.entries) for each in receipts}) > 1


def read_receipts(path: str) -> ReceiptFile:
    """Return the receipts in a file or a folder, as `recall --receipt` or `--json` writes them.

    Raises:
        UsageError: One of the files holds something else.
        TrajectoryError: A file cannot be opened.
    """
    by_name: dict[str, list[Receipt]] = defaultdict(list)
    by_task: dict[str, list[Receipt]] = defaultdict(list)
    for found in find_logs([path]):
        for item in found.log.records():
            try:
                receipt, name = _named_receipt(item)
            except RecordError as error:
                raise UsageError(
                    f"not a file of receipts: {error.message}",
                    source=error.source or found.log.name,
                    position=error.position or item.position,
                    hint="`deltamem recall --receipt FILE` writes one",
                ) from error
            by_name[receipt.id].append(receipt)
            if name:
                by_name[name].append(receipt)
            else:
                by_task[receipt.task].append(receipt)
    return ReceiptFile(dict(by_name), dict(by_task))


def _named_receipt(item: Record | RecordError) -> tuple[Receipt, str]:
    if isinstance(item, RecordError):
        raise item
    value: Any = item.value
    for key in ("data", NAME):  # in what a command printed
        if isinstance(value, Mapping) and isinstance(value.get(key), Mapping):
            value = value[key]
    receipt, name = parsed(value), value.get("episode")
    return receipt, name if isinstance(name, str) else ""
