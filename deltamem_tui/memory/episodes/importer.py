"""Imports: episodes from logs into a bank, each once, waiting to be learnt.

Every way into a bank's episodes leads through here: what the agent was told out of a memory is
left out, secrets are taken out, and episodes get their domain. An episode's id is that of what is
kept, and users name outcomes by the same id.
A session that went on since it was imported takes the place of its earlier record.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, TypedDict, Unpack

import msgspec
from msgspec import Struct

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.table import LINE_LIMIT
from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.memory.episodes.credit import put_uses
from deltamem_tui.memory.episodes.import_report import (
    Arrival,
    EpisodeImport,
    ImportReport,
    Redaction,
)
from deltamem_tui.memory.episodes.outcomes import (
    answer_to,
    verdicts_on,
    with_facts_of,
    with_verdict,
    withdraw,
)
from deltamem_tui.memory.episodes.stored_episodes import domain_of, episode
from deltamem_tui.text import counted
from deltamem_tui.trajectory.logs.record import Notice, ReadProgress, Remark, located
from deltamem_tui.trajectory.logs.sources import FoundLog, find_logs
from deltamem_tui.trajectory.model import Outcome, Trajectory, chosen_domain, is_earlier, session_of
from deltamem_tui.trajectory.readers.native import to_line
from deltamem_tui.trajectory.readers.reader import Reading
from deltamem_tui.trajectory.receipt import together
from deltamem_tui.trajectory.receipt_file import ReceiptFile
from deltamem_tui.trajectory.user_outcomes import UserOutcomes
from deltamem_tui.trajectory.validation import admitted, redact, without_recalled

_BATCH_EPISODES = 5000
_BATCH_BYTES = 10_000_000
_MOST_RECORDS = 64  # of one session: an id that more of them share names something else
_NO_OUTCOMES = UserOutcomes()
_ENDS = {True: "success", False: "failure", None: "unknown"}


class ImportOptions(TypedDict, total=False):
    """The options of an import.

    Attributes:
        redaction: What is taken out of the episodes first: `secrets` if it is not said.
        outcomes: Outcomes that the user gives for episodes whose logs state none.
        domain: The domain of all episodes; the log's own, else the bank's, if empty.
        listed: Whether to keep an entry for each episode, as usual; then memory grows with logs.
    """

    redaction: Redaction
    outcomes: UserOutcomes
    receipts: ReceiptFile | None
    domain: str
    dry_run: bool
    listed: bool


class Importer:
    """Imports episodes into a bank batch by batch, so that no lock is held while logs are read.

    `records` is what readers return: episodes, records that they refused, and notices.

    Attributes:
        report: What became of the records so far.
        progress: How far the logs were read, if the records are read from logs.
    """

    def __init__(
        self,
        bank: Bank,
        records: Iterable[Reading],
        *,
        progress: ReadProgress | None = None,
        **options: Unpack[ImportOptions],
    ) -> None:
        redaction, domain = options.get("redaction", "secrets"), options.get("domain", "")
        outcomes, receipts = options.get("outcomes", _NO_OUTCOMES), options.get("receipts")
        usual, dry_run = domain_of(bank), options.get("dry_run", False)
        self.progress = progress or ReadProgress()
        self.report = report = ImportReport(
            redaction, dry_run, options.get("listed", True), receipts=receipts
        )

        def arrival(record: Reading) -> Arrival | Remark:
            if isinstance(record, Remark):
                return record
            if receipts:
                record = receipts.apply(record)
            its = chosen_domain(record.domain, otherwise=usual, given=domain)
            record = record if its == record.domain else record.with_facts(domain=its)
            return _arrival(record, redaction, outcomes, report.named)

        self._bank, self._outcomes = bank, outcomes
        self._arrivals = map(arrival, records)
        self._seen: dict[str, Outcome] = {}  # of what is not written yet
        self._said: set[str] = set()  # ids of which a person spoke in this very import
        self._sessions: _StoredSessions | None = None
        self._sequence = -1

    def run(
        self,
        *,
        advance: Callable[[int], object] = lambda _: None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """Import all episodes that are left. Those that the bank has are counted and left alone.

        An episode that waits is updated once an outcome arrives that counts for more; a record
        that states the opposite of what counts is refused (see `outcomes.answer_to`). What was
        read before `stopped` returns True is imported. `advance` is called with the number of
        bytes read since its last call.
        """
        self.progress.advance = advance
        while batch := self._next_batch(stopped):
            self._take(batch)
        if not stopped():
            named = self.report.named
            self.report.unmatched = [key for key in self._outcomes.by_id if key not in named]

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
                _write(self._bank, changes, decided)
            self._sequence = self._bank.commit.sequence
            self._seen.clear()
        for each in decided:
            if isinstance(each, EpisodeImport):
                self.report.add(each)
            elif isinstance(each, Notice):
                self.report.notice(each)
            else:
                self.report.reject(each)

    def _decided(self, batch: Sequence[Arrival | Remark]) -> Iterator[EpisodeImport | Remark]:
        """Return what becomes of each episode; what is refused already stays so."""
        if self._bank.commit.sequence != self._sequence:
            self._sessions, self._sequence = None, self._bank.commit.sequence
        earlier = _outgrown(each for each in batch if isinstance(each, Arrival))
        for arrival in batch:
            yield self._decide(arrival, earlier) if isinstance(arrival, Arrival) else arrival

    def _decide(self, arrival: Arrival, earlier: set[str]) -> EpisodeImport | RecordError:
        found, outcome = arrival.trajectory, arrival.trajectory.outcome
        state = self._bank.episodes.state(found.id)
        if state == EpisodeState.REPLACED or (state is None and found.id in earlier):
            return EpisodeImport(arrival, "duplicate", outcome)
        kept = episode(self._bank, found.id) if state is not None else None
        known = self._seen.get(found.id) or (kept.outcome if kept else None)
        said_now = found.id in self._said
        if outcome.source == "user":
            self._said.add(found.id)
        if known is None:
            new = self._new(arrival)
            if new.is_new:
                self._known_sessions().add(found)
                self._seen[found.id] = new.outcome
            return new
        learnt = state not in (None, EpisodeState.WAITING)
        answer = answer_to(outcome, known, learnt=learnt, together=said_now)
        if arrival.for_all and known.source == "user" and known.known:
            answer = "duplicate"
        if answer == "updated":
            self._seen[found.id] = outcome
            return EpisodeImport(arrival, answer, outcome, known)
        if answer == "duplicate":
            gains = kept is not None and not {*found.receipts} <= {*kept.receipts}
            return EpisodeImport(arrival, answer, known, known, gains)
        return _refused(found, known, learnt=learnt)

    def _new(self, arrival: Arrival) -> EpisodeImport:
        """Return what becomes of an episode that the bank does not have: it may have it in part."""
        found = arrival.trajectory
        others = self._known_sessions().of(found)
        if longer := [each for each in others if is_earlier(found, each)]:
            return EpisodeImport(arrival, "duplicate", longer[0].outcome)
        if earlier := [each for each in others if is_earlier(each, found)]:
            grown, ids = _grown_from(arrival, earlier), tuple(each.id for each in earlier)
            outcome = grown.trajectory.outcome
            return EpisodeImport(grown, "grown", outcome, earlier[-1].outcome, replaces=ids)
        return EpisodeImport(arrival, "imported", found.outcome)

    def _known_sessions(self) -> _StoredSessions:
        if self._sessions is None:
            self._sessions = _StoredSessions(self._bank)
        return self._sessions


def take_in(
    bank: Bank, records: Iterable[Reading], **options: Unpack[ImportOptions]
) -> ImportReport:
    """Import episodes at once; see `Importer` and `Importer.run` for arguments and errors."""
    importer = Importer(bank, records, **options)
    importer.run()
    return importer.report


def import_of(
    bank: Bank,
    logs: Sequence[str | FoundLog],
    *,
    format: str | None = None,  # noqa: A002 - the word that people type
    success_at: float = 1.0,
    outcomes_name: str = "",
    **options: Unpack[ImportOptions],
) -> Importer:
    """Prepare the import of logs into a bank, each read once.

    `logs` are files, folders, patterns, or `-` for standard input, or what `find_logs` found. From
    a reward of `success_at` on an episode is a success; errors call the user's file of outcomes
    `outcomes_name`.

    Raises:
        TrajectoryError: A log does not exist, cannot be opened or has no reader; or the outcomes
            are a list of ids and none of them names an episode of these logs.
        UsageError: The format is unknown, or `success_at` is out of range.
    """
    from deltamem_tui.trajectory.readers import reading  # all readers come with it

    outcomes, progress = options.get("outcomes", _NO_OUTCOMES), ReadProgress()
    if outcomes.must_name_one:  # read twice, which standard input alone could not be
        logs = [*find_logs(logs)]
        redaction, named = options.get("redaction", "secrets"), set[str]()
        for record in reading.read_logs(logs, format=format):
            if isinstance(record, Trajectory):
                _arrival(record, redaction, outcomes, named)
            if named:
                break
        else:
            raise TrajectoryError(
                "read as a list of resolved episodes, but none of its "
                f"{counted(len(outcomes.by_id), 'id')} names an episode of these logs: "
                "nothing was done with them",
                source=outcomes_name,
                hint="ids as the logs have them, one a line, or a table from id to success",
            )
    records = reading.read_logs(logs, format=format, success_at=success_at, progress=progress)
    return Importer(bank, records, progress=progress, **options)


def _arrival(
    record: Trajectory, redaction: Redaction, outcomes: UserOutcomes, named: set[str]
) -> Arrival | RecordError:
    """Return an episode as it will be kept, or why it is not; adds the user's ids that name it."""
    trajectory, redactions, place = without_recalled(record), Counter[str](), record.source
    if redaction != "off":
        trajectory, redactions = redact(trajectory, personal=redaction == "personal")
    if trajectory is not record:  # little may be left, and marks may be long
        try:
            trajectory = admitted(trajectory)
        except RecordError as error:
            return located(error, place.file, place.position)
    given, for_all = None, False
    if outcomes is not _NO_OUTCOMES:
        for_all = outcomes.are_for_all and not trajectory.outcome.known
        named.update(outcomes.names(trajectory))
        given = outcomes.verdict_on(trajectory)
        trajectory = outcomes.apply(trajectory)
        given = trajectory.outcome.success if for_all else given
    line = to_line(trajectory)
    if len(line) > LINE_LIMIT:
        return RecordError(
            f"the episode has {len(line):,} bytes, "
            f"more than the {LINE_LIMIT:,} that a bank keeps of one",
            source=place.file or None,
            position=place.position or None,
            hint="cut its observations in the log",
        )
    return Arrival(trajectory, line, redactions, given, for_all)


