"""Imports: episodes from logs into a bank, each once, waiting to be learnt.

Every way into a bank's episodes leads through here: what the agent was told out of a memory is
left out, secrets are taken out, and episodes get their domain. An episode's id is that of what is
kept, and users name outcomes by the same id.
A session that went on since it was imported takes the place of its earlier record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, TypedDict, Unpack

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.table import LINE_LIMIT
from deltamem_tui.errors import RecordError
from deltamem_tui.memory.credit.credit import put_uses, unknown_nodes
from deltamem_tui.memory.episodes.growing_sessions import StoredSessions, grown_from, outgrown
from deltamem_tui.memory.episodes.import_report import (
    Arrival,
    DomainTally,
    EpisodeImport,
    ImportReport,
    Redaction,
)
from deltamem_tui.memory.episodes.outcomes import answer_to, with_facts_of
from deltamem_tui.memory.episodes.relearning import withdraw
from deltamem_tui.memory.episodes.stored_episodes import domain_of, episode
from deltamem_tui.trajectory.domains import chosen
from deltamem_tui.trajectory.logs.record import Notice, Remark, located
from deltamem_tui.trajectory.model import Outcome, Trajectory, is_earlier, session_of
from deltamem_tui.trajectory.readers.native import to_line
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
        self._bank = bank
        self._arrivals: Iterator[Arrival | Remark] = (
            _arrived(
                _in_domain(_with_receipts(record, receipts), usual, domain),
                redaction,
                outcomes,
                self.report.named,
            )
            for record in records
        )
        self._seen: dict[str, Outcome] = {}  # of what is not written yet
        self._sessions: StoredSessions | None = None
        self._sequence = -1

    def run(self, *, stopped: Callable[[], bool] = lambda: False) -> None:
        """Import all episodes that are left. Those that the bank has are counted and left alone.

        An episode that waits is updated once an outcome arrives that counts for more; a record
        that states the opposite of what counts is refused (see `outcomes.answer_to`). What was
        read before `stopped` returns True is imported.

        Raises:
            BankFrozenError: The bank is frozen.
            StorageError: The disk refused; what was committed before stays.
        """
        while batch := self._next_batch(stopped):
            self._take(batch)

    def _next_batch(self, stopped: Callable[[], bool]) -> list[Arrival | Remark]:
        batch: list[Arrival | Remark] = []
        size = 0
        for arrival in self._arrivals:
            if stopped():
                break
            batch.append(arrival)
            size += len(arrival.line) if isinstance(arrival, Arrival) else 0
            if len(batch) >= _BATCH_EPISODES or size >= _BATCH_BYTES:
                break
        return batch

    def _take(self, batch: Sequence[Arrival | Remark]) -> None:
        """Import a batch, in one commit, and report what became of it."""
        if self.report.dry_run or not any(isinstance(each, Arrival) for each in batch):
            decided = [*self._decided(batch)]
        else:
            with self._bank.writing() as changes:
                decided = [*self._decided(batch)]
                self.report.built_on += _write(self._bank, changes, decided)
            self._sequence = self._bank.commit.sequence
            self._seen.clear()
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
        for receipt in received.arrival.receipts if received.is_written else ():
            unknown = unknown_nodes(self._bank, receipt)
            self.report.shown.update(nodes=len(receipt.entries), unknown=len(unknown))

    def _decided(self, batch: Sequence[Arrival | Remark]) -> Iterator[EpisodeImport | Remark]:
        """Return what becomes of each episode; what is refused already stays so."""
        if self._bank.commit.sequence != self._sequence:
            self._sessions, self._sequence = None, self._bank.commit.sequence
        earlier = outgrown(batch)
        for arrival in batch:
            yield self._decide(arrival, earlier) if isinstance(arrival, Arrival) else arrival

    def _decide(self, arrival: Arrival, earlier: set[str]) -> EpisodeImport | RecordError:
        outcome, state = arrival.outcome, self._bank.episodes.state(arrival.id)
        is_earlier_record = state is None and arrival.id in earlier
        if state == EpisodeState.REPLACED or is_earlier_record:
            return EpisodeImport(arrival, "duplicate", outcome)
        kept = episode(self._bank, arrival.id) if state is not None else None
        known = self._seen.get(arrival.id) or (kept.outcome if kept else None)
        if known is None:
            found = self._new(arrival)
            if found.is_new:
                self._known_sessions().add(arrival)
                self._seen[arrival.id] = found.outcome
            return found
        learnt = state not in (None, EpisodeState.WAITING)
        answer = answer_to(outcome, known, learnt=learnt)
        if answer == "updated":
            self._seen[arrival.id] = outcome
            return EpisodeImport(arrival, answer, outcome, known)
        if answer == "duplicate":
            gains = kept is not None and not {*arrival.receipts} <= {*kept.receipts}
            return EpisodeImport(arrival, answer, known, known, gains)
        return _refused(arrival, known, learnt=learnt)

    def _new(self, arrival: Arrival) -> EpisodeImport:
        """Return what becomes of an episode that the bank does not have: it may have it in part."""
        if others := self._known_sessions().of(arrival):
            found = arrival.trajectory
            if longer := [each for each in others if is_earlier(found, each)]:
                return EpisodeImport(arrival, "duplicate", longer[0].outcome)
            if earlier := [each for each in others if is_earlier(each, found)]:
                grown, ids = grown_from(arrival, earlier), tuple(each.id for each in earlier)
                before = earlier[-1].outcome
                return EpisodeImport(grown, "grown", grown.outcome, before, replaces=ids)
        return EpisodeImport(arrival, "imported", arrival.outcome)

    def _known_sessions(self) -> StoredSessions:
        if self._sessions is None:
            self._sessions = StoredSessions(self._bank)
        return self._sessions


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
    shown: dict[str, Trajectory] = {}  # the last record of each episode with receipts
    for new, group in groupby(fresh, lambda each: each.is_new):
        if new:
            lines = {each.arrival.id: each.arrival.line for each in group}
            changes.put_new_episodes([*lines], [*lines.values()])
            continue
        for each in group:
            found = _with_what_is_known(bank, each)
            changes.put_episode_line(found.id, to_line(found))
            shown[found.id] = found
    if not fresh:
        return 0
    for each in fresh:
        if each.arrival.receipts:
            shown.setdefault(each.arrival.id, each.arrival.trajectory)
    put_uses(changes, bank, shown.values())
    detail: dict[str, Any] = {"trajectories": list(dict.fromkeys(e.arrival.id for e in fresh))}
    replaced = {before: each.arrival.id for each in fresh for before in each.replaces}
    for before, by in replaced.items():
        changes.replace_episode(before, by)
    if replaced:
        detail["replaced"] = replaced
    changes.log("import", detail)
    return withdraw(bank, changes, [*replaced])


def _with_what_is_known(bank: Bank, received: EpisodeImport) -> Trajectory:
    """Return the new record with the known one's scene, verdicts and receipts."""
    arrival = received.arrival
    known = episode(bank, arrival.id)
    if known is None:  # it came in this very batch
        return arrival.trajectory
    if received.reception == "duplicate":
        return known.with_facts(receipts=together((*known.receipts, *arrival.receipts)))
    return with_facts_of(arrival.trajectory, known)


