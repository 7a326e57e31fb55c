"""Parts of traces come back as they were, are not held in memory, and are bounded."""

from __future__ import annotations

import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.record import DEFAULT_LIMITS, LogLimits
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers import read_logs
from deltamem_tui.trajectory.readers.traces import TraceStore

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False)
    | st.text()
    | st.sampled_from(["\ud800", "\u2028", 2**64]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "\ud800"]), JSON), max_size=12))
def test_traces_come_back_in_order_with_their_parts_in_order(
    given_parts: list[tuple[str, object]],
) -> None:
    with closing(TraceStore(DEFAULT_LIMITS)) as parts:
        for number, (trace, part) in enumerate(given_parts, 1):
            assert not [*parts.add(trace, f"line {number}", part)]
        found = list(parts.traces())
    first = {trace: i for i, (trace, _) in reversed([*enumerate(given_parts, 1)])}
    assert found == [
        (name, f"line {first[name]}", [part for trace, part in given_parts if trace == name])
        for name in dict.fromkeys(trace for trace, _ in given_parts)
    ]


def test_memory_does_not_grow_with_what_is_gathered() -> None:
    small, large = peak(100), peak(2_000)
    assert large < 1.5 * small


def peak(count: int) -> int:
    """The most memory while traces of ten parts are stored and given, the parts far apart."""
    tracemalloc.start()
    try:
        with closing(TraceStore(DEFAULT_LIMITS)) as parts:
            for number in range(count):
                assert not [*parts.add(str(number % (count // 10)), "line 1", "x" * 10_000)]
            assert all(found == ["x" * 10_000] * 10 for _, _, found in parts.traces())
            return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_full_disk_is_told_and_what_was_refused_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect

    def small(*args: Any, **named: Any) -> sqlite3.Connection:
        disk: sqlite3.Connection = connect(*args, **named)
        disk.execute("PRAGMA max_page_count = 6")
        return disk

    monkeypatch.setattr("deltamem_tui.trajectory.readers.traces.sqlite3.connect", small)
    path = tmp_path / "traces.jsonl"
    span = {"name": "run", "trace_id": "t", "attributes": {"x": "x" * 50_000}}
    path.write_bytes(b"{broken\n" + orjson.dumps(span))
    told, last = map(str, read_logs([path], format="otel"))
    assert "line 1: not JSON" in told
    assert "database or disk is full (make room" in last


SPAN = (
    '{{"traceId": "{0}", "name": "run", "startTimeUnixNano": "{1}", "attributes":'
    ' {{"input.value": "Do it.", "tool.name": "ls", "output.value": "{2}"}}}}\n'
)


def read(tmp_path: Path, log: str, **limits: int) -> list[Any]:
    path = tmp_path / "traces.jsonl"
    path.write_text(log)
    return list(read_logs([path], format="otel", limits=LogLimits(**limits)))


def test_once_there_is_no_room_traces_that_begin_or_go_on_are_left_out(tmp_path: Path) -> None:
    first = [SPAN.format(f"{i:032}", "1", "x" * 1000) for i in range(20)]
    log = "".join([*first, SPAN.format(f"{2:032}", "2", "x")])
    full, *found = read(tmp_path, log, piped_bytes=10_000)
    assert "line 9: traces of more than 9.77 KB: those that begin or go on from" in str(full)
    assert [int(each.metadata["id"]) for each in found] == [0, 1, 3, 4, 5, 6, 7]


def test_a_trace_that_is_too_large_is_dropped_and_told_once(tmp_path: Path) -> None:
    spans = [SPAN.format("ab"[i > 5], str(i), "x" * 1000) for i in range(7)]
    refused, other = read(tmp_path, "".join(spans), session_bytes=5_000)
    assert "line 5: a trace of more than 4.88 KB" in str(refused)
    assert other.metadata["id"] == "b"


@pytest.mark.parametrize("name", ["x" * 301, {"a": 1}, ["x"], 1.5])
def test_names_of_traces_that_are_none_are_refused(tmp_path: Path, name: object) -> None:
    span = orjson.loads(SPAN.format("a", "1", "x"))
    log = orjson.dumps({**span, "traceId": name}) + b"\n" + orjson.dumps(span)
    stray, found = read(tmp_path, log.decode())
    assert isinstance(stray, RecordError)
    assert "a span without a trace id of up to 300" in str(stray)
    assert isinstance(found, Trajectory)


RUN: dict[str, object] = {"run_type": "tool", "name": "ls", "inputs": {"input": "."}}


def test_a_run_is_not_written_with_all_that_called_it(tmp_path: Path) -> None:
    """Neither with its long id once for each child, nor with its children once for each level."""
    path = tmp_path / "runs.json"
    long = {**RUN, "id": "x" * 1_000_000, "child_runs": [RUN] * 1000}
    path.write_bytes(orjson.dumps([{**RUN, "id": "r"}, long]))
    (stray, *_) = read_logs([path], format="langsmith", limits=LogLimits(piped_bytes=2_000_000))
    assert "a run whose trace or id is not a text of up to 300 characters" in str(stray)
    deep: dict[str, object] = {**RUN, "id": "d", "name": "x" * 1000}
    for number in range(100):
        deep = {**RUN, "id": f"d{number}", "child_runs": [deep], "name": "x" * 1000}
    path.write_bytes(orjson.dumps([{**deep, "inputs": {"input": "Do it."}}]))
    limits = LogLimits(piped_bytes=2 * path.stat().st_size)
    (found,) = read_logs([path], format="langsmith", limits=limits)
    assert isinstance(found, Trajectory)
    assert len(found.steps) == 101


def test_a_long_name_over_many_attributes_is_not_made_many_long_names(tmp_path: Path) -> None:
    """250 KB of JSON whose names in full would be 400 MB."""
    span = orjson.loads(SPAN.format("a", "1", "x"))
    names = {"k" * 20_000: {str(number): 1 for number in range(20_000)}}
    event = {"name": "e", "attributes": names}
    bomb = {**span, "attributes": {**span["attributes"], **names}, "events": [event]}
    tracemalloc.start()
    try:
        (found,) = read(tmp_path, orjson.dumps(bomb).decode())
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()
    assert isinstance(found, Trajectory)
