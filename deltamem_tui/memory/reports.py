"""What a piece of work came to, put into data and text once, for every face.

A command prints the facts and notes, or the record as JSON; the browser shows the summary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.text import counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.memory.episodes.import_report import FileTally, ImportEntry, ImportReport
    from deltamem_tui.memory.runs.judging import JudgingReport
    from deltamem_tui.memory.runs.learning import LearningReport
    from deltamem_tui.trajectory.model import OutcomeSource
    from deltamem_tui.trajectory.reasons import ReasonTally

Value = str | int | float | bool | None

_NOTICES = 5
_SUMMARY_NOTICES = 3
_REASONS = 5
_NAMES = 3
_NAME_WIDTH = 40
_REASON_WIDTH = 160
_SOURCES: Mapping[OutcomeSource, str] = {
    "stated": "log",
    "user": "user",
    "judge": "judge",
    "unknown": "nobody",
}


class Note(NamedTuple):
    """One thing that a person should know.

    Attributes:
        text: A sentence without its full stop.
        hint: How to go on, on the command line.
    """

    text: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.text}: {self.hint}" if self.hint else self.text


@dataclass(frozen=True, slots=True)
class ReportView:
    """What every face shows of a piece of work.

    Attributes:
        record: All of it, as JSON can hold it.
        facts: Its numbers by name, for a person.
        notes: What else a person should know.
        summary: All that matters on one line.
    """

    record: Mapping[str, Any]
    facts: Mapping[str, Value] = field(default_factory=dict)
    notes: Sequence[Note] = ()
    summary: str = ""


def cost_text(usage: Usage) -> str:
    """`$0.0123`; a cost that is not known is not zero."""
    return "cost unknown" if usage.cost is None else f"${usage.cost:.4f}"


def usage_facts(usage: Usage) -> dict[str, Value]:
    """What calls of a model took."""
    return {
        "calls": usage.calls,
        "answers from the cache": usage.cached,
        "prompt tokens": usage.prompt_tokens,
        "answer tokens": usage.completion_tokens,
        "cost": "unknown" if usage.cost is None else cost_text(usage),
    }


def view_import(found: ImportReport, outcomes_name: str = "") -> ReportView:
    """Show what an import came to.

    Args:
        found: What became of the records.
        outcomes_name: The name of the user's file of outcomes, if there is one.
    """
    record: dict[str, Any] = {
        "imported": found.count("imported"),
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
        "domains": {"total": found.domains.total, "listed": dict(found.domains.listed)},
        "unknown": reasons_record(found.reasons),
        "redactions": dict(found.redactions),
        "redaction": found.redaction,
        "dry_run": found.dry_run,
        "files": [_file_record(file, tally) for file, tally in found.files.items()],
        "trajectories": [
            _entry_record(entry) for entry in found.entries if entry.reception != "duplicate"
        ],
    }
    facts = {
        **{name: record[name] for name in ("imported", "updated", "duplicates", "rejected")},
        **{f"outcome from {_SOURCES[source]}": n for source, n in sorted(found.sources.items())},
        **{f"redacted {kind}": count for kind, count in sorted(found.redactions.items())},
    }
    notes = (
        *_domain_notes(found),
        *_outcome_notes(found),
        *reason_notes(found.reasons, _REASONS),
        *_mode_notes(found),
        *_notices(found, _NOTICES),
        *_file_notes(found, outcomes_name),
    )
    return ReportView(record, facts, notes, _import_summary(found))


def sources_text(tally: FileTally) -> str:
    """Whose word the outcomes of a log are: `log 3, user 1`."""
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


def _entry_record(entry: ImportEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "task": entry.task,
        "steps": entry.steps,
        "success": entry.outcome.success,
        "reward": entry.outcome.reward,
        "outcome_source": entry.outcome.source,
        "reason": entry.outcome.reason or None,
        "format": entry.source.format,
        "source": entry.source.file,
        "position": entry.source.position,
    }


def reasons_record(reasons: ReasonTally) -> dict[str, Any]:
    """Why outcomes are unknown: the first reasons, and how many outcomes have any."""
    return {"total": reasons.total, "listed": dict(reasons.listed)}


def reason_notes(reasons: ReasonTally, most: int) -> list[Note]:
    """Why outcomes are unknown, a note for each of the `most` most frequent reasons."""
    listed = reasons.listed.most_common(most)
    notes = [
        Note(
            f"{counted(count, 'outcome is', 'outcomes are')} unknown: "
            f"{one_line(reason, _REASON_WIDTH)}"
        )
        for reason, count in listed
    ]
    if more := reasons.total - sum(count for _, count in listed):
        which = counted(more, "more outcome is", "more outcomes are")
        notes.append(Note(f"{which} unknown, for other reasons"))
    return notes


def _domain_notes(found: ImportReport) -> Iterator[Note]:
    """Episodes of other domains than the bank's: it may be the wrong bank."""
    domains = found.domains
    if domains.of_others:
        which = counted(domains.of_others, "episode is", "episodes are")
        bank = one_line(domains.usual, _NAME_WIDTH)
        yield Note(f"{which} of {_names(domains.others)}, while the bank is of {bank}")


