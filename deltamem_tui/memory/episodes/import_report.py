"""Results of importing logs: a tally, an entry per episode, and all of it in words.

Lists are bounded by `LISTED`, however much was read; entries are kept only on request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from msgspec import Struct

from deltamem_tui.errors import RecordError, lines_by_reason
from deltamem_tui.memory.reports.view import ReportNote, ReportView
from deltamem_tui.text import counted, one_line
from deltamem_tui.trajectory.logs.record import Notice
from deltamem_tui.trajectory.model import Outcome, OutcomeSource, Trajectory
from deltamem_tui.trajectory.receipt_file import ReceiptFile

LISTED = 1000
"""How many refusals and notices are kept: the first. All are counted."""

_NOTICES = 5
_FORMATS = 40
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

Reception = Literal["imported", "grown", "updated", "duplicate"]
Redaction = Literal["secrets", "personal", "off"]
"""Texts removed from episodes: secrets, e-mail addresses too, or nothing."""


class Arrival(Struct, frozen=True, gc=False):
    """An episode as a bank will keep it.

    Attributes:
        line: Its record as one line of JSON, newline included.
        given: Whether the user says that it was a success; None if that is not said.
        for_all: Whether its outcome is the user's one word for all that state none.
    """

    trajectory: Trajectory
    line: bytes
    redactions: Mapping[str, int] = {}
    given: bool | None = None
    for_all: bool = False

    @property
    def id(self) -> str:
        """The episode's id."""
        return self.trajectory.id


class EpisodeImport(Struct, frozen=True, gc=False):
    """An episode that was read, and what became of it.

    Attributes:
        reception: `imported` if it is new, `grown` if it is of a session that went on since it
            was imported, `updated` if only its outcome is new, else `duplicate`.
        outcome: The outcome that counts from now on; `before` counted until then.
        gains_receipts: Whether the bank has it, and without all of its receipts.
        replaces: The ids of the earlier records whose place it takes.
    """

    arrival: Arrival
    reception: Reception
    outcome: Outcome
    before: Outcome = Outcome()
    gains_receipts: bool = False
    replaces: tuple[str, ...] = ()

    @property
    def is_new(self) -> bool:
        """True if the bank did not have it."""
        return self.reception in ("imported", "grown")

    @property
    def is_written(self) -> bool:
        """True if the bank gets a line for it."""
        return self.reception != "duplicate" or self.gains_receipts


