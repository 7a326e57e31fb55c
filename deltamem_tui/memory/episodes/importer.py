"""Imports: episodes from logs into a bank, each once, waiting to be learnt.

Every way into a bank's episodes leads through here: what the agent was told out of a memory is
left out, secrets are taken out, and episodes get their domain. An episode's id is that of what is
kept, and users name outcomes by the same id.
A session that went on since it was imported takes the place of its earlier record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import Any, TypedDict, Unpack

import orjson

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.episodes import Episodes, EpisodeState
from deltamem_tui.bank.table import LINE_LIMIT
from deltamem_tui.errors import RecordError
from deltamem_tui.memory.credit.credit import put_uses, unknown_nodes
from deltamem_tui.memory.episodes.growing_sessions import (
    StoredSessions,
    grown_from,
    outgrown,
    trajectory_of,
)
from deltamem_tui.memory.episodes.import_report import (
    Arrival,
    DomainTally,
    EpisodeImport,
    ImportReport,
    Redaction,
)
from deltamem_tui.memory.episodes.outcomes import KnownOutcome, known_outcome, with_facts_of
from deltamem_tui.memory.episodes.relearning import withdraw
from deltamem_tui.memory.episodes.scenes import with_scene_of
from deltamem_tui.memory.episodes.stored_episodes import domain_of, episode
from deltamem_tui.trajectory.domains import chosen
from deltamem_tui.trajectory.logs.record import Notice, Remark, located
from deltamem_tui.trajectory.model import LogSource, Outcome, Trajectory, is_earlier, session_of
from deltamem_tui.trajectory.readers.native import from_record, to_line
from deltamem_tui.trajectory.readers.reader import Reading
from deltamem_tui.trajectory.recalled_text import without_recalled
from deltamem_tui.trajectory.receipt import together
from deltamem_tui.trajectory.receipt_file import ReceiptFile
from deltamem_tui.trajectory.redaction import redact
from deltamem_tui.trajectory.secrets.redaction import NOTHING
from deltamem_tui.trajectory.user_outcomes import UserOutcomes
from deltamem_tui.trajectory.validation import admitted

_BATCH_EPISODES = 5000
_BATCH_BYTES = 24_000_000
NO_OUTCOMES = UserOutcomes()
_RECEIPTS = b'"receipts":'


class ImportOptions(TypedDict, total=False):
    """The options of an import; see `Importer`."""

    redaction: Redaction
    outcomes: UserOutcomes
    receipts: ReceiptFile | None
    domain: str
    dry_run: bool
    listed: bool


class Importer:
    """Imports episodes into a bank batch by batch, so that no lock is held while logs are read.

    Args:
        records: What readers return: episodes, records that they refused, and notices.
        redaction: What is taken out of the episodes first.
        outcomes: Outcomes that the user gives for episodes whose logs state none.
        receipts: Receipts that the user kept, to be joined to the episodes they belong to.
        domain: The domain of all episodes; the log's own, else the bank's, if empty.
        listed: Whether to keep an entry for each episode. Without, memory does not grow with
            the logs.

    Attributes:
        report: What became of the records so far.
    """

    def __init__(
        self,
        bank: Bank,
        records: Iterable[Reading],
        *,
        redaction: Redaction = "secrets",
        outcomes: UserOutcomes = NO_OUTCOMES,
        receipts: ReceiptFile | None = None,
        domain: str = "",
        dry_run: bool = False,
        listed: bool = True,
    ) -> None:
        usual = domain_of(bank)
        self.report = ImportReport(
            redaction, dry_run, listed, domains=DomainTally("" if domain else usual)
        )
        self.report.receipts = receipts
        self._bank, self._outcomes = bank, outcomes
        self._arrivals: Iterator[Arrival | Remark] = (
            _arrived(
                _in_domain(_with_receipts(record, receipts), usual, domain),
                redaction,
                outcomes,
                self.report.named,
            )
            for record in records
        )
        self._seen: dict[str, KnownOutcome] = {}
        self._before: Episodes | None = None
        self._sessions: StoredSessions | None = None
        self._sequence = -1

    def run(self, *, stopped: Callable[[], bool] = lambda: False, pauses: bool = False) -> str:
        """Import all episodes that are left. Those that the bank has are counted and left alone.

        An episode that waits is updated once an outcome arrives that counts for more: a person
        corrects everyone, themselves included (see `KnownOutcome`). A record that states the
        opposite of what counts is refused.

        Args:
            stopped: Whether to stop; asked for each record. What was read before is imported.
            pauses: Whether to pause at the first episode of another domain than the bank's.
                If it is in the first batch, nothing is written yet.

        Returns:
            The domain of the episode that the import paused at; empty if it did not. The next
            run goes on with that episode.

        Raises:
            BankFrozenError: The bank is frozen.
            StorageError: The disk refused; what was committed before stays.
        """
        while True:
            batch, other = self._next_batch(stopped, pauses)
            if other and not self.report.files:
                self._arrivals = chain((*batch, other), self._arrivals)
                return other.domain
            self._take(batch)
            if other:
                self._arrivals = chain((other,), self._arrivals)
                return other.domain
            if not batch:
                return ""

    def reopen(self) -> None:
        """Look at the bank again: other processes may have written it during a pause."""
        self._bank = Bank.open(self._bank.path)
        self._seen, self._before, self._sessions = {}, None, None

    def _next_batch(
        self, stopped: Callable[[], bool], pauses: bool
    ) -> tuple[list[Arrival | Remark], Arrival | None]:
        """Return the next batch, and the episode of another domain that ended it, if one did."""
        batch: list[Arrival | Remark] = []
        size = 0
        for arrival in self._arrivals:
            if stopped():
                break
            if isinstance(arrival, Arrival):
                if pauses and self.report.domains.is_other(arrival.domain):
                    return batch, arrival
                size += len(arrival.line)
            batch.append(arrival)
            if len(batch) >= _BATCH_EPISODES or size >= _BATCH_BYTES:
                break
        return batch, None

    def _take(self, batch: Sequence[Arrival | Remark]) -> None:
        """Import a batch, in one commit, and report what became of it."""
        if self.report.dry_run or not any(isinstance(each, Arrival) for each in batch):
            decided = [*self._decided(batch)]
        else:
            with self._bank.writing() as changes:
                decided = [*self._decided(batch)]
                self.report.built_on += _write(self._bank, changes, decided)
            self._sequence = self._bank.commit.sequence
        for each in decided:
            if isinstance(each, EpisodeImport):
                self.report.add(each)
                self._count_shown(each)
            elif isinstance(each, Notice):
                self.report.notice(each)
            else:
                self.report.reject(each)

    def _count_shown(self, received: EpisodeImport) -> None:
        """Count the nodes that an episode was shown, and those that the bank does not have."""
        if received.is_written:
            for receipt in received.arrival.receipts:
                unknown = unknown_nodes(self._bank, receipt)
                self.report.shown.update(nodes=len(receipt.entries), unknown=len(unknown))

    def _episodes_before(self) -> Episodes:
        """Return the episodes that the bank had before this import."""
        if self._before is None or self._bank.commit.sequence != self._sequence:
            self._before, self._sessions = self._bank.episodes, None
            self._sequence = self._bank.commit.sequence
        return self._before

    def _decided(self, batch: Sequence[Arrival | Remark]) -> Iterator[EpisodeImport | Remark]:
        """Return what becomes of each episode; what is refused already stays so."""
        before = self._episodes_before()
        earlier = outgrown(batch)
        for arrival in batch:
            if not isinstance(arrival, Arrival):
                yield arrival
                continue
            outcome = arrival.outcome
            state = before.state(arrival.id)
            if self._is_earlier_record(arrival.id) or (arrival.id in earlier and state is None):
                yield EpisodeImport(arrival, "duplicate", outcome)
                continue
            known = self._seen.get(arrival.id)
            if known is None and state is not None:
                known = _known_outcome_in(self._bank, arrival.id)
            if known is None:
                found = self._new(arrival)
                if found.is_new:
                    self._sessions_known().add(arrival)
                    self._seen[arrival.id] = known_outcome(found.outcome, confirmed=True)
                yield found
                continue
            answer = known.answer(outcome)
            self._seen[arrival.id] = known.after(outcome, answer)
            if answer == "contradiction":
                yield _contradiction(arrival, known, _origin(self._bank, batch, arrival))
            elif answer == "too late" or (known.learnt and _is_denied(arrival, known)):
                yield _too_late(arrival, known)
            else:
                counts = outcome if answer == "updated" else known.outcome
                gains = answer == "duplicate" and self._gains_receipts(arrival, before)
                yield EpisodeImport(arrival, answer, counts, known.outcome, gains)

    def _new(self, arrival: Arrival) -> EpisodeImport:
        """Return what becomes of an episode that the bank does not have: it may have it in part."""
        if not (others := self._sessions_known().of(arrival)):
            return EpisodeImport(arrival, "imported", arrival.outcome)
        found = trajectory_of(arrival)
        if longer := [each for each in others if is_earlier(found, each)]:
            return EpisodeImport(arrival, "duplicate", longer[0].outcome)
        earlier = [each for each in others if is_earlier(each, found)]
        if not earlier:
            return EpisodeImport(arrival, "imported", arrival.outcome)
        grown = grown_from(arrival, earlier)
        ids = tuple(each.id for each in earlier)
        return EpisodeImport(grown, "grown", grown.outcome, earlier[-1].outcome, replaces=ids)

    def _is_earlier_record(self, episode_id: str) -> bool:
        return self._bank.episodes.state(episode_id) == EpisodeState.REPLACED

    def _sessions_known(self) -> StoredSessions:
        if self._sessions is None:
            self._sessions = StoredSessions(self._bank)
        return self._sessions

    def _gains_receipts(self, arrival: Arrival, before: Episodes) -> bool:
        """Return whether the bank had the episode before this import, without all of its
        receipts.
        """
        if not arrival.receipts or before.state(arrival.id) is None:
            return False
        known = episode(self._bank, arrival.id)
        return known is not None and not {*arrival.receipts} <= {*known.receipts}


def take_in(
    bank: Bank, records: Iterable[Reading], **options: Unpack[ImportOptions]
) -> ImportReport:
    """Import episodes at once; see `Importer` and `Importer.run` for arguments and errors."""
    importer = Importer(bank, records, **options)
    importer.run()
    return importer.report


def names_one(
    records: Iterable[Reading], outcomes: UserOutcomes, redaction: Redaction = "secrets"
) -> bool:
    """Return whether one of the user's ids names an episode; reads no further than the first."""
    named: set[str] = set()
    for record in records:
        _arrived(record, redaction, outcomes, named)
        if named:
            return True
    return False


