"""Intake: episodes from logs into a bank, each once, waiting to be learnt.

Secrets are taken out here, and episodes get their domain, because every way into a bank's
episodes leads through here. An episode's id is that of what is kept, and so is the id that
users name an outcome by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Literal

import orjson

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.batch import Batch
from deltamem_tui.bank.commits.table import LINE_LIMIT
from deltamem_tui.bank.episodes import Episodes, EpisodeState
from deltamem_tui.errors import RecordError
from deltamem_tui.memory.episodes.domains import DomainTally, domain_of
from deltamem_tui.memory.episodes.import_report import Intake, Received
from deltamem_tui.memory.episodes.outcome_precedence import Standing, standing
from deltamem_tui.memory.episodes.scenes import with_scene_of
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.trajectory.domains import chosen
from deltamem_tui.trajectory.model import LogSource, Outcome
from deltamem_tui.trajectory.notice import Notice, Told, located
from deltamem_tui.trajectory.readers.native import from_record, to_line
from deltamem_tui.trajectory.readers.reader import Reading
from deltamem_tui.trajectory.readers.written import Written, written
from deltamem_tui.trajectory.secrets.redaction import NOTHING, redact
from deltamem_tui.trajectory.user_outcomes import UserOutcomes
from deltamem_tui.trajectory.validation import admitted

_BATCH_EPISODES = 5000
_BATCH_BYTES = 24_000_000
_NO_OUTCOMES = UserOutcomes()

Redaction = Literal["secrets", "personal", "off"]
"""What is taken out of episodes: secrets, e-mail addresses too, or nothing."""


def take_in(
    bank: Bank,
    records: Iterable[Reading | Written],
    *,
    redaction: Redaction = "secrets",
    outcomes: UserOutcomes = _NO_OUTCOMES,
    domain: str = "",
    dry_run: bool = False,
    listed: bool = True,
    earlier: Intake | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> Intake:
    """Import episodes. Those that the bank has already are counted and left alone.

    An episode that waits is updated once somebody says how it ended whose word counts for
    more: a person corrects everybody, themselves too (see `standing`). A record that says the
    opposite of what counts is refused.

    Args:
        bank: The bank; its handle shows the new state afterwards.
        records: What readers give: episodes, written out already or not, records they refused,
            and notices.
        redaction: What is taken out of the episodes first.
        outcomes: What the user says of episodes whose logs do not say how they ended.
        domain: The domain that the user gives all episodes. Without, an episode has the one
            that its log names, else the bank's.
        dry_run: Look, but write nothing.
        listed: Keep a receipt of each episode. Without, memory does not grow with the logs.
        earlier: What became of the records that stood before these in the same logs, and were
            taken in by a call of their own; it is counted on.
        advance: Told how many records were read since it was last called.

    Raises:
        BankFrozenError: The bank is frozen.
        StorageError: The disk refused; what was committed before stays.
    """
    usual = domain_of(bank)
    intake = earlier or Intake(listed=listed, domains=DomainTally("" if domain else usual))
    seen: dict[str, Standing] = {}
    records = (_in_domain(record, usual, domain) for record in records)
    arrivals = (_arrived(record, redaction, outcomes, intake.named) for record in records)
    before = _Before()
    for batch in _batches(arrivals, advance):
        if dry_run or not any(isinstance(each, Written) for each in batch):
            answered = _answered(bank, before.of(bank), batch, seen)
        else:
            with bank.writing() as changes:
                answered = _answered(bank, before.of(bank), batch, seen)
                _write(bank, changes, [each for each in answered if isinstance(each, Received)])
            before.written(bank)
        for each in answered:
            if isinstance(each, Received):
                intake.receive(each)
            elif isinstance(each, Notice):
                intake.notice(each)
            else:
                intake.reject(each)
    return intake


def names_one(
    records: Iterable[Reading | Written], outcomes: UserOutcomes, redaction: Redaction = "secrets"
) -> bool:
    """Whether one of the user's ids names an episode; reads no further than the first.

    Args:
        records: As for `take_in`.
        outcomes: What the user says.
        redaction: What would be taken out of the episodes: their ids are those of what is kept.
    """
    named: set[str] = set()
    return any(_arrived(record, redaction, outcomes, named) and named for record in records)


def _write(bank: Bank, changes: Batch, received: list[Received]) -> None:
    fresh = [each for each in received if each.reception != "duplicate"]
    for new, group in groupby(fresh, lambda each: each.reception == "imported"):
        _put(bank, changes, [each.arrival for each in group], new=new)
    if fresh:
        ids = dict.fromkeys(each.arrival.id for each in fresh)
        changes.log("import", {"trajectories": list(ids)})


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


def _in_domain(record: Reading | Written, usual: str, given: str) -> Reading | Written:
    """The record, with the episode's domain if it is one."""
    if isinstance(record, Told):
        return record
    domain = chosen(record.domain, otherwise=usual, given=given)
    if domain == record.domain:
        return record
    if isinstance(record, Written):  # by somebody who could not know this bank's domain
        record = from_record(orjson.loads(record.line))
    return replace(record, domain=domain)


