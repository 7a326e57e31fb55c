"""`deltamem import`: logs to episodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.output import Result
from deltamem_tui.cli.page import Cell, Page
from deltamem_tui.errors import UsageError
from deltamem_tui.text import counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.episodes.intake import Redaction
    from deltamem_tui.memory.episodes.receipts import FileTally, Intake, Receipt
    from deltamem_tui.trajectory.model import OutcomeSource
    from deltamem_tui.trajectory.readers import Reading
    from deltamem_tui.trajectory.readers.written import Written

Logs = Annotated[
    list[str], typer.Argument(metavar="LOG…", help="Files, folders, patterns, or - for stdin.")
]
Outcome = Annotated[
    str | None,
    typer.Option(
        "--outcome",
        metavar="success|failure|FILE",
        help="How episodes ended whose log does not say: one word for all, or a file: JSON, "
        "JSONL or CSV from id to success or reward, or a list of the ids that were resolved. "
        "It corrects what you said before of episodes that wait.",
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
    from deltamem_tui.memory.episodes.intake import take_in
    from deltamem_tui.trajectory.logs.pace import Pace
    from deltamem_tui.trajectory.readers.reading import read_logs, read_written
    from deltamem_tui.trajectory.user_outcomes import UserOutcomes, user_outcomes

    redaction = _redaction(personal=redact_personal, off=no_redact)
    given_domain = _checked_domain(domain)
    invocation = Invocation.of(context)
    opened = Bank.open(invocation.bank(bank) if dry_run else invocation.writable_bank(bank))
    given = user_outcomes(outcome, success_at=success_at) if outcome else UserOutcomes()
    pace = Pace()
    inherited = _domain_of(opened)
    readings: Iterator[Reading | Written]
    if given_domain or not given.are_for_all:  # lines written at once do not tell their ids
        readings = read_logs(logs, format=format, success_at=success_at, pace=pace)
    else:
        readings = read_written(
            logs, format=format, success_at=success_at, pace=pace, domain=inherited
        )
    with invocation.output.progress("reading", pace.total) as pace.advance:
        intake = take_in(
            opened,
            _in_domain(readings, given_domain, inherited),
            redaction=redaction,
            outcomes=given,
            dry_run=dry_run,
            listed=invocation.output.json,
        )

    def view(page: Page) -> None:
        page.facts(_facts(intake))
        rows = [_row(file, tally) for file, tally in intake.files.items()]
        page.table(*(telling(_COLUMNS, rows) if page.drawn else (_COLUMNS, rows)), headed=True)

    unmatched = [key for key in given.by_id if key not in intake.named]
    data = {
        "imported": intake.count("imported"),
        "updated": intake.count("updated"),
        "changed": intake.changed,
        "duplicates": intake.count("duplicate"),
        "rejected": intake.refused,
        "unmatched": unmatched,
        "redactions": dict(intake.redactions),
        "redaction": redaction,
        "dry_run": dry_run,
        "files": [_file_record(file, tally) for file, tally in intake.files.items()],
        "trajectories": [
            _record(receipt) for receipt in intake.received if receipt.reception != "duplicate"
        ],
    }
    errors = intake.refusals
    status = Result.verdict(intake.episodes, errors)
    notes = [*_notes(intake, data), *_unmatched(unmatched, outcome or "")]
    return Result("import", data, errors, status, view=view, notes=notes)


_SHOWN_IDS = 3


def _redaction(*, personal: bool, off: bool) -> Redaction:
    if personal and off:
        raise UsageError("--redact-personal and --no-redact contradict each other")
    return "personal" if personal else "off" if off else "secrets"


def _checked_domain(domain: str | None) -> str:
    """The domain that the user gives, if a bank's could be called so; empty if none is given.

    Raises:
        UsageError: No bank could have it, or it is a known one, misspelt.
    """
    from deltamem_tui.memory.parameters import domain_named
    from deltamem_tui.paths import check_domain
    from deltamem_tui.text import clean

    name = clean(domain or "").strip()
    return check_domain(domain_named(name)) if name else ""


def _domain_of(bank: Bank) -> str:
    """The domain that a bank's episodes have, if their logs do not say; a generic one is none."""
    domain = bank.manifest.domain
    return "" if domain == "generic" else domain


def _in_domain(
    readings: Iterator[Reading | Written], given: str, otherwise: str
) -> Iterator[Reading | Written]:
    """The readings with the domain that the user gives, else the log's own, else the bank's."""
    from deltamem_tui.trajectory.model import Trajectory

    for reading in readings:
        if isinstance(reading, Trajectory):
            chosen = given or reading.domain or otherwise
            yield reading if chosen == reading.domain else replace(reading, domain=chosen)
        else:
            yield reading


def _notes(intake: Intake, data: dict[str, Any]) -> list[str]:
    notes = []
    if intake.changed:
        outcomes = counted(intake.changed, "outcome was", "outcomes were")
        notes.append(f"{outcomes} changed: the later word counts")
    if intake.unsaid:
        notes.append(
            f"{counted(intake.unsaid, 'episode waits', 'episodes wait')} without an outcome: "
            "import again with "
            "`--outcome success`, `--outcome failure` or `--outcome FILE`, or let a model say: "
            "`deltamem judge`"
        )
    if data["redaction"] == "off":
        notes.append("nothing was redacted: keys and passwords in the logs are in the episodes")
    if data["dry_run"]:
        notes.append("nothing was written: this was a dry run")
    return notes


def _unmatched(ids: list[str], path: str) -> list[str]:
    """A note about the ids of the user's outcomes that name nothing, if there are any."""
    if not ids:
        return []
    file = one_line(PurePath(path).name, 120)
    first = ", ".join(one_line(each, 60) for each in ids[:_SHOWN_IDS])
    more = ", …" if len(ids) > _SHOWN_IDS else ""
    which = counted(len(ids), f"id of {file} matches", f"ids of {file} match")
    return [f"{which} no episode of these logs: {first}{more}"]


def _facts(intake: Intake) -> dict[str, int]:
    said = sorted(intake.sources.items())
    return {
        "imported": intake.count("imported"),
        "updated": intake.count("updated"),
        "duplicates": intake.count("duplicate"),
        "rejected": intake.refused,
        **{f"outcome said by {_SAYERS[source]}": count for source, count in said},
        **{f"redacted {kind}": count for kind, count in sorted(intake.redactions.items())},
    }


_COLUMNS = (
    *("format", "file", "episodes", "steps", "success", "failure", "unknown", "said by"),
    *("duplicates", "redacted", "rejected"),
)


_SAYERS: Mapping[OutcomeSource, str] = {
    "stated": "log",
    "user": "user",
    "judge": "judge",
    "unknown": "nobody",
}


def telling(
    columns: Sequence[str], rows: Sequence[Sequence[Cell]]
) -> tuple[Sequence[str], list[Sequence[Cell]]]:
    """The columns that say something: those that are neither empty nor nought in every row."""
    if not rows:
        return columns, []
    kept = [index for index in range(len(columns)) if any(row[index] for row in rows)]
    chosen = [tuple(row[index] for index in kept) for row in rows]
    return tuple(columns[index] for index in kept), [*chosen]


def _row(file: str, tally: FileTally) -> tuple[str | int, ...]:
    return (
        ", ".join(tally.formats),
        file,
        tally.episodes,
        tally.steps,
        tally.successes,
        tally.failures,
        tally.episodes - tally.successes - tally.failures,
        ", ".join(f"{_SAYERS[source]} {count}" for source, count in sorted(tally.sources.items())),
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