def _refused(found: Trajectory, known: Outcome, *, learnt: bool) -> RecordError:
    source, stated, before = found.source, _ENDS[found.outcome.success], _ENDS[known.success]
    if learnt:
        message = f"was learnt from as a {before}, which an import does not change"
        hint = f"if that is wrong, say so: `deltamem episode outcome BANK {found.id} {stated}`"
    else:
        message = f"states {stated}, but an earlier record states {before} for the same episode"
        hint = f"the {before} stays; leave out the record that is wrong"
    error = RecordError(
        message, source=source.file or None, position=source.position or None, hint=hint
    )
    error.format = source.format
    return error


def _write(bank: Bank, changes: Batch, decided: Iterable[EpisodeImport | Remark]) -> None:
    """Write what arrived, and delete what earlier records of a session taught."""
    fresh = [each for each in decided if isinstance(each, EpisodeImport) and each.is_written]
    if not fresh:
        return
    shown: dict[str, Trajectory] = {}  # the last record of each episode
    for new, group in groupby(fresh, lambda each: each.is_new):
        if new:
            lines = {each.arrival.id: each.arrival.line for each in group}
            changes.put_episode_lines(lines)
            continue
        for each in group:
            found = _with_what_is_known(bank, each)
            changes.put_episode_lines({found.id: to_line(found)})
            shown[found.id] = found
    for each in fresh:
        shown.setdefault(each.arrival.id, each.arrival.trajectory)
    if any(each.receipts for each in shown.values()):
        put_uses(changes, bank, shown.values())
    detail: dict[str, Any] = {"trajectories": list(dict.fromkeys(e.arrival.id for e in fresh))}
    replaced = {before: each.arrival.id for each in fresh for before in each.replaces}
    for before, by in replaced.items():
        changes.replace_episode(before, by)
    if replaced:
        detail["replaced"] = replaced
    changes.log("import", detail)
    withdraw(bank, changes, [*replaced])


