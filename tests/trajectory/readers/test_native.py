from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.errors import RecordError
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import (
    OUTCOME_SOURCES,
    LogSource,
    Outcome,
    Step,
    Trajectory,
)
from deltamem_tui.trajectory.readers import from_record, read_logs, to_line, to_record
from deltamem_tui.trajectory.readers.reading import read_written
from deltamem_tui.trajectory.readers.written import Written

texts = st.text(max_size=30).map(clean)
named = texts.filter(lambda text: bool(text.strip()))
steps = st.builds(
    Step,
    action=named,
    observation=texts,
    thought=texts,
    reward=st.none() | st.floats(allow_nan=False, allow_infinity=False),
)
outcomes = st.builds(
    Outcome,
    success=st.booleans(),
    reward=st.none() | st.floats(0, 1),
    source=st.sampled_from([each for each in OUTCOME_SOURCES if each != "unknown"]),
    reason=texts,
)
trajectories = st.builds(
    Trajectory,
    task=named,
    environment=texts,
    steps=st.lists(steps, min_size=1, max_size=4).map(tuple),
    outcome=outcomes | st.just(Outcome()),
    source=st.builds(LogSource, file=named, position=texts, format=named),
    domain=texts,
    agent=texts,
    metadata=st.dictionaries(texts, texts, max_size=3),
)


@given(trajectories)
def test_a_record_gives_back_its_trajectory(trajectory: Trajectory) -> None:
    line = to_line(trajectory)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    again = from_record(orjson.loads(line))
    assert again == trajectory
    assert again.id == trajectory.id
    assert to_line(again) == line


def test_a_file_of_them_gives_them_back(tmp_path: Path) -> None:
    written = [
        Trajectory(
            f"task {number}",
            "a room",
            (Step("look", "a door", "hm", 0.5),),
            Outcome(True, 0.5, "judge", "looked fine"),
            LogSource("other.jsonl", "line 7", "rollout"),
            metadata={"kind": "gold"},
        )
        for number in range(3)
    ]
    path = tmp_path / "episodes.jsonl"
    path.write_bytes(b"".join(map(to_line, written)))
    assert list(read_logs([path])) == written


def test_hand_written_records() -> None:
    record = {"id": "mine-1", "task": "t", "steps": [{"action": "a"}], "outcome": {"reward": 1}}
    assert from_record(record) == Trajectory(
        "t", steps=(Step("a"),), outcome=Outcome(None, 1.0, "stated"), metadata={"id": "mine-1"}
    )


@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        ({"success": True, "source": "unknown"}, Outcome(True, None, "stated")),
        ({"reward": 0.5, "source": "unknown"}, Outcome(False, 0.5, "stated")),
        ({"source": "unknown", "reason": "cut"}, Outcome(reason="cut")),
        (
            {"success": True, "reward": 0, "source": "user"},
            Outcome(reason="the log contradicts itself: success true, reward 0"),
        ),
        (
            {"success": False, "reward": 1.0},
            Outcome(reason="the log contradicts itself: success false, reward 1"),
        ),
        ({"success": False, "reward": 0.9}, Outcome(False, 0.9, "stated")),
    ],
)
def test_an_outcome_in_a_log(tmp_path: Path, told: dict[str, object], outcome: Outcome) -> None:
    record = {"task": "t", "steps": [{"action": "a", "observation": ""}], "outcome": told}
    path = tmp_path / "log.jsonl"
    path.write_bytes(orjson.dumps(record) + b"\n")
    (found,) = read_logs([path])
    assert isinstance(found, Trajectory)
    assert found.outcome == outcome
    (line,) = read_written([path])
    assert isinstance(line, Trajectory | Written)
    assert line.outcome == outcome
    # What a bank keeps is not judged anew.
    assert from_record(record).outcome.success == told.get("success")


def test_an_id_that_is_a_digest_is_not_read_back() -> None:
    record = to_record(Trajectory("t", steps=(Step("a"),)))
    record["task"] = "edited"
    assert from_record(record) == Trajectory("edited", steps=(Step("a"),))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"task": ""}, "no task"),
        ({"task": 3}, "`task` is not text"),
        ({"steps": []}, "no steps"),
        ({"steps": None}, "no list under `steps`"),
        ({"steps": ["look"]}, "step 1 is not"),
        ({"steps": [{"action": "a"}, {"action": 1}]}, "step 2: `action`"),
        ({"steps": [{"action": "a", "reward": True}]}, "`reward` is not a number"),
        ({"outcome": "success"}, "`outcome` is not a JSON object"),
        ({"outcome": {"success": "yes"}}, "outcome.success"),
        ({"outcome": {"success": True, "source": "rumour"}}, "outcome.source"),
        ({"outcome": {"success": True, "reward": 2}}, "reward of 2"),
        ({"metadata": {"n": 1}}, "`metadata.n` is not text"),
        ({"source": {"file": 1}}, "`source.file` is not text"),
        ({"outcome": {"reason": []}}, "`outcome.reason` is not text"),
    ],
)
def test_what_is_refused(change: dict[str, object], words: str) -> None:
    record = {"task": "t", "steps": [{"action": "a"}], **change}
    with pytest.raises(RecordError, match=words):
        from_record(record)


@pytest.mark.parametrize("value", [None, [], 3, "text"])
def test_what_is_no_record(value: object) -> None:
    with pytest.raises(RecordError, match="not a JSON object"):
        from_record(value)
