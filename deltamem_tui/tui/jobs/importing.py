"""Bringing the episodes of logs into a bank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.text import counted, one_line
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.tui.background import Progress
from deltamem_tui.tui.messages import Changed, Planned
from deltamem_tui.tui.models.sections import Section

if TYPE_CHECKING:
    from deltamem_tui.memory.episodes.domains import DomainTally
    from deltamem_tui.memory.episodes.receipts import Intake
    from deltamem_tui.trajectory.readers.reader import Reading
    from deltamem_tui.trajectory.readers.written import Written

_NAMED = 3
_NOTICES = 3


def import_logs(path: Path, log: str, log_format: str, progress: Progress) -> Changed | Planned:
    """Import the episodes of logs into the bank at `path`, their secrets taken out.

    No import can be taken back. So the first episode of another domain than the bank's, which
    may be of a log that was not meant, ends it with a question. Whoever says yes has the logs
    read on from there: nothing is read twice.

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
    tally = DomainTally(domain_of(bank))
    logs = _Logs(log, log_format, tally.usual)
    found, intake = logs.import_into(bank, progress, tally)
    if not found:
        return _imported(path, intake, progress)

    def go_on(at_work: Progress) -> Changed:
        _, rest = logs.import_into(Bank.open(path), at_work)
        return _imported(path, rest, at_work)

    other, usual = one_line(found, 40), one_line(tally.usual, 40)
    return Planned(
        "importing",
        f"Import episodes of {other} too? {one_line(path.name, 40)} is of {usual}.",
        [
            Section(f"So far: {_summary(intake)}", "This stays, whatever you answer."),
            Section(
                f"The next episode is of {other}",
                "With yes all that follow are imported, of whatever domain they are. "
                "No import can be taken back.",
            ),
        ],
        go_on,
        can_stop=True,
        called="question",
    )


class _Logs:
    """Logs that are read once, by one piece of work after another.

    Args:
        log: A file, a folder or a pattern.
        log_format: How to read it; empty: by content.
        domain: The domain of episodes whose log names none.
    """

    def __init__(self, log: str, log_format: str, domain: str) -> None:
        from deltamem_tui.trajectory.logs.pace import Pace
        from deltamem_tui.trajectory.readers import reading

        self._pace = Pace()
        self._read = 0
        self._left: Iterable[Reading | Written] = reading.read_written(
            [log], format=log_format or None, pace=self._pace, domain=domain
        )

    def import_into(
        self, bank: Bank, progress: Progress, tally: DomainTally | None = None
    ) -> tuple[str, Intake]:
        """Import what is left of the logs, or all before the first episode of another domain.

        Args:
            bank: The bank.
            progress: Told how far it is, and asked whether to stop.
            tally: Counts domains and knows the usual one; None if any domain will do.

        Returns:
            The domain of that episode, which comes first the next time, or nothing; and what
            was imported.
        """
        from deltamem_tui.memory.episodes.intake import take_in
        from deltamem_tui.trajectory.readers.written import Written

        def advance(count: int) -> None:
            self._read += count
            progress.advance(count, self._pace.total, "bytes read")

        if self._read:
            progress.advance(self._read, self._pace.total, "bytes read")
        self._pace.advance = advance
        found: list[Trajectory | Written] = []

        def own() -> Iterator[Reading | Written]:
            for each in self._left:
                if progress.stopped:
                    return
                if tally is not None and isinstance(each, Trajectory | Written):
                    tally.add(each.domain)
                    if tally.of_others:
                        found.append(each)
                        return
                yield each

        intake = take_in(bank, own(), listed=False)
        self._left = chain(found, self._left)
        return (found[0].domain if found else ""), intake


def _imported(path: Path, intake: Intake, progress: Progress) -> Changed:
    return Changed(path, _summary(intake) + (" (cancelled)" if progress.stopped else ""))


def _summary(intake: Intake) -> str:
    from deltamem_tui.memory.episodes.telling import told_notices

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
    return "; ".join((words, *told_notices(intake, _NOTICES)))


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