def _write(bank: Bank, changes: Batch, decided: Iterable[EpisodeImport | Remark]) -> int:
    """Write what arrived; returns how many nodes of earlier records had to stay."""
    fresh = [each for each in decided if isinstance(each, EpisodeImport) and each.is_written]
    lines: dict[str, bytes] = {}  # of episodes that were shown something, the last
    for new, group in groupby(fresh, lambda each: each.is_new):
        written = {each.arrival.id: _line(bank, each, new=new) for each in group}
        if new:
            changes.put_new_episodes([*written], [*written.values()])
        else:
            for episode_id, line in written.items():
                changes.put_episode_line(episode_id, line)
        lines |= {name: line for name, line in written.items() if _RECEIPTS in line}
    if not fresh:
        return 0
    put_uses(changes, bank, (from_record(orjson.loads(line)) for line in lines.values()))
    detail: dict[str, Any] = {"trajectories": list(dict.fromkeys(e.arrival.id for e in fresh))}
    replaced = {before: each.arrival.id for each in fresh for before in each.replaces}
    for before, by in replaced.items():
        changes.replace_episode(before, by)
    if replaced:
        detail["replaced"] = replaced
    changes.log("import", detail)
    return withdraw(bank, changes, [*replaced])


def _line(bank: Bank, received: EpisodeImport, *, new: bool) -> bytes:
    return received.arrival.line if new else _with_what_is_known(bank, received)