@dataclass(slots=True)
class ImportReport:
    """Results of importing some logs. The counts are of duplicates too, but `without_outcome`.

    Attributes:
        formats: The first formats it was read as; of the project's own logs, those that their
            episodes were first read as.
        sources: How many outcomes came from each source, of a duplicate the one that counts.
        changed: How many outcomes became their opposite.
        without_outcome: How many came into the bank without an outcome.
        refused: How many records were.
        entries: An entry for every episode, in order, if they are `listed`.
        rejected: The first records that were refused, as `notices` has the first notices.
        named: Those of the user's ids that name an episode that was read; others are `unmatched`.
        disputed: The ids of those episodes, in order, that keep another outcome than the user
            gives now, since their log states it or a person gave it.
        reasons: Why outcomes are unknown, of the episodes that came into the bank without one.
        receipts_added: How many episodes have receipts now that the bank did not know.
    """

    redaction: Redaction = "secrets"
    dry_run: bool = False
    listed: bool = True
    formats: list[str] = field(default_factory=list)
    receptions: Counter[Reception] = field(default_factory=Counter)
    sources: Counter[OutcomeSource] = field(default_factory=Counter)
    successes: int = 0
    failures: int = 0
    changed: int = 0
    without_outcome: int = 0
    steps: int = 0
    redactions: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    entries: list[dict[str, Any]] = field(default_factory=list)
    rejected: list[RecordError] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    notice_count: int = 0
    named: set[str] = field(default_factory=set)
    unmatched: list[str] = field(default_factory=list)
    disputed: dict[str, None] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    receipts: ReceiptFile | None = None
    receipts_added: int = 0

    def add(self, received: EpisodeImport) -> None:
        """Count an episode."""
        arrival, found, outcome = received.arrival, received.arrival.trajectory, received.outcome
        is_known, before = received.reception == "duplicate", received.before
        self._read_as(found.source.format)
        self.receptions[received.reception] += 1
        self.sources[outcome.source] += 1
        self.successes += outcome.success is True
        self.failures += outcome.success is False
        self.changed += before.known and before.success != outcome.success
        self.without_outcome += outcome.success is None and not is_known
        self.steps += len(found.steps)
        self.redactions.update(arrival.redactions)
        self.receipts_added += bool(received.is_written and found.receipts)
        if not is_known and outcome.success is None and outcome.reason:
            self.reasons[outcome.reason] += 1
        if arrival.given is not None and arrival.given != outcome.success:
            self.disputed[found.id] = None
        if self.listed:
            self.entries.append(_entry(found, outcome, received.reception))

    def reject(self, error: RecordError) -> None:
        """Count a record that was refused."""
        self.refused += 1
        if error.format:
            self._read_as(error.format)
        if len(self.rejected) < LISTED:
            self.rejected.append(error)

    def notice(self, notice: Notice) -> None:
        """Count a notice of what was left out by design."""
        self.notice_count += 1
        if len(self.notices) < LISTED:
            self.notices.append(notice)

    def _read_as(self, name: str) -> None:
        if name not in self.formats and len(self.formats) < _FORMATS:
            self.formats.append(name)

    @property
    def episodes(self) -> int:
        """How many episodes were read."""
        return self.receptions.total()

    def count(self, reception: Reception) -> int:
        """Return how many episodes had this reception."""
        return self.receptions[reception]

    @property
    def refusals(self) -> tuple[RecordError, ...]:
        """The refusals that were kept, and a last one for all others."""
        more = self.refused - len(self.rejected)
        if not more:
            return tuple(self.rejected)
        rest = RecordError(
            f"{counted(more, 'more record was', 'more records were')} refused; only the first "
            f"{len(self.rejected):,} are listed",
            hint="correct these and import again",
        )
        return (*self.rejected, rest)


# In words


def view_import(found: ImportReport, outcomes_name: str = "") -> ReportView:
    """Show what an import came to."""
    record: dict[str, Any] = {
        "imported": found.count("imported"),
        "grown": found.count("grown"),
        "updated": found.count("updated"),
        "changed": found.changed,
        "duplicates": found.count("duplicate"),
        "rejected": found.refused,
        "left_out": {
            "total": found.notice_count,
            "listed": [asdict(notice) for notice in found.notices],
        },
        "unmatched": found.unmatched,
        "disputed": list(found.disputed),
        "receipts": _receipts_record(found),
        "unknown": reasons_record(found.reasons),
        "redactions": dict(found.redactions),
        "redaction": found.redaction,
        "dry_run": found.dry_run,
        "formats": found.formats,
        "episodes": found.episodes,
        "steps": found.steps,
        "successes": found.successes,
        "failures": found.failures,
        "outcomes": dict(found.sources),
        "trajectories": [entry for entry in found.entries if entry["reception"] != "duplicate"],
    }
    would = "would be " if found.dry_run else ""
    facts = {
        **{f"{would}{name}": record[name] for name in ("imported", "updated")},
        **({f"{would}grown": record["grown"]} if record["grown"] else {}),
        **{name: record[name] for name in ("duplicates", "rejected")},
        "read as": _names(found.formats),
        **{name: record[name] for name in ("steps", "successes", "failures")},
        **{f"outcome {_SOURCES[source]}": n for source, n in sorted(found.sources.items())},
        **({"given receipts": found.receipts_added} if found.receipts_added else {}),
        **{f"{kind} mentions redacted": count for kind, count in sorted(found.redactions.items())},
    }
    notes = [*_notes(found, outcomes_name)]
    return ReportView(record, facts, notes=notes, summary=_import_summary(found))


