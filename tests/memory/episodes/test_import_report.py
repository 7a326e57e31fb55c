"""What an import came to, as data and text."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from deltamem_tui.memory.episodes.import_report import (
    Arrival,
    EpisodeImport,
    ImportReport,
    view_import,
)
from deltamem_tui.trajectory.model import LogSource, Outcome, Trajectory


def report(outcomes: Iterable[Outcome]) -> ImportReport:
    found = ImportReport()
    for outcome in outcomes:
        read = Trajectory("heat it", outcome=outcome, source=LogSource("log.jsonl"))
        arrival = Arrival(read, b"")
        found.add(EpisodeImport(arrival, "imported", outcome))
    return found


def test_a_dry_run_says_what_it_would_do() -> None:
    found = report([Outcome()])
    found.dry_run = True
    view = view_import(found)
    assert view.facts["would be imported"] == view.record["imported"] == 1
    assert view.summary.startswith("would import 1 episode")
    assert any("would import 1 episode" in note.text for note in view.notes)


@pytest.mark.parametrize(("count", "text"), [(1, "1 episode has no"), (2, "2 episodes have no")])
def test_episodes_without_an_outcome_wait(count: int, text: str) -> None:
    view = view_import(report([Outcome()] * count))
    (note,) = view.notes
    assert note.text.startswith(text)
    assert "--outcome" in note.hint
    assert note.text in view.summary
    assert note.hint not in view.summary  # it is of the command line
    assert view.facts["imported"] == view.record["imported"] == count
