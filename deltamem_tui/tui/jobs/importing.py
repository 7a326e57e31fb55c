"""Bringing the episodes of logs into a bank."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.background import Progress
from deltamem_tui.tui.messages import Changed

if TYPE_CHECKING:
    from deltamem_tui.memory.episodes.receipts import Intake

_NAMED = 3
_NOTICES = 3


def import_logs(path: Path, log: str, log_format: str, progress: Progress) -> Changed:
    """Import the episodes of logs into the bank at `path`, their secrets taken out.

    Args:
        path: The bank.
        log: A file, a folder or a pattern.
        log_format: How to read it; empty: by content.
        progress: Told how many bytes were read, and of how many.

    Raises:
        TrajectoryError: No reader takes the log.
        BankError: The bank cannot be written.
    """
    from deltamem_tui.memory.episodes.domains import domain_of
    from deltamem_tui.memory.episodes.intake import take_in
    from deltamem_tui.trajectory.logs.pace import Pace
    from deltamem_tui.trajectory.readers.reading import read_written

    bank = Bank.open(path)
    pace = Pace()
    pace.advance = lambda count: progress.advance(count, pace.total, "bytes read")
    readings = read_written([log], format=log_format or None, pace=pace, domain=domain_of(bank))
    intake = take_in(bank, takewhile(lambda _: not progress.stopped, readings), listed=False)
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
