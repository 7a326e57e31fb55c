"""The report of an import, as data and text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from deltamem_tui.errors import lines_by_reason
from deltamem_tui.memory.episodes.import_report import FileTally, ImportedEpisode, ImportReport
from deltamem_tui.memory.reports.view import ReportNote, ReportView
from deltamem_tui.text import counted, one_line
from deltamem_tui.trajectory.model import OutcomeSource

_NOTICES = 5
_REASONS = 5
_NAMES = 3
_NAME_WIDTH = 40
_REASON_WIDTH = 160
_LISTED_REASONS = 100
_SOURCES: Mapping[OutcomeSource, str] = {
    "stated": "from log",
    "user": "from user",
    "judge": "from judge",
    "unknown": "unknown",
}


def view_import(found: ImportReport, outcomes_name: str = "") -> ReportView:
    """Show what an import came to."""
    total = found.total
    record: dict[str, Any] = {
        "imported": found.count("imported"),
        "grown": found.count("grown"),
        "updated": found.count("updated"),
        "changed": total.changed,
        "duplicates": found.count("duplicate"),
        "rejected": total.rejected,
        "left_out": {
            "total": found.notice_count,
            "listed": [asdict(notice) for notice in found.notices],
        },
        "unmatched": found.unmatched,
        "disputed": list(found.disputed),
        "receipts": _receipts_record(found),
        "domains": {"total": found.domains.total(), "listed": dict(found.domains)},
        "unknown": reasons_record(found.reasons),
        "redactions": dict(total.redactions),
        "redaction": found.redaction,
        "dry_run": found.dry_run,
        "files": [_file_record(file, tally) for file, tally in found.files.items()],
        "trajectories": [
            _entry_record(entry) for entry in found.entries if entry.reception != "duplicate"
        ],
    }
    would = "would be " if found.dry_run else ""
    facts = {
        **{f"{would}{name}": record[name] for name in ("imported", "updated")},
        **({f"{would}grown": record["grown"]} if record["grown"] else {}),
        **{name: record[name] for name in ("duplicates", "rejected")},
        **{f"outcome {_SOURCES[source]}": n for source, n in sorted(total.sources.items())},
        **({"given receipts": found.receipts_added} if found.receipts_added else {}),
        **{f"redacted {kind}": count for kind, count in sorted(total.redactions.items())},
    }
    notes = [*_notes(found, outcomes_name)]
    return ReportView(record, facts, notes=notes, summary=_import_summary(found))


def sources_text(tally: FileTally) -> str:
    """Return how many outcomes of a log each source has: `from log 3, from user 1`."""
    return ", ".join(
        f"{_SOURCES[source]} {count}" for source, count in sorted(tally.sources.items())
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


def _entry_record(entry: ImportedEpisode) -> dict[str, Any]:
    outcome, source = entry.outcome, entry.source
    return {
        "id": entry.id,
        "task": entry.task,
        "steps": entry.steps,
        "success": outcome.success,
        "reward": outcome.reward,
        "outcome_source": outcome.source,
        "reason": outcome.reason or None,
        "format": source.format,
        "source": source.file,
        "position": source.position,
    }


def reasons_record(reasons: Counter[str]) -> dict[str, Any]:
    """Return why outcomes are unknown: the most frequent reasons, and of how many."""
    return {"total": reasons.total(), "listed": dict(reasons.most_common(_LISTED_REASONS))}


def reason_notes(reasons: Counter[str], most: int) -> list[ReportNote]:
    """Return why outcomes are unknown, a note for each of the `most` most frequent reasons."""
    listed = reasons.most_common(most)
    notes = [
        ReportNote(
            f"{counted(count, 'outcome is', 'outcomes are')} unknown: "
            f"{one_line(reason, _REASON_WIDTH)}"
        )
        for reason, count in listed
    ]
    if more := reasons.total() - sum(count for _, count in listed):
        which = counted(more, "more outcome is", "more outcomes are")
        notes.append(ReportNote(f"{which} unknown, for other reasons"))
    return notes


def _notes(found: ImportReport, outcomes_name: str) -> Iterator[ReportNote]:
    """Return what a person should know besides the numbers."""
    if grown := found.count("grown"):
        went_on = counted(grown, "session went on", "sessions went on")
        yield ReportNote(f"{went_on} since the last import: the earlier records are replaced")
    if others := found.other_domains:
        which = counted(others.total(), "episode is", "episodes are")
        bank = one_line(found.usual_domain, _NAME_WIDTH)
        yield ReportNote(f"{which} of {_names([*others])}, while the bank is of {bank}")
    yield from _outcome_notes(found)
    yield from reason_notes(found.reasons, _REASONS)
    if found.redaction == "off":
        yield ReportNote("nothing was redacted: keys and passwords in the logs are in the episodes")
    if found.dry_run:
        would = counted(found.count("imported"), "episode")
        yield ReportNote(f"nothing was written: this was a dry run, which would import {would}")
    yield from _notices(found, _NOTICES)
    if count := len(found.disputed):
        state = counted(count, "episode states", "episodes state")
        keep = "it keeps" if count == 1 else "they keep"
        yield ReportNote(f"{state} another outcome than {outcomes_name}: {keep} it")
    if count := len(found.unmatched):
        name = outcomes_name
        which = counted(count, f"id of {name} matches", f"ids of {name} match")
        yield ReportNote(f"{which} no episode of these logs: {_names(found.unmatched)}")
    yield from _receipt_notes(_receipts_record(found))


def _outcome_notes(found: ImportReport) -> Iterator[ReportNote]:
    if found.total.changed:
        changed = counted(found.total.changed, "outcome was", "outcomes were")
        yield ReportNote(f"{changed} changed: the later statement counts")
    if waiting := found.total.without_outcome:
        hint = "import again with `--outcome FILE`, or `deltamem episode judge` asks a model"
        episodes = counted(waiting, "episode waits", "episodes wait")
        yield ReportNote(f"{episodes} without an outcome", hint)


def _notices(found: ImportReport, most: int) -> Iterator[ReportNote]:
    """Yield what readers left out by design, a line a reason; the others are counted."""
    lines = list(lines_by_reason(found.notices))[:most]
    yield from (ReportNote(line) for line, _ in lines)
    shown = sum(count for _, count in lines)
    if more := found.notice_count - shown:
        listed = len(found.notices) - shown
        lists = "`--json` lists them" if listed == more else f"`--json` lists {listed:,} of them"
        yield ReportNote(f"more was left out in {counted(more, 'other place')}", lists)


def _receipts_record(found: ImportReport) -> dict[str, Any]:
    """Return what became of receipts: those of the user's files, and those of the episodes."""
    given = found.receipts
    return {
        "given": len(given.given) if given else 0,
        "unmatched": sorted(given.given - given.joined.keys()) if given else [],
        "unclear": sorted(given.unclear) if given else [],
        "shared": sorted(given.shared) if given else [],
        "episodes": found.receipts_added,
        "nodes": found.shown["nodes"],
        "unknown_nodes": found.shown["unknown"],
    }


