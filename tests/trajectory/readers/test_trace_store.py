"""What is trace_store of traces comes back as it was, and is not held in memory meanwhile."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import SpooledTemporaryFile

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.errors import TrajectoryError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import DEFAULT_LIMITS, LogLimits
from deltamem_tui.trajectory.readers import read_logs, trace_store
from deltamem_tui.trajectory.readers.reader import Reading
from deltamem_tui.trajectory.readers.sessions import Records, whole_log
from deltamem_tui.trajectory.readers.trace_store import TraceStore

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def put(parts: TraceStore, trace: str, position: str, part: object) -> None:
    assert not [*parts.add(trace, position, part)]


@given(st.lists(st.tuples(st.sampled_from("abc"), JSON), max_size=12))
def test_traces_come_back_in_order_with_their_parts_in_order(
    given_parts: list[tuple[str, object]],
) -> None:
    with closing(TraceStore(DEFAULT_LIMITS)) as parts:
        for number, (trace, part) in enumerate(given_parts, 1):
            put(parts, trace, f"line {number}", part)
        found = list(parts.traces())
    names = list(dict.fromkeys(trace for trace, _ in given_parts))
    first = {trace: i for i, (trace, _) in reversed([*enumerate(given_parts, 1)])}
    assert found == [
        (name, f"line {first[name]}", [part for trace, part in given_parts if trace == name])
        for name in names
    ]


@pytest.mark.parametrize("part", [float("inf"), 2**64 - 1, "\ud800", "\u2028", {"": [{}]}])
def test_what_is_hardly_json_comes_back_too(part: object) -> None:
    with closing(TraceStore(DEFAULT_LIMITS)) as parts:
        put(parts, "a", "line 1", part)
        assert [*parts.traces()] == [("a", "line 1", [part])]


def test_memory_does_not_grow_with_what_is_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_store, "MOST_IN_MEMORY", 100_000)
    small, large = peak(100), peak(2_000)
    assert large < 1.5 * small


def peak(count: int) -> int:
    """The most memory while traces of ten parts are trace_store and given, the parts far apart."""
    tracemalloc.start()
    try:
        with closing(TraceStore(DEFAULT_LIMITS)) as parts:
            for number in range(count):
                put(parts, str(number % (count // 10)), "line 1", "x" * 10_000)
            assert all(found == ["x" * 10_000] * 10 for _, _, found in parts.traces())
            return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_trace_that_is_too_large_is_dropped_and_told_once() -> None:
    with closing(TraceStore(LogLimits(session_bytes=5_000))) as parts:
        put(parts, "b", "line 1", "y")
        told = [error for i in range(9) for error in parts.add("a", f"line {i + 2}", "x" * 1000)]
        assert [(each.position, each.message) for each in told] == [
            ("line 5", "a trace of more than 4.88 KB")
        ]
        assert [*parts.traces()] == [("b", "line 1", ["y"])]


class FullDisk(SpooledTemporaryFile[bytes]):
    def write(self, data: object, /) -> int:
        raise OSError(28, "No space left on device")


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_store, "SpooledTemporaryFile", FullDisk)
    with (
        closing(TraceStore(DEFAULT_LIMITS)) as parts,
        pytest.raises(TrajectoryError, match=r"No space left on device .*make room"),
    ):
        put(parts, "a", "line 1", "x")


def test_what_was_refused_before_the_disk_was_full_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_store, "SpooledTemporaryFile", FullDisk)
    path = tmp_path / "traces.jsonl"
    span = {"name": "run", "trace_id": "t", "attributes": {}}
    path.write_bytes(b"{broken\n" + orjson.dumps(span))
    told, last = map(str, read_logs([path], format="otel"))
    assert "line 1: not JSON" in told
    assert "No space left on device" in last


def test_what_was_refused_before_a_reader_gave_up_is_told(tmp_path: Path) -> None:
    def gather(records: Records) -> Iterator[Reading]:
        yield from ()
        assert [*records] == []
        raise TrajectoryError("the disk is full")

    path = tmp_path / "log.jsonl"
    path.write_bytes(b"{broken\n")
    found = whole_log(gather)(Log(path.name, path))
    assert "line 1: not JSON" in str(next(found))
    with pytest.raises(TrajectoryError, match="the disk is full"):
        next(found)


def test_names_and_places_count_as_held() -> None:
    """Traces of one part, and one trace of many: what tells where they lie is not for nothing."""
    limits = LogLimits(session_bytes=100_000)
    with closing(TraceStore(limits)) as many:
        told = [error for i in range(200) for error in many.add(f"{i:0300}", f"line {i + 1}", 0)]
        assert [each.position for each in told] == [f"line {100_000 // (500 + 16 + 349) + 1}"]
    with closing(TraceStore(LogLimits(session_bytes=1_000))) as none:
        assert [each.position for each in none.add("n" * 900, "line 1", 0)] == ["line 1"]
