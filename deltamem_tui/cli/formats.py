"""`deltamem formats`: the log formats that can be read, and what each would make of a log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import DeltaMemError, LogFormatError, TrajectoryError, UsageError
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

Action = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[try LOG…]", help="Show what each format would make of files, folders, patterns."
    ),
]


def run(context: typer.Context, action: Action = None, format: options.Format = None) -> Result:  # noqa: A002
    """List the formats of logs, or what each would make of one.

    `deltamem formats try LOG…` shows the latter. Only formats that claim the log are tried,
    and the one that you name with --format, which may be a file that you are just writing.
    Nothing is imported.
    """
    if not action:
        return _listed(format)
    if action[0] != "try":
        raise UsageError(
            f"cannot make sense of `formats {one_line(action[0], 100)}`",
            hint="`deltamem formats`, or `deltamem formats try LOG`",
        )
    if not action[1:]:
        raise UsageError("no log to try", hint="`deltamem formats try LOG`")
    return _tried(Invocation.of(context), action[1:], format)


def _listed(name: str | None) -> Result:
    from deltamem_tui.trajectory.readers import reader_named, readers

    found = readers() if name is None else (reader_named(name),)

    def view(page: Page) -> None:
        rows = [(reader.name, reader.description) for reader in found]
        page.table(("format", "description"), rows)

    data = [{"name": reader.name, "description": reader.description} for reader in found]
    return Result("formats", {"formats": data}, view=view)


def _tried(invocation: Invocation, paths: list[str], name: str | None) -> Result:
    from deltamem_tui.trajectory.logs.sources import find_logs
    from deltamem_tui.trajectory.readers import reader_named

    named = reader_named(name) if name else None
    logs = [found.log for found in find_logs(paths)]
    tried: list[tuple[str, str | None, list[Trial]]] = []
    errors: list[DeltaMemError] = []
    with invocation.output.progress("trying", len(logs)) as advance:
        for log in logs:
            try:
                tried.append((log.name, *_attempt(log, named, errors)))
            except TrajectoryError as error:  # it cannot even be opened
                errors.append(error)
            advance()

    def view(page: Page) -> None:
        page.table(_COLUMNS, [row for each in tried for row in _rows(*each)], headed=True)

    data = [
        {
            "source": source,
            "format": chosen,
            "trials": [_record(trial) for trial in trials],
        }
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
