"""`deltamem import`: logs to episodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.output import Result
from deltamem_tui.cli.page import Page

if TYPE_CHECKING:
    from deltamem_tui.memory.intake import Intake
    from deltamem_tui.trajectory.readers import Reading
    from deltamem_tui.trajectory.user_outcomes import UserOutcomes

Logs = Annotated[
    list[str], typer.Argument(metavar="LOG…", help="Files, folders, patterns, or - for stdin.")
]
Format = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="How to read the logs; by content if not given."),
]
Outcome = Annotated[
    str | None,
    typer.Option(
        "--outcome",
        metavar="success|failure|FILE",
        help="How episodes ended whose log does not say: one word for all, or a file from id "
        "to success or reward.",
    ),
]
SuccessAt = Annotated[
    float,
    typer.Option("--success-at", metavar="REWARD", help="The reward from which on it is success."),
]


def run(
    context: typer.Context,
    bank: options.Bank,
    logs: Logs,
    format: Format = None,  # noqa: A002 - the word that people type
    outcome: Outcome = None,
    domain: options.Domain = None,
    success_at: SuccessAt = 1.0,
    dry_run: options.DryRun = False,
) -> Result:
    """Bring the episodes of logs into a bank, each once.

    The outcome of an episode is what its log states, else what you give; it is never
    guessed. Episodes without one wait until you say.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.intake import take_in
    from deltamem_tui.trajectory.readers import read_logs
    from deltamem_tui.trajectory.user_outcomes import UserOutcomes, user_outcomes

    invocation = Invocation.of(context)
    opened = Bank.open(invocation.bank(bank))
    given = user_outcomes(outcome, success_at=success_at) if outcome else UserOutcomes()
    readings = read_logs(logs, format=format, success_at=success_at)
    with invocation.output.progress("reading") as advance:
        intake = take_in(
            opened, _finished(readings, given, domain), dry_run=dry_run, advance=advance
        )

    def view(page: Page) -> None:
        page.facts(_facts(intake))
        page.table(
            ("format", "file", "episodes", "steps", "success", "failure", "unknown"),
            _per_file(intake),
        )

    data = {
        "imported": intake.count("imported"),
        "updated": intake.count("updated"),
        "duplicates": intake.count("duplicate"),
        "rejected": len(intake.rejected),
        "dry_run": dry_run,
        "trajectories": [
            _record(trajectory) for trajectory, what in intake.received if what != "duplicate"
        ],
    }
    unknown = sum(
        not trajectory.outcome.known for trajectory, what in intake.received if what != "duplicate"
    )
    notes = []
    if unknown:
        notes.append(
            f"{unknown} episodes wait without an outcome: import them again with "
            "`--outcome success`, `--outcome failure` or `--outcome FILE`"
        )
    if dry_run:
        notes.append("nothing was written: this was a dry run")
    errors = tuple(intake.rejected)
    status = Result.verdict(len(intake.received), errors)
    return Result("import", data, errors, status, view=view, notes=notes)


def _finished(
    readings: Iterator[Reading], given: UserOutcomes, domain: str | None
) -> Iterator[Reading]:
    """The readings with what the user says of their outcome and domain."""
    from deltamem_tui.text import clean
    from deltamem_tui.trajectory.model import Trajectory

    for reading in readings:
        if not isinstance(reading, Trajectory):
            yield reading
            continue
        trajectory = given.apply(reading)
        yield replace(trajectory, domain=clean(domain)) if domain else trajectory


def _facts(intake: Intake) -> dict[str, int]:
    sources = Counter(trajectory.outcome.source for trajectory, _ in intake.received)
    return {
        "imported": intake.count("imported"),
        "updated": intake.count("updated"),
        "duplicates": intake.count("duplicate"),
        "rejected": len(intake.rejected),
        **{f"outcome {source}": count for source, count in sorted(sources.items())},
    }


def _per_file(intake: Intake) -> list[tuple[str | int, ...]]:
    """Per format and file: episodes, steps and outcomes."""
    rows: dict[tuple[str, str], Counter[str]] = {}
    for trajectory, _ in intake.received:
        source, success = trajectory.outcome, trajectory.outcome.success
        row = rows.setdefault((trajectory.source.format, trajectory.source.file), Counter())
        row["episodes"] += 1
        row["steps"] += len(trajectory.steps)
        row["unknown" if not source.known else "success" if success else "failure"] += 1
    columns = ("episodes", "steps", "success", "failure", "unknown")
    return [(*place, *(row[column] for column in columns)) for place, row in rows.items()]


def _record(trajectory: Any) -> dict[str, Any]:
    return {
        "id": trajectory.id,
        "task": trajectory.task,
        "steps": len(trajectory.steps),
        "success": trajectory.outcome.success,
        "reward": trajectory.outcome.reward,
        "outcome_source": trajectory.outcome.source,
        "format": trajectory.source.format,
        "source": trajectory.source.file,
        "position": trajectory.source.position,
    }