def _outcome_notes(found: ImportReport) -> Iterator[Note]:
    if found.changed:
        changed = counted(found.changed, "outcome was", "outcomes were")
        yield Note(f"{changed} changed: the later statement counts")
    if waiting := found.without_outcome:
        hint = (
            "import again with `--outcome success`, `--outcome failure` or `--outcome FILE`, or "
            "let a model judge: `deltamem judge`"
        )
        episodes = counted(waiting, "episode waits", "episodes wait")
        yield Note(f"{episodes} without an outcome", hint)


def _mode_notes(found: ImportReport) -> Iterator[Note]:
    if found.redaction == "off":
        yield Note("nothing was redacted: keys and passwords in the logs are in the episodes")
    if found.dry_run:
        yield Note("nothing was written: this was a dry run")


def _notices(found: ImportReport, most: int) -> Iterator[Note]:
    """The first notices of what readers left out by design; the others are counted."""
    yield from (Note(str(notice)) for notice in found.notices[:most])
    if (more := found.notice_count - most) > 0:
        listed = len(found.notices) - most
        lists = "`--json` lists them" if listed == more else f"`--json` lists {listed:,} of them"
        yield Note(f"more was left out in {counted(more, 'other place')}", lists)


def _file_notes(found: ImportReport, name: str) -> Iterator[Note]:
    """What the user's file of outcomes says otherwise than the logs, or of no episode."""
    if count := len(found.disputed):
        state = counted(count, "episode states", "episodes state")
        keep = "it keeps" if count == 1 else "they keep"
        yield Note(f"{state} another outcome than {name}: {keep} it")
    if count := len(found.unmatched):
        which = counted(count, f"id of {name} matches", f"ids of {name} match")
        yield Note(f"{which} no episode of these logs: {_names(found.unmatched)}")


def _names(names: Sequence[str]) -> str:
    """The first of some names, which come from outside."""
    shown = ", ".join(one_line(name, _NAME_WIDTH) for name in names[:_NAMES])
    return f"{shown}, …" if len(names) > _NAMES else shown


def _import_summary(found: ImportReport) -> str:
    text = f"imported {counted(found.count('imported'), 'episode')}{_read_as(found)}"
    for count, what in (
        (found.count("updated"), "updated"),
        (found.count("duplicate"), "known already"),
        (found.refused, "rejected"),
        (found.redactions.total(), "redacted"),
    ):
        text += f", {count:,} {what}" if count else ""
    if found.redactions:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(found.redactions.items()))
        text += f" ({kinds})"
    if found.rejected:
        text += f"; first: {found.rejected[0]}"
    notes = [note for note in _outcome_notes(found) if note.hint]
    notes += _notices(found, _SUMMARY_NOTICES)
    return "; ".join((text, *(note.text for note in notes)))


