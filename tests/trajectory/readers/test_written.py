"""A native record goes the short way or the long way into a bank: the bytes are the same."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deltamem_tui.errors import RecordError
from deltamem_tui.memory.episodes.intake import Redaction, take_in
from deltamem_tui.trajectory.logs.limits import DEFAULT_LIMITS, Limits
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcomes import decided
from deltamem_tui.trajectory.readers import from_record, read_logs, to_line, to_record
from deltamem_tui.trajectory.readers.reading import read_written
from deltamem_tui.trajectory.readers.written import Written, written, written_at_once
from deltamem_tui.trajectory.redaction import NOTHING, redact
from tests.bank.support import file_bytes
from tests.memory.support import new_bank
from tests.trajectory.readers.test_native import trajectories

PLACE = LogSource("log.jsonl", "line 1")
SECRET = "sk-" + "Ab3" * 16
PLAIN = Trajectory(
    "heat an egg",
    "A kitchen.",
    (Step("open fridge", "It is\nopen.", "Where is it?", 0.5), Step("take egg", "")),
    Outcome(None, 1.0, "stated"),
    LogSource("old.jsonl", "line 3", "rollout"),
    domain="alfworld",
    metadata={"trial": "1"},
)


@given(trajectories, st.sampled_from([0.5, 1.0]))
@example(PLAIN, 1.0)
def test_the_short_way_ends_where_the_long_one_does(found: Trajectory, success_at: float) -> None:
    record = orjson.loads(to_line(found))
    short = written_at_once(record, PLACE, success_at, DEFAULT_LIMITS)
    if short is None:
        return
    again = from_record(record)
    long = again.with_outcome(decided(again.outcome, success_at))
    assert redact(long, personal=True) == (long, NOTHING)
    assert short == written(long, long.source)


def test_a_plain_record_goes_the_short_way() -> None:
    short = written_at_once(to_record(PLAIN), PLACE, 1.0, DEFAULT_LIMITS)
    assert short is not None
    assert (short.id, short.steps, short.outcome) == (PLAIN.id, 2, Outcome(True, 1.0, "stated"))
    assert short.line == to_line(PLAIN.with_outcome(short.outcome))


def test_a_record_that_came_from_nowhere_is_from_this_log() -> None:
    record = to_record(PLAIN) | {"source": {}}
    short = written_at_once(record, PLACE, 1.0, DEFAULT_LIMITS)
    assert short is not None
    assert short.source == LogSource("log.jsonl", "line 1", "native")


STEP = {"action": "a", "observation": "b"}


@pytest.mark.parametrize(
    "change",
    [
        {"task": " "},
        {"task": 3},
        {"task": "t\x1b[31m"},
        {"task": "t\x7f"},
        {"task": "täsk"},
        {"task": f"use {SECRET}"},
        {"task": "password=hunter2!"},
        {"task": "ask ada@example.org"},
        {"environment": ["x"]},
        {"steps": []},
        {"steps": {}},
        {"steps": [STEP, "look"]},
        {"steps": [STEP, ["action", "observation"]]},
        {"steps": [{"action": "a"}]},
        {"steps": [STEP | {"action": " "}]},
        {"steps": [STEP | {"action": 1}]},
        {"steps": [STEP | {"observation": None}]},
        {"steps": [STEP | {"thought": ["x"]}]},
        {"steps": [STEP | {"reward": 1}]},
        {"steps": [STEP | {"reward": True}]},
        {"steps": [STEP | {"reward": float("nan")}]},
        {"steps": [STEP | {"observation": "x" * 200}]},
        {"outcome": {}},
        {"outcome": {"success": "yes"}},
        {"outcome": {"success": True, "reward": 2.0}},
        {"outcome": {"success": True, "reward": float("nan")}},
        {"source": "here"},
        {"source": {"file": f"{SECRET}.jsonl"}},
        {"domain": 7},
        {"agent": f"bot {SECRET}"},
        {"metadata": {"n": 1}},
        {"metadata": {"api_key": "0123456789abcdef0123456789abcdef"}},
    ],
)
def test_what_is_odd_goes_the_long_way(change: dict[str, object]) -> None:
    record = {"task": "t", "steps": [STEP], "outcome": {"success": True}}
    limits = Limits(field_characters=300)
    assert written_at_once(record, PLACE, 1.0, limits) is not None
    assert written_at_once(record | change, PLACE, 1.0, limits) is None


@pytest.mark.parametrize("record", [None, [], "text", 3])
def test_what_is_no_record_goes_the_long_way(record: object) -> None:
    assert written_at_once(record, PLACE, 1.0, DEFAULT_LIMITS) is None


RECORDS = (
    PLAIN,
    PLAIN.with_outcome(Outcome()),
    Trajectory("t", steps=(Step("cat .env", f"KEY={SECRET}"),), outcome=Outcome(True)),
    Trajectory("schön", steps=(Step("mail ada@example.org"),), outcome=Outcome(True)),
)


@pytest.mark.parametrize("redaction", ["secrets", "personal", "off"])
def test_a_bank_gets_the_same_either_way(tmp_path: Path, redaction: Redaction) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"".join(map(to_line, RECORDS)) + b'{"task": "t", "steps": [7]}\n')
    kinds = [type(each) for each in read_written([log])]
    assert kinds == [Written, Trajectory, Trajectory, Trajectory, RecordError]
    kept, told = [], []
    for number, readings in enumerate((read_logs([log]), read_written([log]))):
        bank = new_bank(tmp_path / f"bank-{number}")
        intake = take_in(bank, readings, redaction=redaction)
        kept.append(file_bytes(bank.path)["trajectories.jsonl"])
        told.append((intake.received, [str(error) for error in intake.rejected], intake.files))
    assert kept[0] == kept[1]
    assert told[0] == told[1]
    assert (SECRET.encode() in kept[0]) == (redaction == "off")
    assert (b"ada@example.org" in kept[0]) == (redaction != "personal")


def test_other_formats_are_read_as_ever(tmp_path: Path) -> None:
    log = tmp_path / "chat.json"
    messages = [{"role": "user", "content": "Do it."}, {"role": "assistant", "content": "Done."}]
    log.write_bytes(orjson.dumps({"messages": messages, "reward": 1}))
    assert list(read_written([log])) == list(read_logs([log]))
