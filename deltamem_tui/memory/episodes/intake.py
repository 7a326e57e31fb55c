"""Intake: episodes from logs into a bank, each once, waiting to be learnt.

Secrets are taken out here, because every way into a bank's episodes leads through here.
An episode's id is that of what is kept, and so is the id that users name an outcome by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Literal

import orjson

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.batch import Batch
from deltamem_tui.bank.commits.shelf import LINE_LIMIT
from deltamem_tui.bank.episodes import Episodes, EpisodeState
from deltamem_tui.errors import BankCorruptError, RecordError
from deltamem_tui.memory.episodes.receipts import Intake, Reception
from deltamem_tui.memory.scenes import with_scene_of
from deltamem_tui.trajectory.admission import admitted
from deltamem_tui.trajectory.logs.log import located
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.readers.native import from_record, to_line
from deltamem_tui.trajectory.readers.reader import Reading
from deltamem_tui.trajectory.readers.written import Written, written
from deltamem_tui.trajectory.redaction import NOTHING, redact
from deltamem_tui.trajectory.user_outcomes import UserOutcomes

_BATCH_EPISODES = 5000
_BATCH_BYTES = 16_000_000
_NO_OUTCOMES = UserOutcomes()

Redaction = Literal["secrets", "personal", "off"]
"""What is taken out of episodes: secrets, e-mail addresses too, or nothing."""


def take_in(
    bank: Bank,
    records: Iterable[Reading | Written],
    *,
    redaction: Redaction = "secrets",
    outcomes: UserOutcomes = _NO_OUTCOMES,
    dry_run: bool = False,
    listed: bool = True,
    advance: Callable[[int], None] = lambda _: None,
) -> Intake:
    """Import episodes. Those that the bank has already are counted and left alone.

    An episode that waits without an outcome and now comes with one is updated. So is one that
    a judge gave its outcome, once its log or a person says how it ended.

    Args:
        bank: The bank; its handle shows the new state afterwards.
        records: What readers give: episodes, written out already or not, and records they
            refused.
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
    seen: dict[str, int] = {}
    arrivals = (_arrived(record, redaction, outcomes) for record in records)
    before = _Before()
    for batch in _batches(arrivals, intake, advance):
        if dry_run:
            receptions = _receptions(bank, before.of(bank), batch, seen)
        else:
            with bank.writing() as changes:
                receptions = _receptions(bank, before.of(bank), batch, seen)
                fresh = [(arrival, what) for arrival, what in receptions if what != "duplicate"]
                for new, group in groupby(fresh, lambda each: each[1] == "imported"):
                    _put(bank, changes, [arrival for arrival, _ in group], new=new)
                if fresh:
                    ids = dict.fromkeys(arrival.id for arrival, _ in fresh)
                    changes.log("import", {"trajectories": list(ids)})
            before.written(bank)
        for arrival, reception in receptions:
            intake.receive(arrival, reception)
    return intake


def _put(bank: Bank, changes: Batch, arrivals: list[Written], *, new: bool) -> None:
    if new:
        changes.put_new_episodes([each.id for each in arrivals], [each.line for each in arrivals])
        return
    for each in arrivals:
        changes.put_episode_line(each.id, _with_drawn_scene(bank, each))


def _with_drawn_scene(bank: Bank, arrival: Written) -> bytes:
    """The line of an episode that the bank has, with the scene that was drawn for it there."""
    known = episode(bank, arrival.id)
    if known is None:
        return arrival.line
    news = from_record(orjson.loads(arrival.line))
    found = with_scene_of(news, known)
    return arrival.line if found is news else to_line(found)


def _arrived(
    record: Reading | Written, redaction: Redaction, outcomes: UserOutcomes
) -> Written | RecordError:
    """A record as it shall be kept, or why it is not."""
    if isinstance(record, RecordError):
        return record
    if isinstance(record, Written):  # it has an outcome, and nothing that could be taken out
        return _bounded(record)
    trajectory, redactions = record, NOTHING
    if redaction != "off":
        trajectory, redactions = redact(record, personal=redaction == "personal")
    if redactions.total:  # marks may be longer than what they stand for
        try:
            trajectory = admitted(trajectory)
        except RecordError as error:
            return located(error, record.source.file, record.source.position)
    trajectory = outcomes.apply(trajectory)
    return _bounded(written(trajectory, record.source, redactions))


def _bounded(arrival: Written) -> Written | RecordError:
    if len(arrival.line) <= LINE_LIMIT:
        return arrival
    return RecordError(
        f"the episode has {len(arrival.line):,} bytes, "
        f"more than the {LINE_LIMIT:,} that a bank keeps of one",
        source=arrival.source.file or None,
        position=arrival.source.position or None,
        hint="cut its observations in the log",
    )


def _batches(
    arrivals: Iterable[Written | RecordError], intake: Intake, advance: Callable[[int], None]
) -> Iterator[list[Written]]:
    """Gather episodes, so that the lock is never held while a log is read."""
    batch: list[Written] = []
    size = 0
    for arrival in arrivals:
        advance(1)
        if isinstance(arrival, RecordError):
            intake.reject(arrival)
            continue
        batch.append(arrival)
        size += len(arrival.line)
        if len(batch) >= _BATCH_EPISODES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class _Before:
    """The episodes that a bank had before an intake.

    What the intake adds it knows by itself. To look it up in the bank after each batch would
    cost a new table of all ids each time, so that is done only if somebody else has written.
    """

    def __init__(self) -> None:
        self._episodes: Episodes | None = None
        self._sequence = -1

    def of(self, bank: Bank) -> Episodes:
        """The episodes to look in."""
        if self._episodes is None or bank.commit.sequence != self._sequence:
            self._episodes = bank.episodes
            self._sequence = bank.commit.sequence
        return self._episodes

    def written(self, bank: Bank) -> None:
        """The bank's last commit is the intake's own."""
        self._sequence = bank.commit.sequence


def _receptions(
    bank: Bank, before: Episodes, batch: Iterable[Written], seen: dict[str, int]
) -> list[tuple[Written, Reception]]:
    """What becomes of each episode.

    Args:
        bank: The bank.
        before: The episodes that it had before the intake.
        batch: The episodes.
        seen: Per id of this intake so far, how much the word on that episode's outcome weighs.
    """
    receptions: list[tuple[Written, Reception]] = []
    for arrival in batch:
        weight = _weight(arrival.outcome)
        known = arrival.id in seen or before.state(arrival.id) is not None
        if known and arrival.id not in seen:
            seen[arrival.id] = _known_weight(bank, arrival.id)
        is_news = known and weight > seen[arrival.id]
        receptions.append(
            (arrival, "imported" if not known else "updated" if is_news else "duplicate")
        )
        if is_news or not known:
            seen[arrival.id] = weight
    return receptions


_FINAL = 2


def _weight(outcome: Outcome) -> int:
    """How much a word on an outcome weighs: nobody's, a judge's, or one that is final."""
    if not outcome.known:
        return 0
    return 1 if outcome.source == "judge" else _FINAL


def _known_weight(bank: Bank, episode_id: str) -> int:
    """The same for an episode of the bank. What was learnt stays as it was learnt."""
    if bank.episodes.state(episode_id) != EpisodeState.WAITING:
        return _FINAL
    found = episode(bank, episode_id)
    return _FINAL if found is None else _weight(found.outcome)


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
