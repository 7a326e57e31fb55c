"""The log formats that can be read, and what each would make of a log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.options import argument
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result, View
from deltamem_tui.errors import DeltaMemError, LogFormatError, TrajectoryError
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from deltamem_tui.trajectory.logs.log import Log
    from deltamem_tui.trajectory.readers import Reader
    from deltamem_tui.trajectory.readers.reading import Trial

_COLUMNS = (
    *("file", "", "format", "sure", "episodes", "steps", "success", "failure", "unknown"),
    *("rejected", "first"),
)
_SHOWN_REASONS = 3  # of each log

Logs = Annotated[list[str], argument("LOG...", "Files, folders, patterns, or - for stdin.")]


def formats(
    context: typer.Context,  # noqa: ARG001 - a command's first parameter
    format: options.Format = None,  # noqa: A002 - the word that people type
) -> Result:
    """List the formats of logs that can be read."""
    from deltamem_tui.trajectory.readers import reader_named, readers

    found = readers() if format is None else (reader_named(format),)
    rows = [(reader.name, reader.description) for reader in found]
    data = [{"name": name, "description": description} for name, description in rows]
    view: View = lambda page: page.table(("format", "description"), rows)  # noqa: E731
    return Result("formats", {"formats": data}, view=view)


def try_(context: typer.Context, logs: Logs, format: options.Format = None) -> Result:  # noqa: A002
    """Show what each format would make of logs; nothing is imported.

    Only formats that claim the log are tried, and the one that you name with --format, which may
    be a file that you are just writing.
    """
    from deltamem_tui.trajectory.logs.sources import find_logs
    from deltamem_tui.trajectory.readers import reader_named

    named = reader_named(format) if format else None
    files = [found.log for found in find_logs(logs)]
    tried: list[tuple[str, str | None, list[Trial]]] = []
    errors: list[DeltaMemError] = []
    with Invocation.of(context).output.progress("trying", len(files)) as advance:
        for log in files:
            try:
                tried.append((log.name, *_attempt(log, named, errors)))
            except TrajectoryError as error:  # it cannot even be opened
                errors.append(error)
            advance()

    def view(page: Page) -> None:
        page.table(_COLUMNS, [row for each in tried for row in _rows(*each)])

    data = [
        {"source": source, "format": chosen, "trials": [_record(trial) for trial in trials]}
        for source, chosen, trials in tried
    ]
    done = sum(chosen is not None for _, chosen, _ in tried)
    notes = ["→ is how `deltamem import` reads it"] if done else []
    notes += [note for each in tried for note in _reasons(*each)]
    return Result(
        "formats", {"logs": data}, errors, Result.verdict(done, errors), view=view, notes=notes
    )


def _attempt(
    log: Log, named: Reader | None, errors: list[DeltaMemError]
) -> tuple[str | None, list[Trial]]:
    """Return the format that an import would choose, and what all that claim the log make of it."""
    from deltamem_tui.trajectory.readers.reading import try_readers
    from deltamem_tui.trajectory.readers.registry import reader_of

    chosen = named
    if chosen is None:
        try:
            chosen = reader_of(log)
        except LogFormatError as error:
            errors.append(error)
    return chosen.name if chosen else None, list(try_readers(log, named))


def _reasons(source: str, chosen: str | None, trials: list[Trial]) -> Iterator[str]:
    """Yield why outcomes are unknown, as an import would read the log."""
    from deltamem_tui.memory.reports.imports import reason_notes

    for trial in trials:
        if trial.format == chosen:
            yield from (f"{source}: {note}" for note in reason_notes(trial.reasons, _SHOWN_REASONS))


def _rows(source: str, chosen: str | None, trials: list[Trial]) -> list[tuple[str | int, ...]]:
    return [
        (
            source,
            "→" if trial.format == chosen else "",
            trial.format,
            f"{trial.sureness:.2f}",
            trial.episodes,
            trial.steps,
            trial.successes,
            trial.failures,
            trial.unknown,
            trial.rejected,
            one_line(trial.first_task or str(trial.first_rejection or ""), 60),
        )
        for trial in trials
    ]


def _record(trial: Trial) -> dict[str, Any]:
    from deltamem_tui.memory.reports.imports import reasons_record

    refused = trial.first_rejection
    return {
        "format": trial.format,
        "sureness": trial.sureness,
        "episodes": trial.episodes,
        "steps": trial.steps,
        "successes": trial.successes,
        "failures": trial.failures,
        "unknown": trial.unknown,
        "reasons": reasons_record(trial.reasons),
        "rejected": trial.rejected,
        "first_task": trial.first_task or None,
        "first_rejection": None
        if refused is None
        else {"message": refused.message, "position": refused.position},
    }
