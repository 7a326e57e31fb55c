"""Commands that read logs: into a bank, or into another format."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Interruption, Invocation, interruptible
from deltamem_tui.cli.options import argument, flag, option
from deltamem_tui.cli.result import InterruptionError, Result, facts, table
from deltamem_tui.errors import DeltaMemError, UsageError
from deltamem_tui.text import clean, counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.agents.queued import QueuedImport
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.episodes.import_report import ImportReport, Reception
    from deltamem_tui.trajectory.logs.sources import FoundLog


Logs = Annotated[list[str], argument("LOG...", "Files, folders, patterns, or -.")]
Outcome = Annotated[
    str | None,
    option(
        "--outcome",
        "success|failure|FILE",
        "For logs that state none: one for all, or a file (JSON, JSONL, CSV, resolved ids).",
    ),
]


def import_(
    invocation: Invocation,
    bank: options.MaybeBank = None,
    logs: Annotated[
        list[str] | None, argument("LOG...", "Files, folders, patterns, or - for stdin.")
    ] = None,
    queued: Annotated[bool, flag("--queued", "Import the sessions that hooks queued.")] = False,
    format: options.Format = None,  # noqa: A002 - the word that people type
    outcome: Outcome = None,
    receipts: Annotated[
        str | None,
        option("--receipts", "FILE|FOLDER", "What the agent had recalled (`recall --receipt`)."),
    ] = None,
    domain: options.Domain = None,
    success_at: Annotated[float, option("--success-at", "REWARD", "Counts as success.")] = 1.0,
    redact_personal: Annotated[
        bool, flag("--redact-personal", "Redact e-mail addresses too.")
    ] = False,
    no_redact: Annotated[bool, flag("--no-redact", "Keep keys, tokens and passwords.")] = False,
    dry_run: options.DryRun = False,
) -> Result:
    """Import the episodes of logs into a bank, each once.

    The outcome of an episode is what its log states, else what you give; it is never
    guessed. Episodes without one wait until you give it. Keys, tokens and passwords are
    removed from every text first.
    """
    from deltamem_tui.memory.domain import domain_named
    from deltamem_tui.memory.episodes.import_report import view_import
    from deltamem_tui.memory.episodes.importer import import_of
    from deltamem_tui.paths import check_name
    from deltamem_tui.trajectory.receipt_file import read_receipts

    if queued:
        if logs:
            raise UsageError("--queued cannot be combined with LOG")
        return _import_queued(invocation, bank)
    if bank is None or not logs:
        missing = "BANK" if bank is None else "LOG…"
        raise UsageError(f"missing argument '{missing}'", hint="see `deltamem import --help`")
    if redact_personal and no_redact:
        raise UsageError("--redact-personal and --no-redact contradict each other")
    named = clean(domain or "").strip()
    given_domain = check_name(domain_named(named), "a domain") if named else ""
    opened = invocation.open(bank, write=not dry_run)
    opened.require_writable()  # a dry run fails where the import would
    outcomes = user_outcomes_of(outcome, success_at)
    job = import_of(
        opened,
        logs,
        format=format,
        redaction="personal" if redact_personal else "off" if no_redact else "secrets",
        **outcomes,
        receipts=read_receipts(receipts) if receipts else None,
        success_at=success_at,
        domain=given_domain,
        dry_run=dry_run,
        listed=invocation.output.json,
    )
    before = len(opened.episodes)
    with (
        interruptible() as stop,
        invocation.output.progress("reading", job.progress.total) as advance,
    ):
        try:
            job.run(advance=advance, stopped=stop)
        except KeyboardInterrupt as error:  # the second one, which waits for nothing
            raise _interrupted(len(opened.episodes) - before) from error
    found = job.report
    errors: list[DeltaMemError] = [*found.refusals]
    if stop():
        errors.append(_interrupted(0 if dry_run else found.count("imported")))
    report = view_import(found, outcomes["outcomes_name"])

    status = Result.verdict(found.episodes, errors)
    is_told = found.without_outcome and not dry_run  # what a dry run read is not there
    notes = [*report.notes, *(waiting_notes(opened, bank) if is_told else ())]
    return Result("import", report.record, errors, status, view=facts(report.facts), notes=notes)


def waiting_notes(opened: Bank, bank: str) -> Iterator[str]:
    """Yield the first episodes that wait for an outcome, and how to say it."""
    from deltamem_tui.memory.episodes.stored_episodes import waiting

    unknown = [each for each in waiting(opened) if not each.outcome.known]
    for each in unknown[:_SHOWN]:
        yield f"  {each.id[:8]}  {one_line(each.task, 80)}"
    if len(unknown) > _SHOWN:
        yield f"  … `deltamem episode list {bank} --waiting` lists all {len(unknown):,}"
    if unknown:
        yield f"`deltamem episode outcome {bank} ID… success|failure` says how they ended"


def user_outcomes_of(given: str | None, success_at: float) -> dict[str, Any]:
    """Return what an import is told of the outcomes that the user gives."""
    from deltamem_tui.trajectory.user_outcomes import UserOutcomes, user_outcomes

    outcomes = user_outcomes(given, success_at=success_at) if given else UserOutcomes()
    return {"outcomes": outcomes, "outcomes_name": one_line(PurePath(given or "").name, 120)}


def _interrupted(kept: int) -> InterruptionError:
    stay = counted(kept, "new episode is kept", "new episodes are kept")
    return InterruptionError("interrupted", hint=f"{stay}; import again, and the others follow")


_SHOWN = 5  # episodes that wait


def _import_queued(invocation: Invocation, only: str | None) -> Result:
    """Take in the sessions that wait, those of one bank if it is named."""
    from deltamem_tui import paths
    from deltamem_tui.agents.queued import take_queued
    from deltamem_tui.agents.sessions import StateFolder

    state = StateFolder(paths.state_folder())
    path = invocation.open(only, write=True).path if only else None
    found = [*take_queued(state, lambda bank: invocation.open(bank, write=True), path)]
    records = [_session_record(each) for each in found]
    errors = [each.error for each in found if each.error]
    errors += [error for each in found if each.report for error in each.report.refusals]
    taken = sum(each.report is not None for each in found)
    notes = [counted(taken, "session was taken in", "sessions were taken in")]
    if any(each.signs for each in found):
        notes.append("weak signs are no word of yours: `deltamem episode review BANK` lists them")
    data = {"sessions": records, "waiting": state.waiting()}
    status = Result.verdict(taken, errors)
    columns = ("agent", "session", "bank", "imported", "grown", "duplicate", "receipts", "signs")
    return Result("import", data, errors, status, view=table(columns, records), notes=notes)


def _session_record(taken: QueuedImport) -> dict[str, Any]:
    report, session = taken.report, taken.session
    kinds: tuple[Reception, ...] = ("imported", "grown", "updated", "duplicate")
    return {
        **{name: getattr(session, name) for name in ("agent", "session", "bank")},
        **{kind: report.count(kind) if report else 0 for kind in kinds},
        "receipts": report.receipts_added if report else 0,
        "signs": ", ".join(taken.signs),
        "waits": taken.waits,
    }


@contextmanager
def logs_as_bank(
    invocation: Invocation, logs: Sequence[str | FoundLog], stop: Interruption, **choices: Any
) -> Iterator[tuple[Bank, ImportReport]]:
    """Import logs into a bank that is gone after the block; `choices` are those of `import_of`."""
    from deltamem_tui.memory.banks import create_bank
    from deltamem_tui.memory.episodes.importer import import_of

    domain = choices.get("domain") or "generic"
    with tempfile.TemporaryDirectory(prefix="deltamem-log-") as folder:
        bank = create_bank(Path(folder) / "log", embedder="hashing", domain=domain)
        job = import_of(bank, logs, listed=False, **choices)
        with invocation.output.progress("reading", job.progress.total) as advance:
            job.run(advance=advance, stopped=stop)
        if stop():
            raise InterruptionError("interrupted", hint="nothing was done yet")
        yield bank, job.report
