"""Evaluations of Inspect, as one file and as an archive."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.limits import LogLimits
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers import read_logs
from tests.trajectory.readers.agent_logs import INSPECT, INSPECT_ARCHIVE
from tests.trajectory.readers.samples import (
    Json,
    archive,
    episode,
    episodes,
    pretty,
    readings,
    refusals,
)

STEPS = (Step("ls", "a.py", "Look first."), Step("Fixed."))


def inspect_episode(name: str, position: str, trial: str, *, success: bool) -> Trajectory:
    return Trajectory(
        task="Fix the parser.",
        environment="Answer briefly.",
        steps=STEPS,
        outcome=Outcome(success, None, "stated", "compared"),
        source=LogSource(name, position, "inspect-ai"),
        agent="some/model",
        metadata={"id": "calc-7", "trial": trial, "task_type": "calc"},
    )


def test_inspect_epochs_stay_apart(tmp_path: Path) -> None:
    assert readings(tmp_path, pretty(INSPECT)) == [
        inspect_episode("log.json", "record 1, sample 1", "1", success=True),
        inspect_episode("log.json", "record 1, sample 2", "2", success=False),
    ]


def test_inspect_archive_is_read_in_the_order_of_its_numbers(tmp_path: Path) -> None:
    assert readings(tmp_path, archive(INSPECT_ARCHIVE), "log.eval") == [
        inspect_episode("log.eval", "samples/calc-7_epoch_2.json", "1", success=True),
        inspect_episode("log.eval", "samples/calc-7_epoch_10.json", "2", success=False),
    ]


@pytest.mark.parametrize("odd", ["9" * 5000, "1²2", "²", "٣"])
def test_inspect_archive_with_odd_numbers_in_its_names(tmp_path: Path, odd: str) -> None:
    samples = [value for name, value in INSPECT_ARCHIVE.items() if name.startswith("samples/")]
    content = archive({**INSPECT_ARCHIVE, f"samples/{odd}.json": samples[0]})
    assert len(episodes(readings(tmp_path, content, "log.eval"))) == len(samples) + 1


@pytest.mark.parametrize(
    ("scores", "outcome"),
    [
        ({"match": {"value": 0.75}}, Outcome(False, 0.75, "stated")),
        ({"match": {"value": "1.0"}}, Outcome(True, 1.0, "stated")),
        ({"match": {"value": True}}, Outcome(True, None, "stated")),
        ({"match": {"value": "N"}}, Outcome(False, None, "stated")),
        ({"match": {"value": "P"}}, Outcome(False, 0.5, "stated")),
        (
            {"match": {"value": 7}},
            Outcome(reason="`match` says 7, neither a verdict nor a reward"),
        ),
        ({"a": {"value": "C"}, "b": {"value": "C"}}, Outcome(True, None, "stated")),
        (
            {"a": {"value": "C"}, "b": {"value": "I"}},
            Outcome(reason="its scores disagree: a C, b I"),
        ),
        ({"a": {"value": {"x": 1, "y": 1}}}, Outcome(True, 1.0, "stated")),
        ({}, Outcome()),
        (None, Outcome()),
    ],
)  # fmt: skip
def test_inspect_scores(tmp_path: Path, scores: object, outcome: Outcome) -> None:
    sample: Json = {**INSPECT["samples"][0], "scores": scores}  # type: ignore[index]
    assert episode(tmp_path, pretty({**INSPECT, "samples": [sample]})).outcome == outcome


def test_inspect_sample_that_broke_down_has_no_verdict(tmp_path: Path) -> None:
    sample: Json = {**INSPECT["samples"][0], "scores": {}, "error": {"message": "timed out"}}  # type: ignore[index]
    found = episode(tmp_path, pretty({**INSPECT, "samples": [sample]}))
    assert found.outcome == Outcome(reason="timed out")


@pytest.mark.parametrize(
    "score",
    [
        {"model_graded_qa": {"value": "C"}},
        {"inspect_ai/model_graded_fact": {"value": "C"}},
        {"my_grader": {"value": "C", "metadata": {"grading": [{"role": "user", "content": "?"}]}}},
    ],
)
def test_inspect_grade_of_a_model_is_a_judgement(tmp_path: Path, score: Json) -> None:
    sample: Json = {**INSPECT["samples"][0], "scores": score}  # type: ignore[index]
    judged = episode(tmp_path, pretty({**INSPECT, "samples": [sample]}))
    assert judged.outcome == Outcome(True, None, "judge")
    checked = {**sample, "scores": {**score, "match": {"value": "I"}}}
    found = episode(tmp_path, pretty({**INSPECT, "samples": [checked]}))
    assert found.outcome == Outcome(False, None, "stated")


def test_inspect_attachments_do_not_multiply_beyond_what_a_record_may_hold(tmp_path: Path) -> None:
    name = "b" * 32
    content = f"attachment://{name} " * 50
    sample: Json = {
        "id": 1,
        "input": "Fix it.",
        "attachments": {name: "x" * 1000},
        "messages": [
            {"role": "user", "content": "Fix it."},
            {"role": "assistant", "content": content},
        ],
    }
    path = tmp_path / "log.json"
    path.write_bytes(pretty({**INSPECT, "samples": [sample]}))
    (whole,) = read_logs([path], limits=LogLimits(record_bytes=50_000))
    assert isinstance(whole, Trajectory)
    assert len(whole.steps[0].action) == 50 * 1001 - 1
    (told,) = read_logs([path], limits=LogLimits(record_bytes=49_999))
    assert isinstance(told, RecordError)
    assert "a sample with all its attachments in their places of more than" in told.message
    assert told.position == "record 1, sample 1"


def test_inspect_without_samples_is_refused(tmp_path: Path) -> None:
    (told,) = refusals(readings(tmp_path, pretty({**INSPECT, "samples": []})))
    assert "an evaluation without samples" in str(told)