def _entry(found: Trajectory, outcome: Outcome, reception: Reception) -> dict[str, Any]:
    source = found.source
    return {
        "id": found.id,
        "task": found.task,
        "steps": len(found.steps),
        "reception": reception,
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
    notes, more = list[ReportNote](), reasons.total()
    for reason, count in reasons.most_common(most):
        which, more = counted(count, "outcome is", "outcomes are"), more - count
        notes.append(ReportNote(f"{which} unknown: {one_line(reason, _REASON_WIDTH)}"))
    if more:
        which = counted(more, "more outcome is", "more outcomes are")
        notes.append(ReportNote(f"{which} unknown, for other reasons"))
    return notes


def _notes(found: ImportReport, outcomes_name: str) -> Iterator[ReportNote]:
    """Return what a person should know besides the numbers."""
    if grown := found.count("grown"):
        went_on = counted(grown, "session went on", "sessions went on")
        yield ReportNote(f"{went_on} since the last import: the earlier records are replaced")
    yield from _outcome_notes(found)
    yield from reason_notes(found.reasons, _REASONS)
    if found.redaction == "off":
        yield ReportNote("nothing was redacted: keys and passwords in the logs are in the episodes")
    if found.dry_run:
        would = counted(found.count("imported"), "episode")
        yield ReportNote(f"nothing was written: this was a dry run, which would import {would}")
    yield from _notices(found, _NOTICES)
    if count := len(found.disputed):
        keep = counted(count, "episode keeps", "episodes keep")
        yield ReportNote(f"{keep} what its log or a person said, not what {outcomes_name} says")
    if count := len(found.unmatched):
        name = outcomes_name
        which = counted(count, f"id of {name} matches", f"ids of {name} match")
        yield ReportNote(f"{which} no episode of these logs: {_names(found.unmatched)}")
    yield from _receipt_notes(_receipts_record(found))


def _outcome_notes(found: ImportReport) -> Iterator[ReportNote]:
    if found.changed:
        changed = counted(found.changed, "outcome was", "outcomes were")
        yield ReportNote(f"{changed} changed: the later statement counts")
    if waiting := found.without_outcome:
        hint = "import again with `--outcome FILE`, or `deltamem episode judge` asks a model"
        episodes = counted(waiting, "episode has", "episodes have")
        yield ReportNote(f"{episodes} no outcome yet", hint)


def _notices(found: ImportReport, most: int) -> Iterator[ReportNote]:
    """Yield what readers left out by design, a line a reason; the others are counted."""
    lines = list(lines_by_reason(found.notices))[:most]
    yield from (ReportNote(line) for line, _ in lines)
    if more := found.notice_count - sum(count for _, count in lines):
        where = counted(more, "other place")
        yield ReportNote(f"more was left out in {where}", f"`--json` lists the first {LISTED:,}")


def _receipts_record(found: ImportReport) -> dict[str, Any]:
    """Return what became of receipts: those of the user's files, and those of the episodes."""
    given = found.receipts
    return {
        "given": len(given.given) if given else 0,
        "unmatched": sorted(given.given - given.joined.keys()) if given else [],
        "unclear": sorted(given.unclear) if given else [],
        "shared": sorted(given.shared) if given else [],
        "episodes": found.receipts_added,
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


def _names(names: Sequence[str]) -> str:
    """Return the first of some names, which come from outside."""
    shown = ", ".join(one_line(name, _NAME_WIDTH) for name in names[:_NAMES])
    return f"{shown}, …" if len(names) > _NAMES else shown


def _import_summary(found: ImportReport) -> str:
    did, redacted = "would import" if found.dry_run else "imported", found.redactions
    text = f"{did} {counted(found.count('imported'), 'episode')}"
    if found.formats:
        text += f" (read as {_names(found.formats)})"
    counts = {name: found.count(name) for name in ("grown", "updated")}
    counts |= {"known already": found.count("duplicate"), "rejected": found.refused}
    for what, count in (counts | {"redacted": redacted.total()}).items():
        text += f", {count:,} {what}" if count else ""
    if redacted:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(redacted.items()))
        text += f" ({kinds})"
    if found.rejected:
        text += f"; first: {found.rejected[0]}"
    notes = [note for note in _outcome_notes(found) if note.hint]
    notes += _notices(found, 3)
    return "; ".join((text, *(note.text for note in notes)))
