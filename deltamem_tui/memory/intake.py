"""Intake: episodes from logs into a bank, each once, waiting to be learnt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.native import from_record, to_record

_BATCH_EPISODES = 1000
_BATCH_CHARACTERS = 32_000_000

Reception = Literal["imported", "updated", "duplicate"]


@dataclass(slots=True)
class Intake:
    """What became of the records of some logs.

    Attributes:
        received: Every episode that was read, and what became of it, in order.
        rejected: Every record that was refused, and why.
    """

    received: list[tuple[Trajectory, Reception]] = field(default_factory=list)
    rejected: list[RecordError] = field(default_factory=list)

    def count(self, reception: Reception) -> int:
        """How many episodes had this reception."""
        return sum(1 for _, what in self.received if what == reception)


def take_in(
    bank: Bank,
    records: Iterable[Trajectory | RecordError],
    *,
    dry_run: bool = False,
    advance: Callable[[int], None] = lambda _: None,
) -> Intake:
    """Import episodes. Those that the bank has already are counted and left alone.

    An episode that waits without an outcome and now comes with one is updated.

    Args:
        bank: The bank; its handle shows the new state afterwards.
        records: What readers give: episodes, and records they refused.
        dry_run: Look, but write nothing.
        advance: Told how many records were read since it was last called.

    Raises:
        BankFrozenError: The bank is frozen.
        StorageError: The disk refused; what was committed before stays.
    """
    intake = Intake()
    seen: set[str] = set()
    for batch in _batches(records, intake, advance):
        if dry_run:
            intake.received += _receptions(bank, batch, seen)
            continue
        with bank.writing() as changes:
            receptions = _receptions(bank, batch, seen)
            fresh = [trajectory for trajectory, what in receptions if what != "duplicate"]
            for trajectory in fresh:
                changes.put_episode(to_record(trajectory))
            if fresh:
                changes.log("import", {"trajectories": [trajectory.id for trajectory in fresh]})
        intake.received += receptions
    return intake


def _batches(
    records: Iterable[Trajectory | RecordError], intake: Intake, advance: Callable[[int], None]
) -> Iterator[list[Trajectory]]:
    """Gather episodes, so that the lock is never held while a log is read."""
    batch: list[Trajectory] = []
    characters = 0
    for record in records:
        advance(1)
        if isinstance(record, RecordError):
            intake.rejected.append(record)
            continue
        batch.append(record)
        characters += len(record.text)
        if len(batch) >= _BATCH_EPISODES or characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _receptions(
    bank: Bank, batch: Iterable[Trajectory], seen: set[str]
) -> list[tuple[Trajectory, Reception]]:
    receptions: list[tuple[Trajectory, Reception]] = []
    for trajectory in batch:
        receptions.append((trajectory, _reception(bank, trajectory, seen)))
        seen.add(trajectory.id)
    return receptions


def _reception(bank: Bank, trajectory: Trajectory, seen: set[str]) -> Reception:
    if trajectory.id in seen:
        return "duplicate"
    state = bank.episodes.state(trajectory.id)
    if state is None:
        return "imported"
    record = bank.episodes.record(trajectory.id)
    outcome_is_news = (
        state == EpisodeState.WAITING
        and trajectory.outcome.known
        and record is not None
        and not from_record(record).outcome.known
    )
    return "updated" if outcome_is_news else "duplicate"


def episodes(bank: Bank) -> Iterator[Trajectory]:
    """All episodes of a bank, learnt or waiting, in order of import."""
    return _read(bank, bank.episodes.ids())


def waiting(bank: Bank) -> Iterator[Trajectory]:
    """The episodes that wait to be learnt, in order of import, without an outcome or with."""
    return _read(bank, bank.episodes.waiting())


def _read(bank: Bank, ids: Iterable[str]) -> Iterator[Trajectory]:
    for episode_id in ids:
        record = bank.episodes.record(episode_id)
        if record is not None:
            yield from_record(record)
