"""Reports of learning and judging, done or planned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.reports.view import ReportNote, ReportView, Value, cost_text, usage_facts
from deltamem_tui.memory.runs.batches import AnswersReport
from deltamem_tui.memory.runs.judging import JudgingReport
from deltamem_tui.memory.runs.learning import LearningReport
from deltamem_tui.text import counted


def view_learning(
    found: LearningReport,
    *,
    episodes: int,
    waiting: int,
    not_admitted: int = 0,
    without_scene: int = 0,
    draws: bool = False,
    dry_run: bool = False,
    titles: Mapping[str, str] = MappingProxyType({}),
) -> ReportView:
    """Show what learning from the waiting episodes came to, or would take.

    Of a dry run, `found` has the usage alone. `titles` has what each collection is called.
    `not_admitted` counts the episodes that the policy kept out, `without_scene` those that have
    no scene that a model could draw.
    """
    record = {
        **_lesson_counts(found, titles),
        "would_learn": episodes if dry_run else 0,
        "waiting": waiting,
        "not_admitted": not_admitted,
        "usage": asdict(found.usage),
        "wasted": asdict(found.wasted),
        "scenes_drawn": found.scenes_drawn,
        "would_draw": without_scene if dry_run and draws else 0,
        "without_scene": 0 if draws else without_scene,
        "on_their_way": found.in_flight,
        "calibrated": {
            each.tree: {"threshold": each.proposed, "questions": each.questions}
            for each in found.calibrated
        },
    }
    facts = _foreseen_facts(record) if dry_run else _learning_facts(record, titles)
    asked = bool(found.usage.calls or found.usage.cached)
    notes = [*_learning_notes(found, record, episodes)]
    if dry_run and episodes:
        nothing = "sent or written: calls, tokens and cost are an estimate"
        notes.append(
            ReportNote("nothing was " + (nothing if asked else "written; the rules are free"))
        )
    summary = _learning_summary(found, record)
    facts |= usage_facts(found.usage) if asked else {}
    return ReportView(record, facts, notes=notes, summary=summary)


def _lesson_counts(found: LearningReport, collections: Iterable[str]) -> dict[str, Any]:
    """Return what the lessons came to, without episodes that another process learnt first."""
    new = [lesson for lesson in found.lessons if lesson.new]
    nodes = Counter(dict.fromkeys(collections, 0))
    consolidated = skipped = 0
    for lesson in new:
        nodes.update(lesson.written)
        skipped += not lesson.written
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
    return {"would learn": record["would_learn"], **scenes, "episodes waiting": record["waiting"]}


def _learning_facts(record: Mapping[str, Any], titles: Mapping[str, str]) -> dict[str, Value]:
    nodes = record["nodes_written"]
    optional = {
        "learnt by another process meanwhile": record["learned_elsewhere"],
        "scenes drawn": record["scenes_drawn"],
        "chains consolidated": record["consolidated"],
    }
    return {
        "episodes learnt": record["learned"],
        "of these, nothing new to write": record["skipped"],
        "episodes waiting": record["waiting"],
        **{f"nodes written, {titles.get(name, name)}": count for name, count in nodes.items()},
        **{name: count for name, count in optional.items() if count},
    }


def _learning_notes(
    found: LearningReport, record: Mapping[str, Any], episodes: int
) -> Iterator[ReportNote]:
    if not episodes:
        yield ReportNote("no episode with a known outcome waits; `deltamem import` brings some")
    if found.calibrated:
        trees = ", ".join(
            f"{each.tree} {each.proposed:g} ({counted(each.questions, 'different question')})"
            for each in found.calibrated
        )
        hint = "`deltamem bank parameters` sets others"
        yield ReportNote(f"thresholds were calibrated on the bank's first episodes: {trees}", hint)
    if count := record["not_admitted"]:
        wait = counted(count, "episode waits", "episodes wait")
        yield ReportNote(f"{wait} because of the source of the outcome", "see `--admit`")
    if count := record["without_scene"]:
        lack = counted(count, "episode has", "episodes have")
        hint = "`--draw-scenes` has the model look for it in the task"
        yield ReportNote(f"{lack} no scene, so nothing is learnt of where they were", hint)
    if found.wasted.calls > 0:
        yet = " yet" if found.refusals or found.failure else ""
        bill = bill_text(found.wasted)
        yield ReportNote(f"{counted(found.wasted.calls, 'call')} not used{yet}: {bill}")
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


def in_flight_notes(calls: int) -> list[ReportNote]:
    """Return notes on calls that had no answer when the run ended."""
    if not calls:
        return []
    were = counted(calls, "call was", "calls were")
    return [ReportNote(f"{were} still in flight and may be paid for; these numbers leave it out")]


def view_judging(found: JudgingReport, bank: str) -> ReportView:
    """Show what judging came to, or would take."""
    successes = sum(each.word.success is True for each in found.judged)
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
                "success": each.word.success,
                "reason": each.word.reason,
                "model": each.call.model,
                "cut": each.call.cut or None,
            }
            for each in found.judged
        ],
    }
    if found.dry_run:
        facts: dict[str, Value] = {"would judge": found.would_judge, **usage_facts(found.usage)}
        return ReportView(record, facts, notes=[ReportNote("nothing was sent: this was a dry run")])
    record["on_their_way"] = found.in_flight
    counts = ("judged", "successes", "failures", "without_outcome")
    facts = {name.replace("_", " "): record[name] for name in counts} | usage_facts(found.usage)
    notes = in_flight_notes(found.in_flight)
    if found.judged:
        notes.append(
            ReportNote(f"`deltamem extract {bank} --admit all` learns from judged episodes too")
        )
    elif not found.errors:
        notes.append(ReportNote("no episode waits for an outcome"))
    return ReportView(record, facts, notes=notes)


def with_batch(view: ReportView, path: Path, asked: int, taken: AnswersReport) -> ReportView:
    """Add to a report how many questions a file of requests has, and what became of answers."""
    record = {
        "file": str(path),
        "asked": asked,
        "answers_taken": taken.taken,
        "answers_before": taken.before,
        "usage": asdict(taken.usage),
    }
    facts = {"answers taken": taken.taken, "questions asked": asked}
    note = ReportNote("every question is answered")
    if asked:
        hint = "have them answered, and run this again with `--answers RESULTS`"
        note = ReportNote(f"{counted(asked, 'question waits', 'questions wait')} in {path}", hint)
    if taken.before:
        was = counted(taken.before, "answer was", "answers were")
        note = ReportNote(f"{was} here before and cost nothing; {note.text}", note.hint)
    return replace(
        view,
        record={**view.record, "batch": record},
        facts={**view.facts, **facts},
        notes=[*view.notes, note],
    )
