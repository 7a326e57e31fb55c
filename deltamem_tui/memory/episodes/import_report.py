"""Results of importing logs: a tally per file, and an entry per episode.

Lists are bounded by `LISTED`, however much was read; entries are kept only on request.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

import orjson
from msgspec import Struct
from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.text import counted
from deltamem_tui.trajectory.logs.record import Notice
from deltamem_tui.trajectory.model import LogSource, Outcome, OutcomeSource, Trajectory, domain_key
from deltamem_tui.trajectory.readers.native import from_record
from deltamem_tui.trajectory.receipt import Receipt
from deltamem_tui.trajectory.receipt_file import ReceiptFile
from deltamem_tui.trajectory.secrets.redaction import NOTHING, Redactions

LISTED = 1000
"""How many refusals and notices are kept, and logs tallied apart: the first. All are counted."""
LISTED_NAMES = 40
"""How many formats and domains are counted apart: the first."""
OTHER_FILES, OTHER_DOMAINS = "other logs", "other domains"
"""The names of all further ones."""

Reception = Literal["imported", "grown", "updated", "duplicate"]
Redaction = Literal["secrets", "personal", "off"]
"""Texts removed from episodes: secrets, e-mail addresses too, or nothing."""


class Arrival(Struct, frozen=True, gc=False):
    """An episode as a bank will keep it, and what is reported of it.

    Attributes:
        line: Its record as one line of JSON, newline included.
        domain: Its domain; empty if it is not known.
        given: Whether the user's file says that it was a success; None if that is silent.
        receipts: What the agent was shown.
        session: What the records of one session share; empty if its log names none.
    """

    id: str
    line: bytes
    task: str
    steps: int
    outcome: Outcome
    source: LogSource
    domain: str = ""
    redactions: Redactions = NOTHING
    given: bool | None = None
    receipts: tuple[Receipt, ...] = ()
    session: str = ""

    @property
    def trajectory(self) -> Trajectory:
        """The episode as it will be kept."""
        return from_record(orjson.loads(self.line))


class EpisodeImport(Struct, frozen=True, gc=False):
    """An episode that was read, and what became of it.

    Attributes:
        reception: `imported` if it is new, `grown` if it is of a session that went on since it
            was imported, `updated` if only its outcome is new, else `duplicate`.
        outcome: The outcome that counts from now on.
        before: The outcome that counted before; unknown for a new episode.
        gains_receipts: Whether the bank has it, and without all of its receipts.
        replaces: The ids of the earlier records whose place it takes.
    """

    arrival: Arrival
    reception: Reception
    outcome: Outcome
    before: Outcome = Outcome()
    gains_receipts: bool = False
    replaces: tuple[str, ...] = ()

    @property
    def is_new(self) -> bool:
        """True if the bank did not have it."""
        return self.reception in ("imported", "grown")

    @property
    def is_written(self) -> bool:
        """True if the bank gets a line for it."""
        return self.reception != "duplicate" or self.gains_receipts

    @property
    def is_change(self) -> bool:
        """True if it turned a success into a failure, or the other way round."""
        return self.before.known and self.before.success != self.outcome.success

    @property
    def is_disputed(self) -> bool:
        """True if the user's file says the opposite of what counts."""
        return self.arrival.given is not None and self.arrival.given != self.outcome.success


@dataclass(slots=True)
class FileTally:
    """Counts of one log. Everything but `without_outcome` counts duplicates too.

    Attributes:
        formats: The formats it was read as; of the project's own logs, those that their episodes
            were first read as.
        sources: How many outcomes came from each source, by what counts, as of a duplicate the
            bank's.
        changed: How many outcomes became their opposite.
        without_outcome: How many came into the bank without an outcome.
        redactions: How many secrets were taken out, by kind.
    """

    formats: list[str] = field(default_factory=list)
    receptions: Counter[Reception] = field(default_factory=Counter)
    sources: Counter[OutcomeSource] = field(default_factory=Counter)
    successes: int = 0
    failures: int = 0
    changed: int = 0
    without_outcome: int = 0
    steps: int = 0
    redactions: Counter[str] = field(default_factory=Counter)
    rejected: int = 0

    @property
    def episodes(self) -> int:
        """How many episodes were read."""
        return self.receptions.total()

    def add(self, received: EpisodeImport) -> None:
        """Count one more episode."""
        arrival, outcome = received.arrival, received.outcome
        self._read_as(arrival.source.format)
        self.receptions[received.reception] += 1
        self.sources[outcome.source] += 1
        self.successes += outcome.success is True
        self.failures += outcome.success is False
        self.changed += received.is_change
        self.without_outcome += outcome.success is None and received.reception != "duplicate"
        self.steps += arrival.steps
        self.redactions.update(arrival.redactions.counts)

    def refuse(self, error: RecordError) -> None:
        """Count one more record that was refused."""
        self.rejected += 1
        if error.format:
            self._read_as(error.format)

    def _read_as(self, name: str) -> None:
        if name not in self.formats and len(self.formats) < LISTED_NAMES:
            self.formats.append(name)


