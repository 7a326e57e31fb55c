"""Bringing the episodes of logs into a bank."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import RecordError
from deltamem_tui.text import counted, one_line
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.tui.background import Progress
from deltamem_tui.tui.messages import Changed

if TYPE_CHECKING:
    from deltamem_tui.memory.episodes.receipts import Intake
    from deltamem_tui.trajectory.readers.written import Written

_NAMED = 3


def import_logs(path: Path, log: str, log_format: str, progress: Progress) -> Changed:
    """Import the episodes of logs into the bank at `path`, their secrets taken out.

    An episode whose log names no domain has that of the bank.

    Args:
        path: The bank.
        log: A file, a folder or a pattern.
        log_format: How to read it; empty: by content.
        progress: Told how many bytes were read, and of how many.

    Raises:
        TrajectoryError: No reader takes the log.
        BankError: The bank cannot be written.
    """
    from deltamem_tui.memory.episodes.domains import domain_of, in_domain
    from deltamem_tui.memory.episodes.intake import take_in
    from deltamem_tui.trajectory.logs.pace import Pace
    from deltamem_tui.trajectory.readers import read_logs

    bank = Bank.open(path)
    pace = Pace()
    pace.advance = lambda count: progress.advance(count, pace.total, "bytes read")
    readings = read_logs([log], format=log_format or None, pace=pace)
    wanted = _until_stopped(in_domain(readings, domain_of(bank)), progress)
    intake = take_in(bank, wanted, listed=False)
    said = _summary(intake, _read_as(intake, domain_of(bank)))
    return Changed(path, said + (" (cancelled)" if progress.stopped else ""))


def _summary(intake: Intake, read_as: str) -> str:
    words = f"imported {counted(intake.count('imported'), 'episode')}{read_as}"
    for count, what in (
        (intake.count("updated"), "updated"),
        (intake.count("duplicate"), "known already"),
        (intake.refused, "rejected"),
        (intake.left_out, "left out by design"),
        (intake.redactions.total(), "taken out as secrets"),
    ):
        if count:
            words += f", {count:,} {what}"
    if intake.redactions:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(intake.redactions.items()))
        words += f" ({kinds})"
    if intake.rejected:
        words += f"; first: {intake.rejected[0]}"
    return words


def _read_as(intake: Intake, usual: str) -> str:
    """As what the logs were read: who chose another log, or another bank, sees it here."""
    formats = dict.fromkeys(name for each in intake.files.values() for name in each.formats)
    facts = [f"read as {_named(list(formats))}"] if formats else []
    named = [name for name, _ in intake.domains.most_common()]
    if named:
        facts.append(f"of {_named(named)}")
    if usual and any(name != usual for name in named):
        facts.append(f"while the bank is of {_named([usual])}")
    return f" ({', '.join(facts)})" if facts else ""


def _named(names: list[str]) -> str:
    """The first of some names, which come from outside."""
    said = ", ".join(one_line(name, 40) for name in names[:_NAMED])
    return f"{said} and more" if len(names) > _NAMED else said


def _until_stopped(
    readings: Iterator[Trajectory | Written | RecordError], progress: Progress
) -> Iterator[Trajectory | Written | RecordError]:
    for reading in readings:
        if progress.stopped:
            return
        yield reading
