"""Results of importing logs: a tally per file, and an entry per episode.

Lists are bounded by `LISTED`, however much was read; entries are kept only on request.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from msgspec import Struct

from deltamem_tui.errors import RecordError
from deltamem_tui.text import counted
from deltamem_tui.trajectory.logs.record import Notice
from deltamem_tui.trajectory.model import LogSource, Outcome, OutcomeSource, Trajectory, domain_key
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
    """An episode as a bank will keep it.

    Attributes:
        line: Its record as one line of JSON, newline included.
        given: Whether the user's file says that it was a success; None if that is silent.
    """

    trajectory: Trajectory
    line: bytes
    redactions: Redactions = NOTHING
    given: bool | None = None

    @property
    def id(self) -> str:
        """The episode's id."""
        return self.trajectory.id


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


class ImportedEpisode(Struct, frozen=True, gc=False):
    """What is listed of an episode that was read."""

    id: str
    task: str
    steps: int
    source: LogSource
    reception: Reception
    outcome: Outcome


@dataclass(slots=True)
class FileTally:
    """Counts of one log, or of all. Everything but `without_outcome` counts duplicates too.

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
        trajectory, outcome, before = received.arrival.trajectory, received.outcome, received.before
        self._read_as(trajectory.source.format)
        self.receptions[received.reception] += 1
        self.sources[outcome.source] += 1
        self.successes += outcome.success is True
        self.failures += outcome.success is False
        self.changed += before.known and before.success != outcome.success
        self.without_outcome += outcome.success is None and received.reception != "duplicate"
        self.steps += len(trajectory.steps)
        self.redactions.update(received.arrival.redactions.counts)

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
        total: A tally of all logs.
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
    """

    redaction: Redaction = "secrets"
    dry_run: bool = False
    listed: bool = True
    total: FileTally = field(default_factory=FileTally)
    files: dict[str, FileTally] = field(default_factory=dict)
    entries: list[ImportedEpisode] = field(default_factory=list)
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

    def add(self, received: EpisodeImport) -> None:
        """Count an episode."""
        arrival, found, outcome = received.arrival, received.arrival.trajectory, received.outcome
        if domain := found.domain:
            is_listed = domain in self.domains or len(self.domains) < LISTED_NAMES
            self.domains[domain if is_listed else OTHER_DOMAINS] += 1
        for tally in self._tallies(found.source.file):
            tally.add(received)
        self.receipts_added += bool(received.is_written and found.receipts)
        if received.reception != "duplicate" and outcome.success is None and outcome.reason:
            self.reasons[outcome.reason] += 1
        if arrival.given is not None and arrival.given != outcome.success:
            self.disputed[found.id] = None
        if self.listed:
            facts = found.id, found.task, len(found.steps), found.source
            self.entries.append(ImportedEpisode(*facts, received.reception, outcome))

    def reject(self, error: RecordError) -> None:
        """Count a record that was refused."""
        for tally in self._tallies(error.source or ""):
            tally.refuse(error)
        if len(self.rejected) < LISTED:
            self.rejected.append(error)

    def notice(self, notice: Notice) -> None:
        """Count a notice of what was left out by design."""
        self.notice_count += 1
        if len(self.notices) < LISTED:
            self.notices.append(notice)

    def count(self, reception: Reception) -> int:
        """Return how many episodes had this reception."""
        return self.total.receptions[reception]

    @property
    def refusals(self) -> tuple[RecordError, ...]:
        """The refusals that were kept, and a last one for all others."""
        more = self.total.rejected - len(self.rejected)
        if not more:
            return tuple(self.rejected)
        rest = RecordError(
            f"{counted(more, 'more record was', 'more records were')} refused; only the first "
            f"{len(self.rejected):,} are listed",
            hint="correct these and import again",
        )
        return (*self.rejected, rest)

    @property
    def other_domains(self) -> Counter[str]:
        """How many episodes have each domain other than the usual one, if there is a usual one."""
        usual = domain_key(self.usual_domain)
        others = (each for each in self.domains if self.usual_domain and domain_key(each) != usual)
        return Counter({each: self.domains[each] for each in others})

    def _tallies(self, file: str) -> tuple[FileTally, FileTally]:
        """Return the tally of a log and that of all."""
        if file not in self.files and len(self.files) >= LISTED:
            file = OTHER_FILES
        return self.files.setdefault(file, FileTally()), self.total