@dataclass(slots=True)
class ImportReport:
    """Results of importing some logs.

    Attributes:
        redaction: What was taken out of the episodes: `secrets`, `personal` data too, or `off`.
        files: A tally per log, by its name, in the order in which they were read. From `LISTED`
            on, further logs are one, `OTHER_FILES`.
        entries: An entry for every episode, in order, if they are kept.
        rejected: The first records that were refused, and why.
        notices: The first notices of what readers left out by design.
        named: Those of the user's ids that name an episode that was read.
        unmatched: Those of the user's ids that name none.
        disputed: The ids of those episodes, in order, that keep another outcome than the user's
            file gives them, since their log states it.
        usual_domain: The domain that the episodes are expected to have; empty if there is none.
        domains: How many episodes each of the first domains has. From `LISTED_NAMES` on, further
            ones are one, `OTHER_DOMAINS`.
        reasons: Why outcomes are unknown, of the episodes that came into the bank without one.
        receipts: The receipts that were given; None if none were.
        receipts_added: How many episodes have receipts now that the bank did not know.
        shown: How many nodes those name in all, and how many of them the bank does not have: they
            were deleted, or are another bank's.
        built_on: How many nodes stay that earlier records of sessions wrote, because others
            build on them.
    """

    redaction: Redaction = "secrets"
    dry_run: bool = False
    listed: bool = True
    files: dict[str, FileTally] = field(default_factory=dict)
    entries: list[EpisodeImport] = field(default_factory=list)
    rejected: list[RecordError] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    notice_count: int = 0
    named: set[str] = field(default_factory=set)
    unmatched: list[str] = field(default_factory=list)
    disputed: dict[str, None] = field(default_factory=dict)
    usual_domain: str = ""
    domains: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    receipts: ReceiptFile | None = None
    receipts_added: int = 0
    shown: Counter[Literal["nodes", "unknown"]] = field(default_factory=Counter)
    built_on: int = 0

    def add(self, received: EpisodeImport) -> None:
        """Count an episode."""
        arrival = received.arrival
        if domain := arrival.domain:
            is_listed = domain in self.domains or len(self.domains) < LISTED_NAMES
            self.domains[domain if is_listed else OTHER_DOMAINS] += 1
        self._tally(arrival.source.file).add(received)
        self.receipts_added += bool(received.is_written and arrival.receipts)
        outcome = received.outcome
        if received.reception != "duplicate" and outcome.success is None and outcome.reason:
            self.reasons[outcome.reason] += 1
        if received.is_disputed:
            self.disputed[arrival.id] = None
        if self.listed:
            # Without its line: that is large, and on disk.
            self.entries.append(replace(received, arrival=replace(arrival, line=b"")))

    def reject(self, error: RecordError) -> None:
        """Count a record that was refused."""
        self._tally(error.source or "").refuse(error)
        if len(self.rejected) < LISTED:
            self.rejected.append(error)

    def notice(self, notice: Notice) -> None:
        """Count a notice of what was left out by design."""
        self.notice_count += 1
        if len(self.notices) < LISTED:
            self.notices.append(notice)

    def count(self, reception: Reception) -> int:
        """Return how many episodes had this reception."""
        return sum(tally.receptions[reception] for tally in self.files.values())

    @property
    def refused(self) -> int:
        """How many records were refused in all."""
        return sum(tally.rejected for tally in self.files.values())

    @property
    def refusals(self) -> tuple[RecordError, ...]:
        """The refusals that were kept, and a last one for all others."""
        more = self.refused - len(self.rejected)
        if not more:
            return tuple(self.rejected)
        rest = RecordError(
            f"{counted(more, 'more record was', 'more records were')} refused; only the first "
            f"{len(self.rejected):,} are listed",
            hint="correct these and import again",
        )
        return (*self.rejected, rest)

    @property
    def episodes(self) -> int:
        """How many episodes were read."""
        return sum(tally.episodes for tally in self.files.values())

    @property
    def changed(self) -> int:
        """How many outcomes became their opposite."""
        return sum(tally.changed for tally in self.files.values())

    @property
    def without_outcome(self) -> int:
        """How many episodes came into the bank without an outcome."""
        return sum(tally.without_outcome for tally in self.files.values())

    @property
    def sources(self) -> Counter[OutcomeSource]:
        """How many outcomes came from each source."""
        return sum((tally.sources for tally in self.files.values()), Counter())

    @property
    def redactions(self) -> Counter[str]:
        """How many secrets were taken out of what was read, by kind."""
        return sum((tally.redactions for tally in self.files.values()), Counter())

    @property
    def other_domains(self) -> list[str]:
        """The domains other than the usual one, if there is a usual one."""
        usual = domain_key(self.usual_domain)
        return [each for each in self.domains if self.usual_domain and domain_key(each) != usual]

    @property
    def of_others(self) -> int:
        """How many episodes are of another domain than the usual one."""
        return sum(self.domains[each] for each in self.other_domains)

    def _tally(self, file: str) -> FileTally:
        tally = self.files.get(file)
        if tally is None:
            name = file if len(self.files) < LISTED else OTHER_FILES
            tally = self.files.setdefault(name, FileTally())
        return tally
