"""The episodes of logs, read as an import keeps them, for commands that keep no bank of them."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from deltamem_tui.cli.interruption import Interruption
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.result import InterruptionError
from deltamem_tui.errors import DeltaMemError

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.trajectory.model import Trajectory


def episodes_of_bank(bank: Bank) -> list[Trajectory]:
    """All that a bank keeps, in order of import."""
    from deltamem_tui.memory.episodes.stored_episodes import episodes

    return [*episodes(bank)]


def read_logs_once(
    invocation: Invocation,
    logs: Sequence[str],
    format: str | None,  # noqa: A002 - the word that people type
    domain: str | None,
    stop: Interruption,
    consequence: str,
) -> tuple[list[Trajectory], Mapping[str, int], list[DeltaMemError]]:
    """The episodes of logs as an import keeps them, how many are none, and why.

    `consequence` is what it means if Ctrl+C is pressed meanwhile.
    """
    from deltamem_tui.memory.banks import create_bank
    from deltamem_tui.memory.episodes.log_import import LogImport

    with tempfile.TemporaryDirectory(prefix="deltamem-log-") as folder:
        bank = create_bank(Path(folder) / "log", embedder="hashing", domain=domain or "generic")
        job = LogImport(bank, logs, format=format, domain=domain or "", listed=False)
        with invocation.output.progress("reading", job.total_bytes) as advance:
            job.run(advance=advance, stopped=stop)
        if stop:
            raise InterruptionError("interrupted", hint=consequence)
        refusals = list[DeltaMemError](job.report.refusals)
        duplicates = job.report.count("duplicate") + job.report.count("updated")
        excluded = {"recorded before": duplicates, "cannot be read": len(refusals)}
        return episodes_of_bank(bank), excluded, refusals
