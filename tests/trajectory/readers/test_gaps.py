"""Rows that cannot be read: what stands after them is never taken for an answer before them."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.limits import Limits
from deltamem_tui.trajectory.model import Outcome, Step
from deltamem_tui.trajectory.readers import read_logs
from tests.trajectory.readers.log_files import episodes, readings, refusals
from tests.trajectory.readers.sample import dumped
from tests.trajectory.readers.web_samples import WEBSHOP_HUMAN

EITHER = Outcome(reason="a score of 1, which may be all or one point of a hundred")


def recording(*scores: float, done: bool = False) -> list[bytes]:
    rows = [
        {"observation": f"saw {n}", "userInput": f"do {n}", "score": score, "taskDescription": "t",
         "isCompleted": done and n == len(scores)}
        for n, score in enumerate(scores, 1)
    ]  # fmt: skip
    return [dumped(row) for row in rows]


def test_a_recording_ends_at_a_row_that_is_broken(tmp_path: Path) -> None:
    first, second, third, fourth, fifth = recording(0, 0.1, 0.2, 0.5, 1.0)
    broken = b'{"observation": "saw 3", "userInput": tru}'
    log = b"\n".join([first, second, broken, fourth, fifth])
    found = readings(tmp_path, log)
    (episode,) = episodes(found)
    assert episode.steps == (Step("do 1", "saw 2"), Step("do 2"))
    assert episode.outcome == Outcome(reason="the recording breaks off")
    assert [told.position for told in refusals(found)] == ["line 3", "line 4"]
    assert third not in log


def test_a_recording_cut_after_all_was_done_keeps_its_score(tmp_path: Path) -> None:
    log = b"\n".join([*recording(0, 0.5, 1.0, done=True), b'{"observation": "sa'])
    (episode,) = episodes(readings(tmp_path, log))
    assert episode.outcome == Outcome(True, 1.0, "stated")


def test_a_visit_ends_at_a_page_that_is_broken(tmp_path: Path) -> None:
    pages = WEBSHOP_HUMAN.data.splitlines()
    whole = WEBSHOP_HUMAN.episodes[0]
    found = readings(tmp_path, b"\n".join([*pages[:4], pages[4][:-20], *pages[5:], *pages]))
    first, *_ = episodes(found)
    assert first.steps == whole.steps[:2]
    assert first.outcome == Outcome()
    told = [refusal.position for refusal in refusals(found)]
    assert told[:3] == ["line 5", "line 6", "line 7"]


@pytest.mark.parametrize(
    ("scores", "done", "outcome"),
    [
        (["0", "1"], "false", EITHER),
        (["0", "1"], "true", Outcome(True, 1.0, "stated")),
        (["0.0", "1.0"], "false", Outcome(True, 1.0, "stated")),
        (["0.5", "1"], "false", Outcome(True, 1.0, "stated")),
        ([0, 1], "false", EITHER),
        ([0.0, 1.0], "false", Outcome(True, 1.0, "stated")),
        (["1", "3"], "false", Outcome(False, 0.03, "stated")),
        (["1", "0"], "false", Outcome(False, 0.0, "stated")),
        (["3", "1"], "false", Outcome(False, 0.01, "stated")),
    ],
)  # fmt: skip
def test_one_point_is_not_the_whole(
    tmp_path: Path, scores: list[object], done: str, outcome: Outcome
) -> None:
    rows = [
        {"action": f"do {n}", "observation": "o", "score": score, "isCompleted": "false"}
        for n, score in enumerate(scores)
    ]
    rows[-1]["isCompleted"] = done
    history = {"taskDescription": "boil", "taskName": "b", "variationIdx": 0, "history": rows}
    (found,) = episodes(readings(tmp_path, dumped({"0": {"history": history}})))
    assert found.outcome == outcome


def test_a_recording_is_bounded_in_length(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"\n".join(recording(*[0.0] * 100)))
    (told,) = read_logs([path], limits=Limits(record_bytes=400))
    assert isinstance(told, RecordError)
    assert "a recording of more than 400 bytes" in told.message
    assert told.position
