"""`deltamem import`: logs to episodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.output import Result
from deltamem_tui.cli.page import Page
from deltamem_tui.errors import UsageError

if TYPE_CHECKING:
    from deltamem_tui.memory.intake import Redaction
    from deltamem_tui.memory.receipts import FileTally, Intake, Receipt
    from deltamem_tui.trajectory.readers import Reading

Logs = Annotated[
    list[str], typer.Argument(metavar="LOG…", help="Files, folders, patterns, or - for stdin.")
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
RedactPersonal = Annotated[
    bool, typer.Option("--redact-personal", help="Take out e-mail addresses too, not only secrets.")
]
NoRedact = Annotated[
    bool, typer.Option("--no-redact", help="Keep keys, tokens and passwords as they stand.")
]


def run(
    context: typer.Context,
    bank: options.Bank,
    logs: Logs,
    format: options.Format = None,  # noqa: A002 - the word that people type
    outcome: Outcome = None,
    domain: options.Domain = None,
    success_at: SuccessAt = 1.0,
    redact_personal: RedactPersonal = False,
    no_redact: NoRedact = False,
    dry_run: options.DryRun = False,
) -> Result:
    """Bring the episodes of logs into a bank, each once.

    The outcome of an episode is what its log states, else what you give; it is never
    guessed. Episodes without one wait until you say. Keys, tokens and passwords are taken
    out of every text before it is kept.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.intake import take_in
    from deltamem_tui.trajectory.readers import read_logs
    from deltamem_tui.trajectory.user_outcomes import UserOutcomes, user_outcomes

    redaction = _redaction(personal=redact_personal, off=no_redact)
    invocation = Invocation.of(context)
    opened = Bank.open(invocation.bank(bank) if dry_run else invocation.writable_bank(bank))
    given = user_outcomes(outcome, success_at=success_at) if outcome else UserOutcomes()
    readings = read_logs(logs, format=format, success_at=success_at)
    with invocation.output.progress("reading") as advance:
        intake = take_in(
            opened,
            _in_domain(readings, domain),
            redaction=redaction,
            outcomes=given,
            dry_run=dry_run,
            listed=invocation.output.json,
            advance=advance,
        )

    def view(page: Page) -> None:
        page.facts(_facts(intake))
        page.table(_COLUMNS, [_row(file, tally) for file, tally in intake.files.items()])

    data = {
        "imported": intake.count("imported"),
        "updated": intake.count("updated"),
        "duplicates": intake.count("duplicate"),
        "rejected": len(intake.rejected),
        "redactions": dict(intake.redactions),
        "redaction": redaction,
        "dry_run": dry_run,
        "files": [_file_record(file, tally) for file, tally in intake.files.items()],
        "trajectories": [
            _record(receipt) for receipt in intake.received if receipt.reception != "duplicate"
        ],
    }
    errors = tuple(intake.rejected)
    status = Result.verdict(intake.episodes, errors)
    return Result("import", data, errors, status, view=view, notes=_notes(intake, data))


def _redaction(*, personal: bool, off: bool) -> Redaction:
    if personal and off:
        raise UsageError("--redact-personal and --no-redact contradict each other")
    return "personal" if personal else "off" if off else "secrets"


def _in_domain(readings: Iterator[Reading], domain: str | None) -> Iterator[Reading]:
    """The readings with the domain that the user gives, if any."""
    from deltamem_tui.text import clean
    from deltamem_tui.trajectory.model import Trajectory

    for reading in readings:
        if domain and isinstance(reading, Trajectory):
            yield replace(reading, domain=clean(domain))
        else:
            yield reading


def _notes(intake: Intake, data: dict[str, Any]) -> list[str]:
    notes = []
    if intake.unsaid:
        notes.append(
            f"{intake.unsaid} episodes wait without an outcome: import them again with "
            "`--outcome success`, `--outcome failure` or `--outcome FILE`"
        )
    if data["redaction"] == "off":
        notes.append("nothing was redacted: keys and passwords in the logs are in the episodes")
    if data["dry_run"]:
        notes.append("nothing was written: this was a dry run")
    return notes


def _facts(intake: Intake) -> dict[str, int]:
    return {
        "imported": intake.count("imported"),
        "updated": intake.count("updated"),
        "duplicates": intake.count("duplicate"),
        "rejected": len(intake.rejected),
        **{f"outcome {source}": count for source, count in sorted(intake.sources.items())},
        **{f"redacted {kind}": count for kind, count in sorted(intake.redactions.items())},
    }


_COLUMNS = (
    *("format", "file", "episodes", "steps", "success", "failure", "unknown", "said by"),
    *("duplicates", "redacted", "rejected"),
)


def _row(file: str, tally: FileTally) -> tuple[str | int, ...]:
    return (
        ", ".join(tally.formats),
        file,
        tally.episodes,
        tally.steps,
        tally.successes,
        tally.failures,
        tally.episodes - tally.successes - tally.failures,
        ", ".join(f"{source} {count}" for source, count in sorted(tally.sources.items())),
        tally.receptions["duplicate"],
        tally.redactions.total(),
        tally.rejected,
    )


def _file_record(file: str, tally: FileTally) -> dict[str, Any]:
    return {
        "source": file,
        "formats": tally.formats,
        "episodes": tally.episodes,
        "steps": tally.steps,
        "successes": tally.successes,
        "failures": tally.failures,
        "outcomes": dict(tally.sources),
        "duplicates": tally.receptions["duplicate"],
        "redactions": dict(tally.redactions),
        "rejected": tally.rejected,
    }


def _record(receipt: Receipt) -> dict[str, Any]:
    return {
        "id": receipt.id,
        "task": receipt.task,
        "steps": receipt.steps,
        "success": receipt.outcome.success,
        "reward": receipt.outcome.reward,
        "outcome_source": receipt.outcome.source,
        "format": receipt.source.format,
        "source": receipt.source.file,
        "position": receipt.source.position,
    }
