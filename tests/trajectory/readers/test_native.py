"""The project's own log: what is written is read again; what is odd is mended or refused."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.errors import RecordError
from deltamem_tui.text import clean
from deltamem_tui.trajectory.logs.record import Notice
from deltamem_tui.trajectory.model import OUTCOME_SOURCES, LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers.native import from_record, to_line
from deltamem_tui.trajectory.readers.reading import read_logs
from tests.effort import examples
from tests.trajectory.readers.samples import only, readings

SECRET = "sk-" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7xC0uF"

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
    found = only(readings(tmp_path, orjson.dumps(record) + b"\n", "log.jsonl"))
    assert found.outcome == outcome
    # What a bank keeps is not judged anew.
    assert from_record(record).outcome.success == told.get("success")


@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        ("success", Outcome(True, None, "stated")),
        ("failed", Outcome(False, None, "stated")),
        (False, Outcome(False, None, "stated")),
        (0.5, Outcome(False, 0.5, "stated")),
        ("done", Outcome(reason="`outcome` says done, neither a verdict nor a reward")),
    ],
)
def test_an_outcome_in_a_word(tmp_path: Path, told: object, outcome: Outcome) -> None:
    record = {"task": "t", "steps": [{"action": "a"}], "outcome": told}
    assert only(readings(tmp_path, orjson.dumps(record), "log.jsonl")).outcome == outcome


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"task": ""}, "no task"),
        ({"task": 3}, "task`: Expected `str`"),
        ({"steps": []}, "no steps"),
        ({"steps": None}, "no list under `steps`"),
        ({"steps": ["look"]}, "step 1: Expected `object`"),
        ({"steps": [{"action": "a"}, {"action": 1}]}, "step 2, `action`"),
        ({"steps": [{"action": "a", "reward": True}]}, "reward`: Expected `float"),
        ({"outcome": "success"}, "outcome`: Expected `object`"),
        ({"outcome": {"success": "yes"}}, "outcome.success"),
        ({"outcome": {"success": True, "source": "rumour"}}, "outcome.source"),
        ({"outcome": {"success": True, "reward": 2}}, "reward of 2"),
        ({"metadata": {"n": 1}}, r"metadata\[\.\.\.\]`: Expected `str`"),
        ({"source": {"file": 1}}, "source.file`: Expected `str`"),
        ({"outcome": {"reason": []}}, "outcome.reason`: Expected `str`"),
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


STEP = {"action": "look", "observation": "a room"}
FINE = {"task": "t", "steps": [STEP], "outcome": {"success": True}}


# What a step may be in a log that another program wrote, or a person.
odd_values: st.SearchStrategy[object] = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.just([]) | st.just(" ")
)
step_values = {
    "thought": st.sampled_from(["", "Where?", "\x1b[1mWhere", "schön"]) | odd_values,
    "action": st.sampled_from(["look", "go\tin", f"login {SECRET}", "", "\x07"]) | odd_values,
    "observation": st.sampled_from(["", "a stove", "a\r\nb", "mail ada@example.org"]) | odd_values,
    "reward": st.sampled_from([0.0, -0.0, 0.5, 1e17, 1e-7, 1, 10**30]) | odd_values,
    "note": st.just("of a later version"),
}


@st.composite
def odd_steps(draw: st.DrawFn) -> dict[str, object]:
    """A step with some keys in some order, most of the time with those that it needs."""
    needed = [] if draw(st.integers(0, 9)) == 0 else ["action", "observation"]
    keys = dict.fromkeys(needed + draw(st.lists(st.sampled_from(sorted(step_values)), max_size=3)))
    plain = {"thought": "Hm.", "action": "look", "observation": "a stove", "reward": 0.25}
    return {
        key: plain[key] if key in plain and draw(st.integers(0, 4)) else draw(step_values[key])
        for key in draw(st.permutations(list(keys)))
    }


odd_records = st.fixed_dictionaries(
    {
        "task": st.sampled_from(["heat an egg", "heat an egg", f"use {SECRET}", " "]),
        "steps": st.lists(odd_steps(), max_size=4),
    },
    optional={
        "id": st.sampled_from(["run-7", "0123456789abcdef", "", None]),
        "environment": st.sampled_from(["", "A kitchen.", "A\x00 kitchen.", None]),
        "outcome": st.fixed_dictionaries(
            {},
            optional={
                "success": st.sampled_from([True, False, None, 1]),
                "reward": st.sampled_from([0.0, -0.0, 0, 0.5, 1, 1.0, 2.0, None]),
                "source": st.sampled_from(["stated", "judge", "user", "unknown", "", "nobody"]),
                "reason": st.sampled_from(["", "won", "\x1b[1mwon", "psk = hunter22", None]),
            },
        ),
        "source": st.fixed_dictionaries(
            {},
            optional={
                "file": st.sampled_from(["", "old.jsonl", "\x1b[1mold"]),
                "position": st.sampled_from(["", "line 9", "9\x07"]),
                "format": st.sampled_from(["", "react", "x@y.org"]),
            },
        ),
        "domain": st.sampled_from(["", "web", "of ada@example.org", None]),
        "metadata": st.sampled_from([{}, {"trial": "1"}, {"game": "Pick-None-Desk-307"}])
        | st.sampled_from([{"author": "ada@example.org"}, {"ada@example.org": "1"}, {"id": "7"}])
        | st.sampled_from([{"psk": "hunter22"}, {"note": "zip -P hunter22 a.zip"}]),
        "agent": st.sampled_from(["", "bot", "Böt", "ada@example.org"]),
        "extra": st.just({"later": 1}),
    },
)


@given(st.lists(odd_records, min_size=1, max_size=5), st.booleans())
@examples(100, one_folder=True)
def test_whatever_is_read_is_stored_and_read_again_as_it_is(
    tmp_path: Path, records: list[dict[str, object]], escaped: bool
) -> None:
    log = tmp_path / "log.jsonl"
    # JSON has many spellings: escapes for letters, and blanks between its parts.
    log.write_text("".join(json.dumps(each, ensure_ascii=escaped) + "\n" for each in records))
    found = list(read_logs([log], format="native"))
    assert len([each for each in found if not isinstance(each, Notice)]) == len(records)
    for each in found:
        if isinstance(each, Trajectory):
            line = to_line(each)
            assert orjson.loads(line) == each.record()
            assert from_record(orjson.loads(line)) == each
