"""What a round of a batch came to, beside what was learnt in it."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

from deltamem_tui.memory.reports.view import ReportNote, ReportView
from deltamem_tui.memory.runs.batches import AnswersReport
from deltamem_tui.text import counted


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
