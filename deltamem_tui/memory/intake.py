"""Intake: episodes from logs into a bank, each once, waiting to be learnt.

Secrets are taken out here, because every way into a bank's episodes leads through here.
An episode's id is that of what is kept, and so is the id that users name an outcome by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.shelf import LINE_LIMIT
from deltamem_tui.errors import BankCorruptError, RecordError
from deltamem_tui.memory.receipts import Intake, Receipt, Reception
from deltamem_tui.trajectory.admission import admitted
from deltamem_tui.trajectory.logs.log import located
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.native import from_record, to_line, to_record
from deltamem_tui.trajectory.redaction import NOTHING, Redactions, redact
from deltamem_tui.trajectory.user_outcomes import UserOutcomes

_BATCH_EPISODES = 1000
_BATCH_CHARACTERS = 32_000_000
_CHARACTER_BYTES = 4  # the most that one takes in UTF-8, and more than one escaped
_STEP_BYTES = 100  # more than a step's keys take
_NO_OUTCOMES = UserOutcomes()

Redaction = Literal["secrets", "personal", "off"]
"""What is taken out of episodes: secrets, e-mail addresses too, or nothing."""


@dataclass(frozen=True, slots=True)
class _Arrival:
    """An episode as it shall be kept, what takes time to find out, and what was taken out."""

    trajectory: Trajectory
    id: str
    characters: int
    redactions: Redactions


def take_in(
    bank: Bank,
    records: Iterable[Trajectory | RecordError],
    *,
    redaction: Redaction = "secrets",
    outcomes: UserOutcomes = _NO_OUTCOMES,
    dry_run: bool = False,
    listed: bool = True,
    advance: Callable[[int], None] = lambda _: None,
) -> Intake:
    """Import episodes. Those that the bank has already are counted and left alone.

    An episode that waits without an outcome and now comes with one is updated.

    Args:
        bank: The bank; its handle shows the new state afterwards.
        records: What readers give: episodes, and records they refused.
        redaction: What is taken out of the episodes first.
        outcomes: What the user says of episodes whose logs do not say how they ended.
        dry_run: Look, but write nothing.
        listed: Keep a receipt of each episode. Without, memory does not grow with the logs.
        advance: Told how many records were read since it was last called.

    Raises:
        BankFrozenError: The bank is frozen.
        StorageError: The disk refused; what was committed before stays.
    """
    intake = Intake(listed=listed)
    seen: dict[str, bool] = {}
    arrivals = (_arrived(record, redaction, outcomes) for record in records)
    for batch in _batches(arrivals, intake, advance):
        if dry_run:
            receptions = _receptions(bank, batch, seen)
        else:
            with bank.writing() as changes:
                receptions = _receptions(bank, batch, seen)
                fresh = [arrival for arrival, what in receptions if what != "duplicate"]
                for arrival in fresh:
                    changes.put_episode(to_record(arrival.trajectory))
                if fresh:
                    ids = dict.fromkeys(arrival.id for arrival in fresh)
                    changes.log("import", {"trajectories": list(ids)})
        for arrival, reception in receptions:
            intake.receive(_receipt(arrival, reception))
    return intake


def _arrived(
    record: Trajectory | RecordError, redaction: Redaction, outcomes: UserOutcomes
) -> _Arrival | RecordError:
    """A record as it shall be kept, or why it is not."""
    if isinstance(record, RecordError):
        return record
    trajectory, redactions = record, NOTHING
    if redaction != "off":
        trajectory, redactions = redact(record, personal=redaction == "personal")
    if redactions.total:  # marks may be longer than what they stand for
        try:
            trajectory = admitted(trajectory)
        except RecordError as error:
            return located(error, record.source.file, record.source.position)
    trajectory = outcomes.apply(trajectory)
    characters = len(trajectory.text)
    size = _line_bytes(trajectory, characters)
    if size > LINE_LIMIT:
        return _too_long(trajectory, size)
    return _Arrival(trajectory, trajectory.id, characters, redactions)


def _batches(
    arrivals: Iterable[_Arrival | RecordError], intake: Intake, advance: Callable[[int], None]
) -> Iterator[list[_Arrival]]:
    """Gather episodes, so that the lock is never held while a log is read."""
    batch: list[_Arrival] = []
    characters = 0
    for arrival in arrivals:
        advance(1)
        if isinstance(arrival, RecordError):
            intake.reject(arrival)
            continue
        batch.append(arrival)
        characters += arrival.characters
        if len(batch) >= _BATCH_EPISODES or characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _receipt(arrival: _Arrival, reception: Reception) -> Receipt:
    trajectory = arrival.trajectory
    return Receipt(
        id=arrival.id,
        task=trajectory.task,
        steps=len(trajectory.steps),
        outcome=trajectory.outcome,
        source=trajectory.source,
        reception=reception,
        redactions=tuple(arrival.redactions.counts.items()),
    )


def _line_bytes(trajectory: Trajectory, characters: int) -> int:
    """The bytes that a bank would keep of an episode; 0 if there is no need to measure."""
    most = _CHARACTER_BYTES * characters + _STEP_BYTES * len(trajectory.steps)
    if most < LINE_LIMIT // 2:
        return 0
    return len(to_line(trajectory))


def _too_long(trajectory: Trajectory, size: int) -> RecordError:
    return RecordError(
        f"the episode has {size:,} bytes, more than the {LINE_LIMIT:,} that a bank keeps of one",
        source=trajectory.source.file or None,
        position=trajectory.source.position or None,
        hint="cut its observations in the log",
    )


def _receptions(
    bank: Bank, batch: Iterable[_Arrival], seen: dict[str, bool]
) -> list[tuple[_Arrival, Reception]]:
    """What becomes of each episode.

    Args:
        bank: The bank.
        batch: The episodes.
        seen: Per id of this intake so far, whether that episode still lacks an outcome.
    """
    receptions: list[tuple[_Arrival, Reception]] = []
    for arrival in batch:
        outcome = arrival.trajectory.outcome
        known = arrival.id in seen or bank.episodes.state(arrival.id) is not None
        if arrival.id not in seen:
            seen[arrival.id] = known and _lacks_outcome(bank, arrival.id)
        is_news = seen[arrival.id] and outcome.known
        receptions.append(
            (arrival, "imported" if not known else "updated" if is_news else "duplicate")
        )
        if is_news or not known:
            seen[arrival.id] = not outcome.known
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