def _with_what_is_known(bank: Bank, received: EpisodeImport) -> bytes:
    """Return the new line of an episode that the bank has.

    Its drawn scene, its verdicts and its receipts stay; of a duplicate only receipts are taken.
    """
    line = received.arrival.line
    known = episode(bank, received.arrival.id)
    if known is None:
        return line
    if received.reception == "duplicate":
        receipts = together((*known.receipts, *received.arrival.receipts))
        return to_line(known.with_facts(receipts=receipts))
    news = from_record(orjson.loads(line))
    found = with_facts_of(with_scene_of(news, known), known)
    return line if found is news else to_line(found)


def _with_receipts(record: Reading, receipts: ReceiptFile | None) -> Reading:
    """Return the record; an episode gets the receipts that the user kept for it."""
    return receipts.apply(record) if receipts and isinstance(record, Trajectory) else record


def _in_domain(record: Reading, usual: str, given: str) -> Reading:
    """Return the record; an episode gets its domain."""
    if isinstance(record, Remark):
        return record
    domain = chosen(record.domain, otherwise=usual, given=given)
    if domain == record.domain:
        return record
    return record.with_facts(domain=domain)


def _arrived(
    record: Reading, redaction: Redaction, outcomes: UserOutcomes, named: set[str]
) -> Arrival | Remark:
    """Return a record as it will be kept, or why it is not."""
    if isinstance(record, Remark):
        return record
    trajectory, redactions = without_recalled(record), NOTHING
    if trajectory is not record:
        try:
            trajectory = admitted(trajectory)
        except RecordError as error:
            return located(error, record.source.file, record.source.position)
    if redaction != "off":
        trajectory, redactions = redact(trajectory, personal=redaction == "personal")
    if redactions.counts:  # marks may be longer than what they stand for
        try:
            trajectory = admitted(trajectory)
        except RecordError as error:
            return located(error, record.source.file, record.source.position)
    given = None
    if outcomes is not NO_OUTCOMES:
        named.update(outcomes.names(trajectory))
        given = outcomes.verdict_on(trajectory)
        trajectory = outcomes.apply(trajectory)
    return _bounded(
        Arrival(
            trajectory.id,
            to_line(trajectory),
            trajectory.task,
            len(trajectory.steps),
            trajectory.outcome,
            record.source,
            trajectory.domain,
            redactions,
            given,
            trajectory.receipts,
            session_of(trajectory),
        )
    )