def _receipt_notes(record: Mapping[str, Any]) -> Iterator[ReportNote]:
    """Yield which receipts give no credit, and why."""
    name = "name the episode: `deltamem recall --receipt FILE --episode NAME`"
    if count := len(record["unclear"]):
        fits = counted(count, "episode fits several receipts", "episodes fit several receipts")
        yield ReportNote(f"{fits}, and {'has' if count == 1 else 'have'} none", name)
    if count := len(record["shared"]):
        went = counted(count, "receipt without a name went", "receipts without a name went")
        yield ReportNote(f"{went} to several episodes with the same task", name)
    if count := len(record["unmatched"]):
        fits = counted(count, "receipt fits", "receipts fit")
        yield ReportNote(f"{fits} no episode of these logs")
    if count := record["unknown_nodes"]:
        of = counted(record["nodes"], "shown node")
        yield ReportNote(f"{count:,} of {of} {'is' if count == 1 else 'are'} not in this bank")


def _names(names: Sequence[str]) -> str:
    """Return the first of some names, which come from outside."""
    shown = ", ".join(one_line(name, _NAME_WIDTH) for name in names[:_NAMES])
    return f"{shown}, …" if len(names) > _NAMES else shown


def _import_summary(found: ImportReport) -> str:
    did, redacted = "would import" if found.dry_run else "imported", found.total.redactions
    text = f"{did} {counted(found.count('imported'), 'episode')}{_read_as(found)}"
    for count, what in (
        (found.count("grown"), "grown"),
        (found.count("updated"), "updated"),
        (found.count("duplicate"), "known already"),
        (found.total.rejected, "rejected"),
        (redacted.total(), "redacted"),
    ):
        text += f", {count:,} {what}" if count else ""
    if redacted:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(redacted.items()))
        text += f" ({kinds})"
    if found.rejected:
        text += f"; first: {found.rejected[0]}"
    notes = [note for note in _outcome_notes(found) if note.hint]
    notes += _notices(found, 3)
    return "; ".join((text, *(note.text for note in notes)))


def _read_as(found: ImportReport) -> str:
    """Return the formats and domains: a person who chose the wrong log or bank sees it here."""
    facts = [f"read as {_names(found.total.formats)}"] if found.total.formats else []
    if found.domains:
        facts.append(f"of {_names([name for name, _ in found.domains.most_common()])}")
    if found.other_domains:
        facts.append(f"while the bank is of {_names([found.usual_domain])}")
    return f" ({', '.join(facts)})" if facts else ""