def _with_receipts(record: Reading, receipts: ReceiptFile | None) -> Reading:
    """Return the record; an episode gets the receipts that the user kept for it."""
    return receipts.apply(record) if receipts and isinstance(record, Trajectory) else record


def _in_domain(record: Reading, usual: str, given: str) -> Reading:
    """Return the record; an episode gets its domain."""
    if isinstance(record, Remark):
        return record
    domain = chosen(record.domain, otherwise=usual, given=given)
    return record if domain == record.domain else record.with_facts(domain=domain)


def _arrived(
    record: Reading, redaction: Redaction, outcomes: UserOutcomes, named: set[str]
) -> Arrival | Remark:
    """Return a record as it will be kept, or why it is not."""
    if isinstance(record, Remark):
        return record
    trajectory, redactions = without_recalled(record), NOTHING
    if redaction != "off":
        trajectory, redactions = redact(trajectory, personal=redaction == "personal")
    if trajectory is not record:  # little may be left, and marks may be long
        try:
            trajectory = admitted(trajectory)
        except RecordError as error:
            return located(error, record.source.file, record.source.position)
    given = None
    if outcomes is not NO_OUTCOMES:
        named.update(outcomes.names(trajectory))
        given = outcomes.verdict_on(trajectory)
        trajectory = outcomes.apply(trajectory)
    line = to_line(trajectory)
    if len(line) > LINE_LIMIT:
        return RecordError(
            f"the episode has {len(line):,} bytes, "
            f"more than the {LINE_LIMIT:,} that a bank keeps of one",
            source=record.source.file or None,
            position=record.source.position or None,
            hint="cut its observations in the log",
        )
    return Arrival(
        trajectory.id,
        line,
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


def _refused(arrival: Arrival, known: Outcome, *, learnt: bool) -> RecordError:
    source, stated, before = arrival.source, _label(arrival.outcome), _label(known)
    if learnt:
        message = f"was learnt from as a {before}, which an import does not change"
        hint = f"if that is wrong, say so: `deltamem episode outcome BANK {arrival.id} {stated}`"
    else:
        message = f"states {stated}, but an earlier record states {before} for the same episode"
        hint = f"the {before} stays; leave out the record that is wrong"
    error = RecordError(
        message, source=source.file or None, position=source.position or None, hint=hint
    )
    error.format = source.format
    return error


def _label(outcome: Outcome) -> str:
    return "success" if outcome.success else "failure"
