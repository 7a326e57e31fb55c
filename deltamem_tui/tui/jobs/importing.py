"""Bringing the episodes of logs into a bank."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.tui.background import Progress
from deltamem_tui.tui.messages import Changed
from deltamem_tui.tui.models.words import counted

if TYPE_CHECKING:
    from deltamem_tui.memory.episodes.receipts import Intake


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
    from deltamem_tui.memory.episodes.intake import take_in
    from deltamem_tui.trajectory.logs.pace import Pace
    from deltamem_tui.trajectory.readers import read_logs

    pace = Pace()
    pace.advance = lambda count: progress.advance(count, pace.total, "bytes read")
    readings = read_logs([log], format=log_format or None, pace=pace)
    intake = take_in(Bank.open(path), _until_stopped(readings, progress), listed=False)
    return Changed(path, _summary(intake) + (" (cancelled)" if progress.stopped else ""))


def _summary(intake: Intake) -> str:
    words = f"imported {counted(intake.count('imported'), 'episode')}"
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
    return words


def _until_stopped(
    readings: Iterator[Trajectory | RecordError], progress: Progress
) -> Iterator[Trajectory | RecordError]:
    for reading in readings:
        if progress.stopped:
            return
        yield reading
