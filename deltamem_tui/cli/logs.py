"""Commands that read logs: into a bank, or into another format."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.interruption import Interruption, interruptible
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Cell, Page
from deltamem_tui.cli.result import InterruptionError, Result
from deltamem_tui.errors import DeltaMemError, RecordError, UsageError
from deltamem_tui.text import counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.episodes.import_report import FileTally, Redaction
    from deltamem_tui.trajectory.logs.record import Notice
    from deltamem_tui.trajectory.model import Trajectory
    from deltamem_tui.trajectory.readers.reader import Reading


Logs = Annotated[
    list[str], typer.Argument(metavar="LOG…", help="Files, folders, patterns, or - for stdin.")
]
MaybeLogs = Annotated[
    list[str] | None,
    typer.Argument(metavar="LOG…", help="Files, folders, patterns, or - for stdin."),
]
Queued = Annotated[
    bool,
    typer.Option(
        "--queued",
        help="The sessions that agents' hooks left, each into its bank; no LOG is named.",
    ),
]
Outcome = Annotated[
    str | None,
    typer.Option(
        "--outcome",
        metavar="success|failure|FILE",
        help="The outcome where the log states none: one for all episodes, or a file: JSON, "
        "JSONL or CSV from id to success or reward, or a list of the ids that were resolved "
        "(then all others failed). "
        "It corrects an earlier --outcome of episodes that wait.",
    ),
]
Receipts = Annotated[
    str | None,
    typer.Option(
        "--receipts",
        metavar="FILE|FOLDER",
        help="What the agent was shown, as `recall --receipt` wrote it down: joined to the "
        "episodes by their names or tasks, also to those that the bank has.",
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


def import_(
    context: typer.Context,
    bank: options.MaybeBank = None,
    logs: MaybeLogs = None,
    queued: Queued = False,
    format: options.Format = None,  # noqa: A002 - the word that people type
    outcome: Outcome = None,
    receipts: Receipts = None,
    domain: options.Domain = None,
    success_at: SuccessAt = 1.0,
    redact_personal: RedactPersonal = False,
    no_redact: NoRedact = False,
    dry_run: options.DryRun = False,
) -> Result:
    """Bring the episodes of logs into a bank, each once.

    The outcome of an episode is what its log states, else what you give; it is never
    guessed. Episodes without one wait until you give it. Keys, tokens and passwords are
    removed from every text first.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.episodes.log_import import LogImport
    from deltamem_tui.memory.reports.imports import view_import
    from deltamem_tui.trajectory.receipt_file import read_receipts
    from deltamem_tui.trajectory.user_outcomes import UserOutcomes, user_outcomes

    if queued:
        if logs:
            raise UsageError("--queued takes no logs: the hooks left their places")
        return import_queued(Invocation.of(context), bank)
    if bank is None or not logs:
        missing = "BANK" if bank is None else "LOG…"
        raise UsageError(f"missing argument '{missing}'", hint="see `deltamem import --help`")
    redaction = redaction_of(personal=redact_personal, off=no_redact)
    given_domain = _checked_domain(domain)
    invocation = Invocation.of(context)
    opened = Bank.open(invocation.bank(bank) if dry_run else invocation.writable_bank(bank))
    opened.require_writable()  # a dry run fails where the import would
    outcomes_name = one_line(PurePath(outcome or "").name, 120)
    job = LogImport(
        opened,
        logs,
        format=format,
        redaction=redaction,
        outcomes=user_outcomes(outcome, success_at=success_at) if outcome else UserOutcomes(),
        outcomes_name=outcomes_name,
        receipts=read_receipts(receipts) if receipts else None,
        success_at=success_at,
        domain=given_domain,
        dry_run=dry_run,
        listed=invocation.output.json,
    )
    before = len(opened.episodes)
    with interruptible() as stop, invocation.output.progress("reading", job.total_bytes) as advance:
        try:
            job.run(advance=advance, stopped=stop)
        except KeyboardInterrupt as error:  # the second one, which waits for nothing
            raise _interrupted(len(opened.episodes) - before) from error
    found = job.report
    errors: list[DeltaMemError] = [*found.refusals]
    if stop:
        errors.append(_interrupted(0 if dry_run else found.count("imported")))
    report = view_import(found, outcomes_name)

    def view(page: Page) -> None:
        page.facts(report.facts)
        columns, rows = _COLUMNS, [_row(file, tally) for file, tally in found.files.items()]
        page.table(*(without_empty(columns, rows) if page.drawn else (columns, rows)), headed=True)
        for section in report.sections:
            page.text(section.title, style="bold")
            for line in section.lines:
                page.text(f"  {line}")

    status = Result.verdict(found.episodes, errors)
    return Result("import", report.record, errors, status, view=view, notes=report.notes)


def redaction_of(*, personal: bool, off: bool) -> Redaction:
    """Return what is taken out of texts, as two options say it that contradict each other."""
    if personal and off:
        raise UsageError("--redact-personal and --no-redact contradict each other")
    return "personal" if personal else "off" if off else "secrets"


def _interrupted(kept: int) -> InterruptionError:
    stay = counted(kept, "new episode is kept", "new episodes are kept")
    return InterruptionError("interrupted", hint=f"{stay}; import again, and the others follow")


def _checked_domain(domain: str | None) -> str:
    """Return the domain that the user gives, if a bank can have it; empty if none is given."""
    from deltamem_tui.memory.domain import domain_named
    from deltamem_tui.paths import check_domain
    from deltamem_tui.text import clean

    name = clean(domain or "").strip()
    return check_domain(domain_named(name)) if name else ""


_COLUMNS = (
    *("format", "file", "episodes", "steps", "success", "failure", "unknown", "outcomes"),
    *("duplicates", "redacted", "rejected"),
)


