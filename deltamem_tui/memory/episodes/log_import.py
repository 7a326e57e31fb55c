"""Imports of logs into a bank: find and read them, show how far it is, stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Unpack

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import TrajectoryError
from deltamem_tui.memory.episodes.import_report import ImportReport, Redaction
from deltamem_tui.memory.episodes.importer import NO_OUTCOMES, Importer, ImportOptions, names_one
from deltamem_tui.text import counted
from deltamem_tui.trajectory.logs.record import ReadProgress
from deltamem_tui.trajectory.logs.sources import FoundLog, find_logs
from deltamem_tui.trajectory.readers import reading
from deltamem_tui.trajectory.user_outcomes import UserOutcomes


class LogImport:
    """An import of logs into a bank, each read once.

    Args:
        logs: Files, folders, patterns, or `-` for standard input.
        format: How to read them; by content if None.
        success_at: The reward from which on an episode is a success.
        outcomes_name: The name of the user's file of outcomes, for errors.

    Attributes:
        report: What became of the records that were read so far.

    Raises:
        TrajectoryError: A log does not exist, cannot be opened or has no reader; or the outcomes
            are a list of ids and none of them names an episode of these logs.
        UsageError: The format is unknown, or `success_at` is out of range.
    """

    def __init__(
        self,
        bank: Bank,
        logs: Sequence[str],
        *,
        format: str | None = None,  # noqa: A002 - the word that people type
        success_at: float = 1.0,
        outcomes_name: str = "",
        **options: Unpack[ImportOptions],
    ) -> None:
        self._progress = ReadProgress()
        self._outcomes = outcomes = options.get("outcomes", NO_OUTCOMES)
        redaction = options.get("redaction", "secrets")
        found = logs_named(logs, outcomes, outcomes_name, redaction, format)
        records = reading.read_logs(
            found, format=format, success_at=success_at, progress=self._progress
        )
        self._importer = Importer(bank, records, **options)
        self.report: ImportReport = self._importer.report

    @property
    def total_bytes(self) -> int:
        """How many bytes there are to be read."""
        return self._progress.total

    def run(
        self,
        *,
        advance: Callable[[int], object] = lambda _: None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """Import the logs; see `Importer.run`.

        `advance` is called with the number of bytes read since its last call.
        """
        self._progress.advance = advance
        self._importer.run(stopped=stopped)
        if not stopped():
            named = self.report.named
            self.report.unmatched = [key for key in self._outcomes.by_id if key not in named]


def logs_named(
    logs: Sequence[str],
    outcomes: UserOutcomes,
    name: str,
    redaction: Redaction,
    format: str | None,  # noqa: A002 - the word that people type
) -> Sequence[str | FoundLog]:
    """Return the logs, found ahead where a list of ids must be about them.

    Raises:
        TrajectoryError: The outcomes are such a list, and it names no episode of these logs.
    """
    if not outcomes.must_name_one:
        return logs
    found = [*find_logs(logs)]  # read twice, which standard input alone could not be
    if not names_one(reading.read_logs(found, format=format), outcomes, redaction):
        ids = counted(len(outcomes.by_id), "id")
        raise TrajectoryError(
            f"read as a list of resolved episodes, but none of its {ids} names an episode of "
            "these logs: nothing was done with them",
            source=name,
            hint="ids as the logs have them, one a line, or a table from id to success",
        )
    return found