def _bounded(arrival: Arrival) -> Arrival | RecordError:
    if len(arrival.line) <= LINE_LIMIT:
        return arrival
    return RecordError(
        f"the episode has {len(arrival.line):,} bytes, "
        f"more than the {LINE_LIMIT:,} that a bank keeps of one",
        source=arrival.source.file or None,
        position=arrival.source.position or None,
        hint="cut its observations in the log",
    )


def _is_denied(arrival: Arrival, known: KnownOutcome) -> bool:
    """Return whether the user's file states the opposite of what counts."""
    return arrival.given is not None and arrival.given != known.outcome.success


def _known_outcome_in(bank: Bank, episode_id: str) -> KnownOutcome:
    found = episode(bank, episode_id)
    learnt = bank.episodes.state(episode_id) != EpisodeState.WAITING
    return known_outcome(found.outcome if found else Outcome(), learnt=learnt)


def _contradiction(arrival: Arrival, known: KnownOutcome, origin: str) -> RecordError:
    stated, before = _label(arrival.outcome), _label(known.outcome)
    return _refused(
        arrival,
        f"states {stated}, but {origin} states {before} for the same episode",
        f"the {before} stays; leave out the record that is wrong",
    )


def _too_late(arrival: Arrival, known: KnownOutcome) -> RecordError:
    return _refused(
        arrival,
        f"was learnt from as a {_label(known.outcome)}, which an import does not change",
        f"if that is wrong, say so: `deltamem outcome BANK {arrival.id} {_label(arrival.outcome)}`",
    )


def _refused(arrival: Arrival, message: str, hint: str) -> RecordError:
    source = arrival.source
    error = RecordError(
        message, source=source.file or None, position=source.position or None, hint=hint
    )
    error.format = source.format
    return error


def _label(outcome: Outcome) -> str:
    return "success" if outcome.success else "failure"


def _origin(bank: Bank, batch: Sequence[Arrival | Remark], arrival: Arrival) -> str:
    """Return the record that states the opposite outcome, as far as it can be found."""
    for other in batch:
        if other is arrival:
            break
        if not isinstance(other, Arrival):
            continue
        if other.id == arrival.id and other.outcome.success is (not arrival.outcome.success):
            return _place(other.source)
    found = episode(bank, arrival.id)
    return _place(found.source) if found else "an earlier record"


def _place(source: LogSource) -> str:
    return ", ".join(filter(None, (source.file, source.position))) or "an earlier record"