def _row(file: str, tally: FileTally) -> tuple[str | int, ...]:
    from deltamem_tui.memory.reports.imports import sources_text

    return (
        ", ".join(tally.formats),
        file,
        tally.episodes,
        tally.steps,
        tally.successes,
        tally.failures,
        tally.episodes - tally.successes - tally.failures,
        sources_text(tally),
        tally.receptions["duplicate"],
        tally.redactions.total(),
        tally.rejected,
    )


def without_empty(
    columns: Sequence[str], rows: Sequence[Sequence[Cell]]
) -> tuple[Sequence[str], list[Sequence[Cell]]]:
    """Return the columns that are neither empty nor zero in every row; all of them without rows."""
    if not rows:
        return columns, []
    kept = [index for index in range(len(columns)) if any(row[index] for row in rows)]
    chosen = [tuple(row[index] for index in kept) for row in rows]
    return tuple(columns[index] for index in kept), [*chosen]


def import_queued(invocation: Invocation, only: str | None) -> Result:
    """Take in the sessions that wait, those of one bank if it is named."""
    from deltamem_tui import paths
    from deltamem_tui.agents.sessions import QueuedImport, StateFolder, take_queued
    from deltamem_tui.bank.bank import Bank

    def record(found: QueuedImport) -> dict[str, Any]:
        session, report = found.session, found.report
        counts = ("imported", "grown", "updated", "duplicate")
        return {
            "agent": session.agent,
            "session": session.session,
            "bank": session.bank,
            **{name: report.count(name) if report else 0 for name in counts},  # type: ignore[arg-type]
            "receipts": report.receipts_added if report else 0,
            "waits": found.waits,
        }

    state = StateFolder(paths.state_folder())
    path = invocation.writable_bank(only) if only else None
    found = [
        *take_queued(state, lambda bank: Bank.open(invocation.writable_bank(bank)), path),
    ]
    errors: list[DeltaMemError] = [
        error
        for each in found
        for error in ([each.error] if each.error else (each.report.refusals if each.report else ()))
    ]
    records = [record(each) for each in found]
    data = {"sessions": records, "waiting": state.waiting()}

    def view(page: Page) -> None:
        columns = ("agent", "session", "bank", "imported", "grown", "duplicate", "receipts")
        rows = [tuple(one_line(str(each[name]), 60) for name in columns) for each in records]
        page.table(columns, rows, headed=True)

    taken = sum(each.report is not None for each in found)
    note = counted(taken, "session was taken in", "sessions were taken in")
    return Result("import", data, errors, Result.verdict(taken, errors), view=view, notes=[note])


Out = Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="Where to write.")]
Replace = Annotated[bool, typer.Option("--replace", help="Write over a file that is there.")]


def convert(
    context: typer.Context,
    logs: Logs,
    *,
    out: Out,
    format: options.Format = None,  # noqa: A002 - the word that people type
    outcome: Outcome = None,
    success_at: SuccessAt = 1.0,
    redact_personal: RedactPersonal = False,
    no_redact: NoRedact = False,
    replace: Replace = False,
) -> Result:
    """Write the episodes of logs in one format, ATIF, which other programs read too.

    Each line of the file is a document of version 1.7. No bank is needed. The outcome is what
    the log states, else what you give. Keys, tokens and passwords are removed from every text
    first.
    """
    redaction = redaction_of(personal=redact_personal, off=no_redact)
    from deltamem_tui.memory.episodes.log_import import logs_named
    from deltamem_tui.memory.transfer.atif import write_atif
    from deltamem_tui.trajectory.model import Trajectory
    from deltamem_tui.trajectory.readers import read_logs
    from deltamem_tui.trajectory.redaction import redact
    from deltamem_tui.trajectory.user_outcomes import UserOutcomes, user_outcomes

    outcomes = user_outcomes(outcome, success_at=success_at) if outcome else UserOutcomes()
    outcomes_name = one_line(PurePath(outcome or "").name, 120)
    refused: list[RecordError] = []
    notices: list[Notice] = []
    named: set[str] = set()

    def episodes(found: Iterator[Reading]) -> Iterator[Trajectory]:
        for reading in found:
            if isinstance(reading, RecordError):
                refused.append(reading)
            elif isinstance(reading, Trajectory):
                kept = reading if no_redact else redact(reading, personal=redact_personal)[0]
                named.update(outcomes.names(kept))
                yield outcomes.apply(kept)
            else:
                notices.append(reading)

    path = out.expanduser()
    with Invocation.of(context).output.progress("converting"):
        named_logs = logs_named(logs, outcomes, outcomes_name, redaction, format)
        found = episodes(read_logs(named_logs, format=format, success_at=success_at))
        first = next(found, None)  # where there is none, no file is written either
        count = write_atif(path, chain([first], found), replace=replace) if first else 0
    data = {"file": path, "episodes": count, "rejected": len(refused), "left_out": len(notices)}

    def view(page: Page) -> None:
        page.facts({name: str(fact) for name, fact in data.items()})

    notes = [f"{counted(count, 'document')} of ATIF-v1.7, one a line", *map(str, notices)]
    if unmatched := len(outcomes.by_id.keys() - named):
        ids = f"id of {outcomes_name} matches", f"ids of {outcomes_name} match"
        notes.append(f"{counted(unmatched, *ids)} no episode of these logs")
    return Result("convert", data, refused, Result.verdict(count, refused), view=view, notes=notes)


def episodes_of_bank(bank: Bank) -> list[Trajectory]:
    """Return all that a bank keeps, in order of import."""
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
    """Return the episodes of logs as an import keeps them, how many are none, and why.

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
