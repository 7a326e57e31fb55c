"""What `deltamem import` says of what it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from deltamem_tui.cli.page import Cell, Page
from deltamem_tui.text import counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.memory.episodes.import_report import FileTally, Intake, Receipt
    from deltamem_tui.trajectory.model import OutcomeSource
    from deltamem_tui.trajectory.reasons import ReasonTally

_SHOWN_IDS = 3
_SHOWN_NOTICES = 5
_SHOWN_REASONS = 5


def notes_on(intake: Intake, data: dict[str, Any], file: str) -> list[str]:
    """What is told beside the report.

    Args:
        intake: What became of the logs.
        data: The report as JSON has it.
        file: The name of the user's file, if there is one.
    """
    from deltamem_tui.memory.episodes.report_text import (
        told_domains,
        told_notices,
        told_reasons,
        told_unsaid,
    )

    domains = told_domains(intake)
    notes = [domains] if domains else []
    if intake.changed:
        outcomes = counted(intake.changed, "outcome was", "outcomes were")
        notes.append(f"{outcomes} changed: the later word counts")
    if intake.unsaid:
        notes.append(
            f"{told_unsaid(intake)}: import again with "
            "`--outcome success`, `--outcome failure` or `--outcome FILE`, or let a model say: "
            "`deltamem judge`"
        )
    notes += told_reasons(intake.reasons, _SHOWN_REASONS)
    if data["redaction"] == "off":
        notes.append("nothing was redacted: keys and passwords in the logs are in the episodes")
    if data["dry_run"]:
        notes.append("nothing was written: this was a dry run")
    more = (*_disputed(intake, file), *_unmatched(data["unmatched"], file))
    return [*notes, *told_notices(intake, _SHOWN_NOTICES, listing="`--json`"), *more]


def _disputed(intake: Intake, file: str) -> list[str]:
    """A note about the episodes whose log states the opposite of the user's file."""
    if not intake.disputed:
        return []
    state = counted(len(intake.disputed), "episode states", "episodes state")
    keep = "it keeps" if len(intake.disputed) == 1 else "they keep"
    return [f"{state} another outcome than {file}: {keep} it"]


def _unmatched(ids: list[str], file: str) -> list[str]:
    """A note about the ids of the user's outcomes that name nothing, if there are any."""
    if not ids:
        return []
    first = ", ".join(one_line(each, 60) for each in ids[:_SHOWN_IDS])
    more = ", …" if len(ids) > _SHOWN_IDS else ""
    which = counted(len(ids), f"id of {file} matches", f"ids of {file} match")
    return [f"{which} no episode of these logs: {first}{more}"]


def show(intake: Intake, page: Page) -> None:
    """Show the report: what came in, and a row per log."""
    page.facts(_facts(intake))
    rows = [_row(file, tally) for file, tally in intake.files.items()]
    page.table(*(telling(_COLUMNS, rows) if page.drawn else (_COLUMNS, rows)), headed=True)


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


def file_record(file: str, tally: FileTally) -> dict[str, Any]:
    """What one log gave, as JSON has it."""
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


def left_out_record(intake: Intake) -> dict[str, Any]:
    """What was left out by design, as JSON has it: the first words, and how many there were."""
    return {"total": intake.noticed, "listed": [asdict(told) for told in intake.notices]}


def domains_record(intake: Intake) -> dict[str, Any]:
    """Of which domains the episodes are, as JSON has it: the first, and how many are of any."""
    return {"total": intake.domains.total, "listed": dict(intake.domains.listed)}


def reasons_record(reasons: ReasonTally) -> dict[str, Any]:
    """Why outcomes are unknown, as JSON has it: the first reasons, and how many have any."""
    return {"total": reasons.total, "listed": dict(reasons.listed)}


def receipt_record(receipt: Receipt) -> dict[str, Any]:
    """What became of one episode, as JSON has it."""
    return {
        "id": receipt.id,
        "task": receipt.task,
        "steps": receipt.steps,
        "success": receipt.outcome.success,
        "reward": receipt.outcome.reward,
        "outcome_source": receipt.outcome.source,
        "reason": receipt.outcome.reason or None,
        "format": receipt.source.format,
        "source": receipt.source.file,
        "position": receipt.source.position,
    }
