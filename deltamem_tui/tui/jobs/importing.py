"""Bringing the episodes of logs into a bank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from deltamem_tui.bank.bank import Bank
from deltamem_tui.text import counted, one_line
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.tui.background import Progress
from deltamem_tui.tui.messages import Changed, Planned
from deltamem_tui.tui.models.sections import Section

if TYPE_CHECKING:
    from deltamem_tui.memory.episodes.domains import DomainTally
    from deltamem_tui.memory.episodes.import_report import Intake
    from deltamem_tui.trajectory.readers.reader import Reading
    from deltamem_tui.trajectory.readers.written import Written

_NAMED = 3
_NOTICES = 3
# What is looked at before anything is written has to be kept meanwhile: about one batch.
_HELD_EPISODES = 5_000
_HELD_LETTERS = 24_000_000


def import_logs(path: Path, log: str, log_format: str, progress: Progress) -> Changed | Planned:
    """Import the episodes of logs into the bank at `path`, their secrets taken out.

    No import can be taken back. So the first episode of another domain than the bank's, which
    may be of a log that was not meant, is asked about. Its like are looked for before anything
    is written, as far as episodes can be kept meanwhile; one that comes later ends the import
    with the question. Whoever says yes has the logs read on from there: nothing is read twice.

    Args:
        path: The bank.
        log: A file, a folder or a pattern.
        log_format: How to read it; empty: by content.
        progress: Told how many bytes were read, and of how many.

    Raises:
        TrajectoryError: No reader takes the log.
        BankError: The bank cannot be written.
    """
    from deltamem_tui.memory.episodes.domains import DomainTally, domain_of

    bank = Bank.open(path)
    tally, intake = DomainTally(domain_of(bank)), None
    logs = _Logs(log, log_format, tally.usual)
    found = logs.look_ahead(progress, tally)
    if not found:
        found, intake = logs.import_into(bank, progress, DomainTally(tally.usual))
        if not found or progress.stopped:
            return _imported(path, intake, progress)

    def go_on(at_work: Progress) -> Changed:
        _, whole = logs.import_into(Bank.open(path), at_work, earlier=intake)
        return _imported(path, whole, at_work)

    own = tally.total - tally.of_others
    question = _question(path, one_line(found, 40), one_line(tally.usual, 40), own, intake)
    return Planned(
        "importing",
        *question.asked,
        go_on,
        can_stop=True,
        called="question",
        declined=question.declined,
    )


class _Question(NamedTuple):
    """Whether to import what was not expected, and what is so for who says no."""

    asked: tuple[str, list[Section]]
    declined: str


def _question(path: Path, other: str, usual: str, own: int, intake: Intake | None) -> _Question:
    """Ask about episodes of another domain.

    Args:
        path: The bank.
        other: The domain of the first such episode.
        usual: The bank's domain.
        own: How many episodes were looked at before it.
        intake: What was imported before it; None if nothing was written.
    """
    if intake is None:
        so_far = Section(
            "Nothing is written so far",
            "With no, nothing is imported"
            + (f", nor what came first: {_of(own, usual)}." if own else "."),
        )
        first = f"behind {_of(own, usual)} is one of {other}" if own else f"the first is of {other}"
        declined = f"nothing was imported: {first}"
    else:
        so_far = Section(f"So far: {_summary(intake)}", "This stays, whatever you answer.")
        declined = (
            f"stopped at the first episode of {other}; it and all behind it were not imported, "
            f"what came before stays: {_summary(intake)}"
        )
    yes = Section(
        f"The next episode is of {other}",
        f"With yes {'all are' if intake is None else 'all that follow are'} imported, of whatever "
        "domain they are. No import can be taken back.",
    )
    return _Question(
        (
            f"Import episodes of {other} too? {one_line(path.name, 40)} is of {usual}.",
            [so_far, yes],
        ),
        declined,
    )


def _of(count: int, domain: str) -> str:
    return f"{counted(count, 'episode')} of {domain}"


class _Logs:
    """Logs that are read once, by one piece of work after another.

    Args:
        log: A file, a folder or a pattern.
        log_format: How to read it; empty: by content.
        domain: The domain of episodes whose log names none.
    """

    def __init__(self, log: str, log_format: str, domain: str) -> None:
        from deltamem_tui.trajectory.logs.progress import Pace
        from deltamem_tui.trajectory.readers import reading

        self._pace = Pace()
        self._read = 0
        self._told: Progress | None = None
        self._left: Iterable[Reading | Written] = reading.read_written(
            [log], format=log_format or None, pace=self._pace, domain=domain
        )

    def look_ahead(self, progress: Progress, tally: DomainTally) -> str:
        """Look for the first episode of another domain as far as nothing has to be written.

        What was looked at comes first the next time.

        Args:
            progress: Told how far it is, and asked whether to stop.
            tally: Counts domains and knows the usual one.

        Returns:
            The domain of that episode, or nothing.
        """
        self._report_to(progress)
        held: list[Reading | Written] = []
        found, letters = "", 0
        for each in self._left:
            held.append(each)
            letters += _letters(each)
            found = _other_domain(each, tally)
            enough = len(held) >= _HELD_EPISODES or letters >= _HELD_LETTERS
            if found or enough or progress.stopped:
                break
        self._left = chain(held, self._left)
        return "" if progress.stopped else found  # who cancels is asked nothing

    def import_into(
        self,
        bank: Bank,
        progress: Progress,
        tally: DomainTally | None = None,
        earlier: Intake | None = None,
    ) -> tuple[str, Intake]:
        """Import what is left of the logs, or all before the first episode of another domain.

        Args:
            bank: The bank.
            progress: Told how far it is, and asked whether to stop.
            tally: Counts domains and knows the usual one; None if any domain will do.
            earlier: What was imported of the logs before, which is counted on.

        Returns:
            The domain of that episode, which comes first the next time, or nothing; and what
            was imported.
        """
        from deltamem_tui.memory.episodes.importer import take_in

        self._report_to(progress)
        found: list[tuple[str, Reading | Written]] = []

        def own() -> Iterator[Reading | Written]:
            for each in self._left:
                if progress.stopped:
                    return
                if tally is not None and (domain := _other_domain(each, tally)):
                    found.append((domain, each))
                    return
                yield each

        intake = take_in(bank, own(), listed=False, earlier=earlier)
        self._left = chain((each for _, each in found), self._left)
        return (found[0][0] if found else ""), intake

    def _report_to(self, progress: Progress) -> None:
        """Let a piece of work tell how far the logs are read, by all that read them so far."""

        def advance(count: int) -> None:
            self._read += count
            progress.advance(count, self._pace.total, "bytes read")

        if self._read and progress is not self._told:
            progress.advance(self._read, self._pace.total, "bytes read")
        self._told = progress
        self._pace.advance = advance


def _other_domain(record: Reading | Written, tally: DomainTally) -> str:
    """The domain of an episode that is the first of another one than the usual, or nothing."""
    from deltamem_tui.trajectory.readers.written import Written

    if not isinstance(record, Trajectory | Written):
        return ""
    tally.add(record.domain or tally.usual)
    return record.domain if tally.of_others else ""


def _letters(record: Reading | Written) -> int:
    """About how much room a record takes."""
    from deltamem_tui.trajectory.readers.written import Written

    if isinstance(record, Written):
        return len(record.line)
    if not isinstance(record, Trajectory):
        return 0
    said = sum(len(step.action) + len(step.observation) for step in record.steps)
    return len(record.task) + len(record.environment) + said


def _imported(path: Path, intake: Intake, progress: Progress) -> Changed:
    return Changed(path, _summary(intake) + (" (cancelled)" if progress.stopped else ""))


def _summary(intake: Intake) -> str:
    from deltamem_tui.memory.episodes.report_text import told_notices, told_unsaid

    words = f"imported {counted(intake.count('imported'), 'episode')}{_read_as(intake)}"
    for count, what in (
        (intake.count("updated"), "updated"),
        (intake.count("duplicate"), "known already"),
        (intake.refused, "rejected"),
        (intake.redactions.total(), "taken out as secrets"),
    ):
        if count:
            words += f", {count:,} {what}"
    if intake.redactions:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(intake.redactions.items()))
        words += f" ({kinds})"
    if intake.rejected:
        words += f"; first: {intake.rejected[0]}"
    waits = told_unsaid(intake)
    return "; ".join((words, *([waits] if waits else []), *told_notices(intake, _NOTICES)))


def _read_as(intake: Intake) -> str:
    """As what the logs were read: who chose another log, or another bank, sees it here."""
    formats = dict.fromkeys(name for each in intake.files.values() for name in each.formats)
    facts = [f"read as {_named(list(formats))}"] if formats else []
    domains = intake.domains
    if domains.listed:
        facts.append(f"of {_named([name for name, _ in domains.listed.most_common()])}")
    if domains.of_others:
        facts.append(f"while the bank is of {_named([domains.usual])}")
    return f" ({', '.join(facts)})" if facts else ""


def _named(names: list[str]) -> str:
    """The first of some names, which come from outside."""
    said = ", ".join(one_line(name, 40) for name in names[:_NAMED])
    return f"{said} and more" if len(names) > _NAMED else said
