"""Bringing the episodes of logs into a bank."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.text import one_line
from deltamem_tui.tui.core.job import BankChange, Progress, WorkPlan
from deltamem_tui.tui.models.sections import Section

if TYPE_CHECKING:
    from deltamem_tui.memory.episodes.import_report import ImportReport
    from deltamem_tui.memory.episodes.log_import import LogImport


def import_logs(path: Path, log: str, log_format: str, progress: Progress) -> BankChange | WorkPlan:
    """Import the episodes of logs into the bank at `path`, their secrets taken out.

    An import cannot be undone. So the first episode of another domain than the bank's, which
    may be of a log that was not meant, is asked about; if it is in the first batch, before
    anything is written. After a yes the logs are read on from there: nothing is read twice.

    Args:
        path: The bank.
        log: A file, a folder or a pattern.
        log_format: How to read it; empty: by content.
        progress: Notified of the bytes that were read, and of how many there are.

    Raises:
        TrajectoryError: No reader takes the log.
        BankError: The bank cannot be written.
    """
    from deltamem_tui.memory.episodes.domains import domain_of
    from deltamem_tui.memory.episodes.log_import import LogImport

    bank = Bank.open(path)
    job = LogImport(bank, [log], format=log_format or None, listed=False)
    other = _run(job, progress, pauses=True)
    if not other or progress.stopped:
        return _imported(path, job, progress)

    def go_on(at_work: Progress) -> BankChange:
        _run(job, at_work, pauses=False)
        return _imported(path, job, at_work)

    return _question(path, one_line(other, 40), one_line(domain_of(bank), 40), job.report, go_on)


def _run(job: LogImport, progress: Progress, *, pauses: bool) -> str:
    return job.run(
        advance=lambda count: progress.advance(count, job.total_bytes, "bytes read"),
        stopped=lambda: progress.stopped,
        pauses=pauses,
    )


def _question(
    path: Path,
    other: str,
    usual: str,
    found: ImportReport,
    go_on: Callable[[Progress], BankChange],
) -> WorkPlan:
    """Ask about episodes of another domain.

    Args:
        path: The bank.
        other: The domain of the first such episode.
        usual: The bank's domain.
        found: What was imported before it.
        go_on: Imports what is left.
    """
    rest = "all that follow are"
    if found.files:
        so_far = Section(f"So far: {_summary(found)}", "This stays, whatever you answer.")
        declined = (
            f"stopped at the first episode of {other}: neither it nor what follows was imported; "
            f"what came before stays: {_summary(found)}"
        )
    else:
        so_far = Section("Nothing is written so far", "With no, nothing is imported.")
        declined = f"nothing was imported: an episode is of {other}"
        rest = "all are"
    yes = Section(
        f"The next episode is of {other}",
        f"With yes {rest} imported, of whatever domain they are. An import cannot be undone.",
    )
    return WorkPlan(
        "importing",
        f"Import episodes of {other} too? {one_line(path.name, 40)} is of {usual}.",
        [so_far, yes],
        go_on,
        can_stop=True,
        kind="question",
        declined=declined,
    )


def _imported(path: Path, job: LogImport, progress: Progress) -> BankChange:
    return BankChange(path, _summary(job.report) + (" (cancelled)" if progress.stopped else ""))


def _summary(found: ImportReport) -> str:
    from deltamem_tui.memory.reports.imports import view_import

    return view_import(found).summary
