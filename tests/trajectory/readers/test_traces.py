"""Parts of traces may lie anywhere in a log, and what is held of them is bounded."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import orjson
import pytest

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.record import LogLimits
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.reading import read_logs

SPAN = (
    '{{"traceId": "{0}", "name": "run", "startTimeUnixNano": "{1}", "attributes":'
    ' {{"input.value": "Do it.", "tool.name": "ls", "output.value": "{2}"}}}}\n'
)


def read(tmp_path: Path, log: str, **limits: int) -> list[Any]:
    path = tmp_path / "traces.jsonl"
    path.write_text(log)
    return list(read_logs([path], format="otel", limits=LogLimits(**limits)))


def test_spans_are_held_up_to_a_limit_and_what_was_read_is_not_lost(tmp_path: Path) -> None:
    spans = [SPAN.format(f"{i % 20:032}", str(i), "x" * 1000) for i in range(40)]
    full, *found = read(tmp_path, "{x\n" + "".join(spans), session_bytes=50_000)[1:]
    assert "records that belong together of more than 48.8 KB (split the log" in str(full)
    numbers = {int(each.metadata["id"]): len(each.steps) for each in found}
    assert sum(numbers.values()) == 29
    assert [*numbers] == [*range(20)]
    whole = read(tmp_path, "".join(spans))
    assert [len(each.steps) for each in whole] == [2] * 20


@pytest.mark.parametrize("name", ["x" * 301, {"a": 1}, ["x"], 1.5])
def test_names_of_traces_that_are_none_are_refused(tmp_path: Path, name: object) -> None:
    span = orjson.loads(SPAN.format("a", "1", "x"))
    log = orjson.dumps({**span, "traceId": name}) + b"\n" + orjson.dumps(span)
    stray, found = read(tmp_path, log.decode())
    assert isinstance(stray, RecordError)
    assert "a span without a trace id of up to 300" in str(stray)
    assert isinstance(found, Trajectory)


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
