"""Commands that read logs: into a bank, or into another format."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Interruption, Invocation, interruptible
from deltamem_tui.cli.options import argument, flag, option
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import InterruptionError, Result
from deltamem_tui.errors import DeltaMemError, UsageError
from deltamem_tui.text import clean, counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.episodes.import_report import FileTally, ImportReport, Redaction


Logs = Annotated[list[str], argument("LOG...", "Files, folders, patterns, or - for stdin.")]
MaybeLogs = Annotated[
    list[str] | None, argument("LOG...", "Files, folders, patterns, or - for stdin.")
]
Queued = Annotated[
    bool, flag("--queued", "Import the sessions that agents' hooks queued, each into its bank.")
]
Outcome = Annotated[
    str | None,
    option(
        "--outcome",
        "success|failure|FILE",
        "The outcome where the log states none: one for all episodes, or a file: JSON, JSONL "
        "or CSV from id to success or reward, or a list of the ids that were resolved (then "
        "all others failed). It corrects an earlier --outcome of episodes that wait.",
    ),
]
Receipts = Annotated[
    str | None,
    option(
        "--receipts",
        "FILE|FOLDER",
        "What the agent recalled, as `recall --receipt` noted it: joined to the episodes by "
        "their names or tasks, also to those that the bank has.",
    ),
]
SuccessAt = Annotated[float, option("--success-at", "REWARD", "The least reward of a success.")]
RedactPersonal = Annotated[
    bool, flag("--redact-personal", "Redact e-mail addresses too, not only secrets.")
]
NoRedact = Annotated[bool, flag("--no-redact", "Keep keys, tokens and passwords.")]


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
    from deltamem_tui.memory.episodes.log_import import LogImport
    from deltamem_tui.memory.reports.imports import view_import
    from deltamem_tui.trajectory.receipt_file import read_receipts

    if queued:
        if logs:
            raise UsageError("--queued cannot be combined with LOG")
        return _import_queued(Invocation.of(context), bank)
    if bank is None or not logs:
        missing = "BANK" if bank is None else "LOG…"
        raise UsageError(f"missing argument '{missing}'", hint="see `deltamem import --help`")
    redaction = _redaction(personal=redact_personal, off=no_redact)
    given_domain = _checked_domain(domain)
    invocation = Invocation.of(context)
    opened = invocation.open(bank, write=not dry_run)
    opened.require_writable()  # a dry run fails where the import would
    outcomes = user_outcomes_of(outcome, success_at)
    job = LogImport(
        opened,
        logs,
        format=format,
        redaction=redaction,
        **outcomes,
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
    report = view_import(found, outcomes["outcomes_name"])

    def view(page: Page) -> None:
        page.facts(report.facts)
        page.table(_COLUMNS, [_row(file, tally) for file, tally in found.files.items()])
        for section in report.sections:
            page.text(section.title, style="bold")
            for line in section.lines:
                page.text(f"  {line}")

    status = Result.verdict(found.episodes, errors)
    return Result("import", report.record, errors, status, view=view, notes=report.notes)


def _redaction(*, personal: bool, off: bool) -> Redaction:
    """Return what is taken out of texts, as two options say it that contradict each other."""
    if personal and off:
        raise UsageError("--redact-personal and --no-redact contradict each other")
    return "personal" if personal else "off" if off else "secrets"


def user_outcomes_of(given: str | None, success_at: float) -> dict[str, Any]:
    """Return what an import is told of the outcomes that the user gives."""
    from deltamem_tui.trajectory.user_outcomes import UserOutcomes, user_outcomes

    outcomes = user_outcomes(given, success_at=success_at) if given else UserOutcomes()
    return {"outcomes": outcomes, "outcomes_name": one_line(PurePath(given or "").name, 120)}


def _interrupted(kept: int) -> InterruptionError:
    stay = counted(kept, "new episode is kept", "new episodes are kept")
    return InterruptionError("interrupted", hint=f"{stay}; import again, and the others follow")


def _checked_domain(domain: str | None) -> str:
    """Return the domain that the user gives, if a bank can have it; empty if none is given."""
    from deltamem_tui.memory.domain import domain_named
    from deltamem_tui.paths import check_domain

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


def _import_queued(invocation: Invocation, only: str | None) -> Result:
    """Take in the sessions that wait, those of one bank if it is named."""
    from deltamem_tui import paths
    from deltamem_tui.agents.sessions import StateFolder, take_queued

    state = StateFolder(paths.state_folder())
    path = invocation.writable_bank(only) if only else None
    found = [*take_queued(state, lambda bank: invocation.open(bank, write=True), path)]
    records = [
        {
            "agent": each.session.agent,
            "session": each.session.session,
            "bank": each.session.bank,
            "imported": each.report.count("imported") if each.report else 0,
            "grown": each.report.count("grown") if each.report else 0,
            "updated": each.report.count("updated") if each.report else 0,
            "duplicate": each.report.count("duplicate") if each.report else 0,
            "receipts": each.report.receipts_added if each.report else 0,
            "waits": each.waits,
        }
        for each in found
    ]
    errors = [each.error for each in found if each.error]
    errors += [error for each in found if each.report for error in each.report.refusals]

    def view(page: Page) -> None:
        columns = ("agent", "session", "bank", "imported", "grown", "duplicate", "receipts")
        rows = [tuple(one_line(str(each[name]), 60) for name in columns) for each in records]
        page.table(columns, rows)

    taken = sum(each.report is not None for each in found)
    note = counted(taken, "session was taken in", "sessions were taken in")
    data = {"sessions": records, "waiting": state.waiting()}
    return Result("import", data, errors, Result.verdict(taken, errors), view=view, notes=[note])


Out = Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="Where to write.")]
Replace = Annotated[bool, flag("--replace", "Write over a file that is there.")]


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
    from deltamem_tui.memory.episodes.stored_episodes import episodes
    from deltamem_tui.memory.transfer.atif import write_atif

    path, count = out.expanduser(), 0
    with (
        interruptible() as stop,
        logs_as_bank(
            Invocation.of(context),
            logs,
            stop,
            format=format,
            redaction=_redaction(personal=redact_personal, off=no_redact),
            success_at=success_at,
            **user_outcomes_of(outcome, success_at),
        ) as (bank, found),
    ):
        if len(bank.episodes):  # where there are none, no file is written either
            count = write_atif(path, episodes(bank), replace=replace)
    data = {"file": path, "episodes": count, "rejected": found.refused}
    data["left_out"] = found.notice_count

    def view(page: Page) -> None:
        page.facts({name: str(fact) for name, fact in data.items()})

    notes = [f"{counted(count, 'document')} of ATIF-v1.7, one a line", *map(str, found.notices)]
    errors = [*found.refusals]
    return Result("convert", data, errors, Result.verdict(count, errors), view=view, notes=notes)


@contextmanager
def logs_as_bank(
    invocation: Invocation, logs: Sequence[str], stop: Interruption, **choices: Any
) -> Iterator[tuple[Bank, ImportReport]]:
    """Import logs into a bank that is gone after the block; `choices` are those of `LogImport`."""
    from deltamem_tui.memory.banks import create_bank
    from deltamem_tui.memory.episodes.log_import import LogImport

    domain = choices.get("domain") or "generic"
    with tempfile.TemporaryDirectory(prefix="deltamem-log-") as folder:
        bank = create_bank(Path(folder) / "log", embedder="hashing", domain=domain)
        job = LogImport(bank, logs, listed=False, **choices)
        with invocation.output.progress("reading", job.total_bytes) as advance:
            job.run(advance=advance, stopped=stop)
        if stop:
            raise InterruptionError("interrupted", hint="nothing was done yet")
        yield bank, job.report
