"""Intake: episodes from logs into a bank, each once, waiting to be learnt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.shelf import LINE_LIMIT
from deltamem_tui.errors import BankCorruptError, RecordError
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.native import from_record, to_line, to_record

_BATCH_EPISODES = 1000
_BATCH_CHARACTERS = 32_000_000
_CHARACTER_BYTES = 4  # the most that one takes in UTF-8, and more than one escaped
_STEP_BYTES = 100  # more than a step's keys take

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
    seen: dict[str, bool] = {}
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
                ids = dict.fromkeys(trajectory.id for trajectory in fresh)
                changes.log("import", {"trajectories": list(ids)})
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
        if _line_bytes(record) > LINE_LIMIT:
            intake.rejected.append(_too_long(record))
            continue
        batch.append(record)
        characters += len(record.text)
        if len(batch) >= _BATCH_EPISODES or characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _line_bytes(trajectory: Trajectory) -> int:
    """The bytes that a bank would keep of an episode; 0 if there is no need to measure."""
    most = _CHARACTER_BYTES * len(trajectory.text) + _STEP_BYTES * len(trajectory.steps)
    if most < LINE_LIMIT // 2:
        return 0
    return len(to_line(trajectory))


def _too_long(trajectory: Trajectory) -> RecordError:
    return RecordError(
        f"the episode has {_line_bytes(trajectory):,} bytes, "
        f"more than the {LINE_LIMIT:,} that a bank keeps of one",
        source=trajectory.source.file or None,
        position=trajectory.source.position or None,
        hint="cut its observations in the log",
    )


def _receptions(
    bank: Bank, batch: Iterable[Trajectory], seen: dict[str, bool]
) -> list[tuple[Trajectory, Reception]]:
    """What becomes of each episode.

    Args:
        bank: The bank.
        batch: The episodes.
        seen: Per id of this intake so far, whether that episode still lacks an outcome.
    """
    receptions: list[tuple[Trajectory, Reception]] = []
    for trajectory in batch:
        known = trajectory.id in seen or bank.episodes.state(trajectory.id) is not None
        if trajectory.id not in seen:
            seen[trajectory.id] = known and _lacks_outcome(bank, trajectory.id)
        is_news = seen[trajectory.id] and trajectory.outcome.known
        receptions.append(
            (trajectory, "imported" if not known else "updated" if is_news else "duplicate")
        )
        if is_news or not known:
            seen[trajectory.id] = not trajectory.outcome.known
    return receptions


def _lacks_outcome(bank: Bank, episode_id: str) -> bool:
    """Whether an episode of the bank waits for somebody to say how it ended."""
    if bank.episodes.state(episode_id) != EpisodeState.WAITING:
        return False
    found = episode(bank, episode_id)
    return found is not None and not found.outcome.known


def episode(bank: Bank, episode_id: str) -> Trajectory | None:
    """One episode of a bank; None if the bank does not have it.

    Raises:
        BankCorruptError: What the bank has under this id is not that episode.
    """
    record = bank.episodes.record(episode_id)
    if record is None:
        return None
    problem = "is not the episode that its id names"
    try:
        found = from_record(record)
    except RecordError as error:
        problem = f"cannot be read: {error.message}"
    else:
        if found.id == episode_id:
            return found
    raise BankCorruptError(
        f"episode {episode_id} {problem}",
        source=str(bank.episodes.snapshot.shelf.lines_path),
        hint="restore the file from a copy of the bank",
    )


def episodes(bank: Bank) -> Iterator[Trajectory]:
    """All episodes of a bank, learnt or waiting, in order of import."""
    return _read(bank, bank.episodes.ids())


def waiting(bank: Bank) -> Iterator[Trajectory]:
    """The episodes that wait to be learnt, in order of import, without an outcome or with."""
    return _read(bank, bank.episodes.waiting())


def _read(bank: Bank, ids: Iterable[str]) -> Iterator[Trajectory]:
    for episode_id in ids:
        found = episode(bank, episode_id)
        if found is not None:
            yield found