def _with_what_is_known(bank: Bank, received: EpisodeImport) -> Trajectory:
    """Return the new record with the known one's verdicts and receipts."""
    found = received.arrival.trajectory
    known = episode(bank, found.id)
    if known is None:  # it came in this very batch
        return found
    if received.reception == "duplicate":
        return known.with_facts(receipts=together((*known.receipts, *found.receipts)))
    return with_facts_of(found, known)


# Sessions that are imported while they go on


class _Head(Struct, gc=False):
    """The parts of an episode's line that name its session."""

    metadata: dict[str, str] = {}
    source: dict[str, Any] = {}


_decode = msgspec.json.Decoder(_Head).decode


class _StoredSessions:
    """The episodes of a bank by their session."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._ids: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for episode_id in bank.episodes.ids():
            head = _decode(bank.episodes.line(episode_id) or b"{}")
            if name := head.metadata.get("id"):
                self._ids[f"{head.source.get('format', '')} {name}"][episode_id] = None

    def add(self, found: Trajectory) -> None:
        """Let the bank have one more; it counts once it is written."""
        if session := session_of(found):
            self._ids[session][found.id] = None

    def of(self, found: Trajectory) -> list[Trajectory]:
        """Return the bank's other records of the session of an episode."""
        session = session_of(found)
        ids = self._ids.get(session, ()) if session else ()
        kept = (episode(self._bank, each) for each in ids if len(ids) <= _MOST_RECORDS)
        return [each for each in kept if each]


def _outgrown(arrivals: Iterable[Arrival]) -> set[str]:
    """Return the ids of those episodes that are earlier records of another one among them."""
    sessions: defaultdict[str, dict[str, Trajectory]] = defaultdict(dict)
    for each in arrivals:
        if session := session_of(each.trajectory):
            sessions[session][each.id] = each.trajectory
    found: set[str] = set()
    for records in sessions.values():
        if 1 < len(records) <= _MOST_RECORDS:
            known = [*records.values()]
            found |= {
                one.id
                for one in known
                if any(is_earlier(one, two) for two in known if two is not one)
            }
    return found


def _grown_from(arrival: Arrival, earlier: Sequence[Trajectory]) -> Arrival:
    """Return the longer record of a session, with earlier receipts and a person's verdict."""
    found = arrival.trajectory
    for each in earlier:
        found = found.with_facts(receipts=together((*each.receipts, *found.receipts)))
        given = [verdict for verdict in verdicts_on(each) if verdict.source == "user"]
        if given and (found.outcome.source != "user" or (arrival.for_all and given[0].known)):
            found = with_verdict(found, given[0])
    return msgspec.structs.replace(arrival, trajectory=found, line=to_line(found))