def _read_as(found: ImportReport) -> str:
    """The formats and domains: a person who chose the wrong log or bank sees it here."""
    formats = list(dict.fromkeys(name for each in found.files.values() for name in each.formats))
    domains = found.domains
    facts = [f"read as {_names(formats)}"] if formats else []
    if domains.listed:
        facts.append(f"of {_names([name for name, _ in domains.listed.most_common()])}")
    if domains.of_others:
        facts.append(f"while the bank is of {_names([domains.usual])}")
    return f" ({', '.join(facts)})" if facts else ""


def view_learning(
    found: LearningReport,
    *,
    episodes: int,
    waiting: int,
    not_admitted: int = 0,
    without_scene: int = 0,
    draws: bool = False,
    dry_run: bool = False,
) -> ReportView:
    """Show what learning from the waiting episodes came to, or would take.

    Args:
        found: What it came to; of a dry run the usage alone.
        episodes: How many were to be learnt.
        waiting: How many wait now.
        not_admitted: How many the policy kept out.
        without_scene: How many have no scene that a model could draw.
        draws: Whether scenes are drawn.
        dry_run: Whether nothing was done.
    """
    record = {
        **_lesson_counts(found),
        "would_learn": episodes if dry_run else 0,
        "waiting": waiting,
        "not_admitted": not_admitted,
        "usage": asdict(found.usage),
        "wasted": asdict(found.wasted),
        "recovered": asdict(found.recovered),
        "scenes_drawn": found.scenes_drawn,
        "would_draw": without_scene if dry_run and draws else 0,
        "without_scene": 0 if draws else without_scene,
        "on_their_way": found.in_flight,
    }
    facts = _foreseen_facts(record) if dry_run else _learning_facts(record)
    asked = bool(found.usage.calls or found.usage.cached)
    notes = [*_learning_notes(found, record, episodes)]
    if dry_run and episodes:
        nothing = "sent or written: calls, tokens and cost are an estimate"
        notes.append(Note("nothing was " + (nothing if asked else "written; the rules are free")))
    summary = _learning_summary(found, record)
    return ReportView(record, facts | (usage_facts(found.usage) if asked else {}), notes, summary)


def _lesson_counts(found: LearningReport) -> dict[str, Any]:
    """What the lessons came to; an episode that another process learnt first is not of this run."""
    new = [lesson for lesson in found.lessons if lesson.new]
    nodes = Counter({"task": 0, "env": 0})
    consolidated = skipped = 0
    for lesson in new:
        written = [name for name, taught in lesson.trees.items() if taught.node]
        nodes.update(written)
        skipped += not written
        consolidated += sum(taught.consolidated is not None for taught in lesson.trees.values())
    return {
        "learned": len(new),
        "skipped": skipped,
        "learned_elsewhere": len(found.lessons) - len(new),
        "nodes_written": dict(nodes),
        "consolidated": consolidated,
    }


def _foreseen_facts(record: Mapping[str, Any]) -> dict[str, Value]:
    scenes = {"would draw scenes": record["would_draw"]} if record["would_draw"] else {}
    return {"would learn": record["would_learn"], **scenes, "waiting": record["waiting"]}


def _learning_facts(record: Mapping[str, Any]) -> dict[str, Value]:
    optional = {
        "learnt by another process meanwhile": record["learned_elsewhere"],
        "scenes drawn": record["scenes_drawn"],
    }
    return {
        "episodes learnt": record["learned"],
        "of these, nothing new to write": record["skipped"],
        "waiting": record["waiting"],
        **{name: count for name, count in optional.items() if count},
        **{f"new {tree} nodes": count for tree, count in record["nodes_written"].items()},
        "consolidated": record["consolidated"],
    }


def _learning_notes(
    found: LearningReport, record: Mapping[str, Any], episodes: int
) -> Iterator[Note]:
    if not episodes:
        yield Note("no episode with a known outcome waits; `deltamem import` brings some")
    if count := record["not_admitted"]:
        wait = counted(count, "episode waits", "episodes wait")
        yield Note(f"{wait} because of the source of the outcome", "see `--admit`")
    if count := record["without_scene"]:
        lack = counted(count, "episode has", "episodes have")
        hint = "`--draw-scenes` has the model look for it in the task"
        yield Note(f"{lack} no scene, so the env tree learns nothing from them", hint)
    yield from recovery_notes(found.recovered)
    if found.wasted.calls > 0:
        yet = " yet" if found.refusals or found.failure else ""
        bill = bill_text(found.wasted)
        yield Note(f"{counted(found.wasted.calls, 'call')} not used{yet}: {bill}")
    yield from in_flight_notes(found.in_flight)


