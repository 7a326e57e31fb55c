"""What became of the records of some logs: a tally per file, and a receipt per episode.

The tallies take the same room however much was read; receipts are kept only on request.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import LogSource, Outcome, OutcomeSource
from deltamem_tui.trajectory.readers.written import Written

Reception = Literal["imported", "updated", "duplicate"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of one episode that was read.

    Attributes:
        id: The episode's id.
        task: Its task.
        steps: How many steps it has.
        outcome: How it ended, and who says so.
        source: Where it was read.
        reception: `imported` if it is new, `updated` if only its outcome is, else `duplicate`.
        redactions: How many secrets were taken out of it, by kind.
    """

    id: str
    task: str
    steps: int
    outcome: Outcome
    source: LogSource
    reception: Reception
    redactions: tuple[tuple[str, int], ...] = ()


@dataclass(slots=True)
class FileTally:
    """What one log gave. Everything but `unsaid` counts duplicates too.

    Attributes:
        formats: The formats it was read as; of the project's own logs, those that their
            episodes were first read as.
        steps: How many steps its episodes have.
        receptions: How many episodes had each reception.
        sources: How many outcomes came from each source.
        successes: How many episodes ended in success.
        failures: How many did not.
        unsaid: How many came into the bank without an outcome.
        redactions: How many secrets were taken out, by kind.
        rejected: How many records were refused.
    """

    formats: list[str] = field(default_factory=list)
    steps: int = 0
    receptions: Counter[Reception] = field(default_factory=Counter)
    sources: Counter[OutcomeSource] = field(default_factory=Counter)
    successes: int = 0
    failures: int = 0
    unsaid: int = 0
    redactions: Counter[str] = field(default_factory=Counter)
    rejected: int = 0

    @property
    def episodes(self) -> int:
        """How many episodes were read."""
        return self.receptions.total()

    def add(self, written: Written, reception: Reception) -> None:
        """Count one more episode."""
        outcome = written.outcome
        if written.source.format not in self.formats:
            self.formats.append(written.source.format)
        self.steps += written.steps
        self.receptions[reception] += 1
        self.sources[outcome.source] += 1
        self.successes += outcome.success is True
        self.failures += outcome.success is False
        self.unsaid += not outcome.known and reception != "duplicate"
        if written.redactions.counts:
            self.redactions.update(written.redactions.counts)


@dataclass(slots=True)
class Intake:
    """What became of the records of some logs.

    Attributes:
        files: A tally per log, by its name, in the order in which they were read.
        received: A receipt for every episode, in order, if receipts are kept.
        rejected: Every record that was refused, and why.
        listed: Whether receipts are kept.
    """

    files: dict[str, FileTally] = field(default_factory=dict)
    received: list[Receipt] = field(default_factory=list)
    rejected: list[RecordError] = field(default_factory=list)
    listed: bool = True

    def receive(self, written: Written, reception: Reception) -> None:
        """Note what became of an episode."""
        self._tally(written.source.file).add(written, reception)
        if self.listed:
            self.received.append(_receipt(written, reception))

    def reject(self, error: RecordError) -> None:
        """Note a record that was refused."""
        self._tally(error.source or "").rejected += 1
        self.rejected.append(error)

    def count(self, reception: Reception) -> int:
        """How many episodes had this reception."""
        return sum(tally.receptions[reception] for tally in self.files.values())

    @property
    def episodes(self) -> int:
        """How many episodes were read."""
        return sum(tally.episodes for tally in self.files.values())

    @property
    def unsaid(self) -> int:
        """How many episodes came into the bank without an outcome."""
        return sum(tally.unsaid for tally in self.files.values())

    @property
    def sources(self) -> Counter[OutcomeSource]:
        """How many outcomes came from each source."""
        return sum((tally.sources for tally in self.files.values()), Counter())

    @property
    def redactions(self) -> Counter[str]:
        """How many secrets were taken out of what was read, by kind."""
        return sum((tally.redactions for tally in self.files.values()), Counter())

    def _tally(self, file: str) -> FileTally:
        tally = self.files.get(file)
        if tally is None:
            tally = self.files[file] = FileTally()
        return tally


def _receipt(written: Written, reception: Reception) -> Receipt:
    return Receipt(
        id=written.id,
        task=written.task,
        steps=written.steps,
        outcome=written.outcome,
        source=written.source,
        reception=reception,
        redactions=tuple(written.redactions.counts.items()),
    )