def _arrived(
    record: Reading | Written, redaction: Redaction, outcomes: UserOutcomes, named: set[str]
) -> Written | Told:
    """A record as it shall be kept, or why it is not."""
    if isinstance(record, Told):
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
    named.update(outcomes.names(trajectory))
    given = outcomes.word_on(trajectory)
    arrival = written(outcomes.apply(trajectory), record.source, redactions)
    return _bounded(arrival if given is None else arrival._replace(given=given))


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
    arrivals: Iterable[Written | Told], advance: Callable[[int], None]
) -> Iterator[list[Written | Told]]:
    """Gather episodes, so that the lock is never held while a log is read.

    What is refused already stays in its place among them: others may be refused before it.
    """
    batch: list[Written | Told] = []
    size = 0
    for arrival in arrivals:
        advance(1)
        batch.append(arrival)
        size += len(arrival.line) if isinstance(arrival, Written) else 0
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


def _answered(
    bank: Bank,
    before: Episodes,
    batch: Sequence[Written | Told],
    seen: dict[str, Standing],
) -> list[Received | Told]:
    """What becomes of each episode; what is refused already stays so.

    Args:
        bank: The bank.
        before: The episodes that it had before the intake.
        batch: The episodes, and what is refused between them.
        seen: Per id of this intake so far, how that episode's outcome stands.
    """
    answered: list[Received | Told] = []
    for arrival in batch:
        if not isinstance(arrival, Written):
            answered.append(arrival)
            continue
        said = arrival.outcome
        held = seen.get(arrival.id)
        if held is None and before.state(arrival.id) is not None:
            held = _standing_in(bank, arrival.id)
        if held is None:
            seen[arrival.id] = standing(said, confirmed=True)
            answered.append(Received(arrival, "imported", said))
            continue
        answer = held.answer(said)
        seen[arrival.id] = held.after(said, answer)
        if answer == "contradiction":
            answered.append(_contradiction(arrival, held, _origin(bank, batch, arrival)))
        elif answer == "too late" or (held.learnt and _is_denied(arrival, held)):
            answered.append(_too_late(arrival, held))
        else:
            counts = said if answer == "updated" else held.outcome
            answered.append(Received(arrival, answer, counts, before=held.outcome))
    return answered


def _is_denied(arrival: Written, held: Standing) -> bool:
    """Whether the user's file says the opposite of what counts, beside what the log states."""
    return arrival.given is not None and arrival.given != held.outcome.success


def _standing_in(bank: Bank, episode_id: str) -> Standing:
    found = episode(bank, episode_id)
    learnt = bank.episodes.state(episode_id) != EpisodeState.WAITING
    return standing(found.outcome if found else Outcome(), learnt=learnt)


def _contradiction(arrival: Written, held: Standing, origin: str) -> RecordError:
    said, before = _word(arrival.outcome), _word(held.outcome)
    return _refused(
        arrival,
        f"says {said}, but {origin} says {before} of the same episode",
        f"the {before} stays; leave out the record that is wrong",
    )


def _too_late(arrival: Written, held: Standing) -> RecordError:
    return _refused(
        arrival,
        f"was learnt from as a {_word(held.outcome)}, which an import does not change",
        "relabel the nodes that it gave, in `deltamem browse`",
    )


def _refused(arrival: Written, message: str, hint: str) -> RecordError:
    source = arrival.source
    error = RecordError(
        message, source=source.file or None, position=source.position or None, hint=hint
    )
    error.format = source.format
    return error


def _word(outcome: Outcome) -> str:
    return "success" if outcome.success else "failure"


def _origin(bank: Bank, batch: Sequence[Written | Told], arrival: Written) -> str:
    """Who said the opposite of an episode's outcome: the record, as far as it can be found."""
    for other in batch:
        if other is arrival:
            break
        if not isinstance(other, Written):
            continue
        if other.id == arrival.id and other.outcome.success is (not arrival.outcome.success):
            return _place(other.source)
    found = episode(bank, arrival.id)
    return _place(found.source) if found else "an earlier record"


def _place(source: LogSource) -> str:
    return ", ".join(filter(None, (source.file, source.position))) or "an earlier record"
