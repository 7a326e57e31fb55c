"""`deltamem convert`: any logs to ATIF, without a bank."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.import_ import (
    Logs,
    NoRedact,
    Outcome,
    RedactPersonal,
    SuccessAt,
    redaction_of,
)
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import RecordError
from deltamem_tui.text import counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.trajectory.logs.notice import Notice
    from deltamem_tui.trajectory.model import Trajectory
    from deltamem_tui.trajectory.readers.reader import Reading

Out = Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="Where to write.")]
Replace = Annotated[bool, typer.Option("--replace", help="Write over a file that is there.")]


def run(
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
