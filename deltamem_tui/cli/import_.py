"""`deltamem import`: logs to episodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import takewhile
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.imported import (
    domains_record,
    file_record,
    left_out_record,
    notes_on,
    reasons_record,
    receipt_record,
    show,
)
from deltamem_tui.cli.interruption import interruptible
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.result import InterruptionError, Result
from deltamem_tui.errors import DeltaMemError, TrajectoryError, UsageError
from deltamem_tui.text import counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.memory.episodes.importer import Redaction
    from deltamem_tui.trajectory.logs.sources import FoundLog
    from deltamem_tui.trajectory.readers import Reading
    from deltamem_tui.trajectory.readers.written import Written
    from deltamem_tui.trajectory.user_outcomes import UserOutcomes

Logs = Annotated[
    list[str], typer.Argument(metavar="LOG…", help="Files, folders, patterns, or - for stdin.")
]
Outcome = Annotated[
    str | None,
    typer.Option(
        "--outcome",
        metavar="success|failure|FILE",
        help="How episodes ended whose log does not say: one word for all, or a file: JSON, "
        "JSONL or CSV from id to success or reward, or a list of the ids that were resolved "
        "(then all others failed). "
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
    from deltamem_tui.memory.episodes.domains import domain_of
    from deltamem_tui.memory.episodes.importer import take_in
    from deltamem_tui.trajectory.domains import chosen
    from deltamem_tui.trajectory.logs.progress import Pace
    from deltamem_tui.trajectory.logs.sources import find_logs
    from deltamem_tui.trajectory.readers.reading import read_logs, read_written
    from deltamem_tui.trajectory.user_outcomes import UserOutcomes, user_outcomes

    redaction = _redaction(personal=redact_personal, off=no_redact)
    given_domain = _checked_domain(domain)
    invocation = Invocation.of(context)
    opened = Bank.open(invocation.bank(bank) if dry_run else invocation.writable_bank(bank))
    opened.require_writable()  # a rehearsal fails where the import would
    given = user_outcomes(outcome, success_at=success_at) if outcome else UserOutcomes()
    found: Sequence[str | FoundLog] = logs
    if given.must_name_one:
        found = [*find_logs(logs)]  # read twice, which standard input alone could not be
        _check_named(read_logs(found, format=format), given, redaction, outcome)
    pace = Pace()
    readings: Iterator[Reading | Written]
    if given.are_for_all:
        usual = chosen("", otherwise=domain_of(opened), given=given_domain)
        readings = read_written(
            found, format=format, success_at=success_at, pace=pace, domain=usual
        )
    else:  # lines written at once do not tell their ids
        readings = read_logs(found, format=format, success_at=success_at, pace=pace)
    before = len(opened.episodes)
    with interruptible() as stop, invocation.output.progress("reading", pace.total) as pace.advance:
        wanted = takewhile(lambda _: not stop, readings)
        try:
            intake = take_in(
                opened,
                wanted,
                redaction=redaction,
                outcomes=given,
                domain=given_domain,
                dry_run=dry_run,
                listed=invocation.output.json,
            )
        except KeyboardInterrupt as error:  # the second one, which waits for nothing
            raise _interrupted(len(opened.episodes) - before) from error

    unmatched = [] if stop else [key for key in given.by_id if key not in intake.named]
    data = {
        "imported": intake.count("imported"),
        "updated": intake.count("updated"),
        "changed": intake.changed,
        "duplicates": intake.count("duplicate"),
        "rejected": intake.refused,
        "left_out": left_out_record(intake),
        "unmatched": unmatched,
        "disputed": list(intake.disputed),
        "domains": domains_record(intake),
        "unknown": reasons_record(intake.reasons),
        "redactions": dict(intake.redactions),
        "redaction": redaction,
        "dry_run": dry_run,
        "files": [file_record(file, tally) for file, tally in intake.files.items()],
        "trajectories": [
            receipt_record(receipt)
            for receipt in intake.received
            if receipt.reception != "duplicate"
        ],
    }
    errors: list[DeltaMemError] = [*intake.refusals]
    if stop:
        errors.append(_interrupted(0 if dry_run else intake.count("imported")))
    status = Result.verdict(intake.episodes, errors)
    notes = notes_on(intake, data, _file_name(outcome))
    return Result("import", data, tuple(errors), status, view=partial(show, intake), notes=notes)


def _file_name(path: str | None) -> str:
    """The user's file as notes call it."""
    return one_line(PurePath(path or "").name, 120)


def _redaction(*, personal: bool, off: bool) -> Redaction:
    if personal and off:
        raise UsageError("--redact-personal and --no-redact contradict each other")
    return "personal" if personal else "off" if off else "secrets"


def _check_named(
    readings: Iterator[Reading], given: UserOutcomes, redaction: Redaction, path: str | None
) -> None:
    """See that a list of ids is about these logs at all: it says that all others failed.

    Raises:
        TrajectoryError: It names none of their episodes.
    """
    from deltamem_tui.memory.episodes.importer import names_one

    if not names_one(readings, given, redaction):
        ids = counted(len(given.by_id), "id")
        raise TrajectoryError(
            f"taken for a list of what was resolved, and none of its {ids} names an episode "
            "of these logs: nothing was imported",
            source=_file_name(path),
            hint="ids as the logs have them, one a line, or a table from id to success",
        )


def _interrupted(kept: int) -> InterruptionError:
    stay = counted(kept, "new episode is kept", "new episodes are kept")
    return InterruptionError("interrupted", hint=f"{stay}; import again, and the others follow")


def _checked_domain(domain: str | None) -> str:
    """The domain that the user gives, if a bank's could be called so; empty if none is given.

    Raises:
        UsageError: No bank could have it, or it is a known one, misspelt.
    """
    from deltamem_tui.memory.deltamem.settings import domain_named
    from deltamem_tui.paths import check_domain
    from deltamem_tui.text import clean

    name = clean(domain or "").strip()
    return check_domain(domain_named(name)) if name else ""