def _learning_summary(found: LearningReport, record: Mapping[str, Any]) -> str:
    usage, nodes = found.usage, sum(record["nodes_written"].values())
    price = "by rules, no cost"
    if usage.calls or usage.cached:
        calls = f"{counted(usage.calls, 'call')}, {usage.cached:,} cached"
        price = f"for {cost_text(usage)} ({calls})"
    parts = [
        f"learnt {counted(len(found.lessons), 'episode')} {price}: {counted(nodes, 'node')}",
        f"{record['waiting']:,} waiting",
    ]
    if found.wasted.calls > 0:
        parts.append(f"{counted(found.wasted.calls, 'call')} not used")
    if found.in_flight:
        parts.append(f"{found.in_flight:,} in flight, which may be paid for")
    if found.refusals:
        parts.append(f"{len(found.refusals):,} could not be learnt, first: {found.refusals[0]}")
    if isinstance(found.failure, DeltaMemError):
        parts.append(f"then it ended: {found.failure}")
    return "; ".join(parts)


def bill_text(usage: Usage) -> str:
    """Tokens and cost in a few words."""
    tokens = usage.prompt_tokens + usage.completion_tokens
    return f"{tokens:,} tokens, {cost_text(usage)}"


def in_flight_notes(calls: int) -> list[Note]:
    """Calls that had no answer when the run ended."""
    if not calls:
        return []
    were = counted(calls, "call was", "calls were")
    return [Note(f"{were} still in flight and may be paid for; these numbers leave it out")]


def recovery_notes(usage: Usage) -> list[Note]:
    """Calls that killed runs had paid for, and that the journal states only now."""
    return [Note(f"{_unrecorded(usage)}; the journal has them now")] if usage.calls > 0 else []


def unrecorded_notes(usage: Usage) -> list[Note]:
    """The same before a run with a model has written to the bank again."""
    if usage.calls <= 0:
        return []
    return [Note(f"{_unrecorded(usage)}; the next run with a model adds them to these numbers")]


def _unrecorded(usage: Usage) -> str:
    answers = counted(usage.calls, "answer")
    return f"an earlier run ended before the journal had {answers} it paid for ({bill_text(usage)})"


def view_judging(found: JudgingReport, bank: str) -> ReportView:
    """Show what judging came to, or would take.

    Args:
        found: What it came to; of a dry run the usage alone.
        bank: What the user calls the bank.
    """
    successes = sum(each.judgement.outcome.success is True for each in found.judged)
    record: dict[str, Any] = {
        "judged": len(found.judged),
        "successes": successes,
        "failures": len(found.judged) - successes,
        "without_outcome": found.without_outcome,
        "usage": asdict(found.usage),
        "would_judge": found.would_judge,
        "judgements": [
            {
                "id": each.trajectory.id,
                "task": each.trajectory.task,
                "success": each.judgement.outcome.success,
                "reason": each.judgement.outcome.reason,
                "model": each.judgement.model,
                "cut": each.judgement.cut or None,
            }
            for each in found.judged
        ],
    }
    if found.dry_run:
        facts: dict[str, Value] = {"would judge": found.would_judge, **usage_facts(found.usage)}
        return ReportView(record, facts, [Note("nothing was sent: this was a dry run")])
    record |= {"recovered": asdict(found.recovered), "on_their_way": found.in_flight}
    counts = ("judged", "successes", "failures", "without_outcome")
    facts = {name.replace("_", " "): record[name] for name in counts} | usage_facts(found.usage)
    notes = recovery_notes(found.recovered) + in_flight_notes(found.in_flight)
    if found.judged:
        notes.append(Note(f"`deltamem extract {bank} --admit all` learns from judged episodes too"))
    elif not found.errors:
        notes.append(Note("no episode waits for an outcome"))
    return ReportView(record, facts, notes)
