"""Files made to exhaust whoever reads them, at their real size: told what is wrong, and soon."""

from __future__ import annotations

import gzip
import tracemalloc
import zipfile
from pathlib import Path

import orjson
import pytest

from deltamem_tui.errors import LogFormatError, RecordError
from deltamem_tui.trajectory.logs.record import LogLimits
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers import read_logs
from deltamem_tui.trajectory.readers.reader import Reading

MB = 1_000_000
CHAT = (
    b'{"messages": [{"role": "user", "content": "Do it."},'
    b' {"role": "assistant", "content": "Done."}]}\n'
)
OTHER = CHAT.replace(b"Do it", b"Do that")


def told(reading: Reading) -> str:
    assert isinstance(reading, RecordError)
    return str(reading)


@pytest.mark.parametrize(
    "data",
    [
        b"[" * MB + b"]" * MB,
        b'{"a":' * MB + b"1" + b"}" * MB,
        b'[{"a":' * MB,
        b'{"messages": ' + b"[" * MB + b"]" * MB + b"}",
    ],
    ids=["arrays", "objects", "no-end", "messages"],
)
def test_nesting_a_million_deep(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "deep.json"
    path.write_bytes(data)
    with pytest.raises(LogFormatError, match=r"deep.json.*: JSON nested more than [\d,]+ deep"):
        list(read_logs([path]))
    (reading,) = read_logs([path], format="openai-chat")
    assert "nested more than" in told(reading)


def test_a_deep_line_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(CHAT + b'{"messages": ' + b"[" * MB + b"]" * MB + b"}\n" + OTHER)
    first, deep, last = read_logs([path])
    assert isinstance(first, Trajectory)
    assert isinstance(last, Trajectory)
    assert told(deep) == "log.jsonl, line 2: JSON nested more than 500 deep"


@pytest.mark.parametrize("depth", [480, 520, 900, 1010, 1030])
def test_the_next_file_is_read_whatever_depth_a_conversation_has(
    tmp_path: Path, depth: int
) -> None:
    """Each line repeats the one before, so that the two are compared all the way down."""
    user = b'{"role": "user", "content": "t"}, {"role": "assistant", "content": "a"}'
    deep = b'{"role": "user", "content": ' + b"[" * depth + b"]" * depth + b"}"
    last = b'{"role": "assistant", "content": "b"}'
    records = (b", ".join(parts) for parts in ([user, deep], [user, deep, last]))
    deep_lines = b"".join(b'{"messages": [' + record + b"]}\n" for record in records)
    (tmp_path / "a.jsonl").write_bytes(OTHER + deep_lines)
    (tmp_path / "b.jsonl").write_bytes(CHAT)
    first, *found, last_read = read_logs([tmp_path], format="openai-chat")
    assert isinstance(first, Trajectory)
    assert isinstance(last_read, Trajectory)
    assert last_read.task == "Do it."
    if depth < LogLimits().nesting:
        assert [isinstance(reading, Trajectory) for reading in found] == [True]
    else:
        words = "JSON nested more than 500 deep"
        assert [told(reading) for reading in found] == [
            f"a.jsonl, line {number}: {words}" for number in (2, 3)
        ]


def test_a_line_of_500_megabytes_is_passed_over(tmp_path: Path) -> None:
    """Its middle is a hole in the file, so that it takes no room on the disk."""
    path = tmp_path / "log.jsonl"
    head = CHAT * 800  # more than what the layout is told from
    with path.open("wb") as stream:
        stream.write(head + b'{"messages": "')
        stream.seek(500 * MB, 1)
        stream.write(b'"}\n' + OTHER)
    *same, long, last = read_logs([path])
    assert told(long).startswith("log.jsonl, line 801: a record of more than 64 MB (split it")
    assert isinstance(last, Trajectory)
    assert last.task == "Do that."
    assert same


def test_one_value_that_is_too_long_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(b'{"a": "' + b"x" * (70 * MB) + b'"}')
    with pytest.raises(LogFormatError, match="a record of more than 64 MB"):
        list(read_logs([path]))


def test_gzip_data_that_unpacks_to_hundreds_of_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "log.gz"
    with gzip.open(path, "wb", 1) as stream:
        stream.write(CHAT)
        for _ in range(300):
            stream.write(b" " * (MB - 1) + b"\n")
    assert path.stat().st_size < 2 * MB
    first, bomb = read_logs([path], limits=LogLimits(expansion=100))
    assert isinstance(first, Trajectory)
    assert "unpacks to more than" in told(bomb)
    assert "unpack it and import the result" in told(bomb)


SPAN = (
    '{{"traceId": "{0}", "spanId": "1", "name": "run", "startTimeUnixNano": "1",'
    ' "attributes": {{"input.value": "Do it.", "note": "{1}"}}}}\n'
)


def test_a_log_whose_records_belong_together_is_held_up_to_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    large = [SPAN.format("a" * 32, "x" * 1000) for _ in range(20)]
    path.write_text("".join([*large, SPAN.format("b" * 32, "x")]))
    bearable = LogLimits(session_bytes=path.stat().st_size + 20 * 500)
    for kept in read_logs([path], format="otel", limits=bearable):
        assert "a trace of more than" not in str(kept)
    refused, other = read_logs([path], format="otel", limits=LogLimits(session_bytes=10_000))
    assert "line 7: a trace of more than 9.77 KB" in told(refused)
    assert "line 21: the agent did nothing" in told(other)
    path.write_text(SPAN.format("a" * 32, "x") + "{x\n" * 100)
    *broken, last = read_logs([path], format="otel", limits=LogLimits(session_bytes=20_000))
    assert (len(broken), "more than 19.5 KB of records" in told(last)) == (40, True)


ACTING = (
    '{{"traceId": "{0}", "name": "run", "startTimeUnixNano": "{1}", "attributes":'
    ' {{"input.value": "Do it.", "tool.name": "ls", "output.value": "{2}"}}}}\n'
)


def test_traces_whatever_their_size_are_put_on_the_disk_up_to_a_limit(tmp_path: Path) -> None:
    """Those that were whole by then are read, and of those that go on behind it none is."""
    path = tmp_path / "traces.jsonl"
    first = [ACTING.format(f"{i:032}", "1", "x" * 1000) for i in range(20)]
    path.write_text("".join([*first, ACTING.format(f"{2:032}", "2", "x")]))
    full, gone_on, *found = read_logs([path], format="otel", limits=LogLimits(piped_bytes=10_000))
    assert "line 9: 8 traces, of 9.03 KB, are as much as can be held: those that" in told(full)
    assert "line 21: a trace is left out: it goes on where there is no room" in told(gone_on)
    numbers = [int(each.metadata["id"]) for each in found if isinstance(each, Trajectory)]
    assert numbers == [0, 1, 3, 4, 5, 6, 7]
    assert len(found) == len(numbers)
    full, gone_on, *found = read_logs([path], format="otel", limits=LogLimits(session_bytes=5_000))
    assert "line 9: 8 traces" in told(full)
    assert len(found) == 7


def test_a_trace_that_meets_the_limit_itself_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    spans = [ACTING.format("ab"[i % 2] * 32, str(i), "x" * 1000) for i in range(6)]
    path.write_text("".join([ACTING.format("c" * 32, "0", "x"), *spans]))
    full, *found = read_logs([path], format="otel", limits=LogLimits(piped_bytes=6_000))
    assert "line 7: 3 traces" in told(full)
    whole = {each.metadata["id"][0]: len(each.steps) for each in found}  # type: ignore[union-attr]
    assert whole == {"c": 1, "a": 3}


@pytest.mark.parametrize("name", ["x" * 301, {"a": 1}, ["x"], 1.5])
def test_names_of_traces_that_are_none_are_not_held(tmp_path: Path, name: object) -> None:
    path = tmp_path / "traces.jsonl"
    span = orjson.loads(ACTING.format("a", "1", "x"))
    path.write_bytes(orjson.dumps({**span, "traceId": name}) + b"\n" + orjson.dumps(span))
    stray, found = read_logs([path], format="otel")
    assert "line 1: no part of the session: a span without a trace id of up to 300" in told(stray)
    assert isinstance(found, Trajectory)


def test_a_run_is_not_written_with_all_that_called_it(tmp_path: Path) -> None:
    """Neither with its long id once for each child, nor with its children once for each level."""
    path = tmp_path / "runs.json"
    long = {**RUN, "id": "x" * 1_000_000, "child_runs": [RUN] * 1000}
    path.write_bytes(orjson.dumps([{**RUN, "id": "r"}, long]))
    (stray, *_) = read_logs([path], format="langsmith", limits=LogLimits(piped_bytes=2_000_000))
    assert "a run whose trace or id is not a text of up to 300 characters, with all" in told(stray)
    deep: dict[str, object] = {**RUN, "id": "d", "name": "x" * 1000}
    for number in range(100):
        deep = {**RUN, "id": f"d{number}", "child_runs": [deep], "name": "x" * 1000}
    path.write_bytes(orjson.dumps([{**deep, "inputs": {"input": "Do it."}}]))
    limits = LogLimits(piped_bytes=2 * path.stat().st_size)
    (found,) = read_logs([path], format="langsmith", limits=limits)
    assert isinstance(found, Trajectory)
    assert len(found.steps) == 101


RUN: dict[str, object] = {"run_type": "tool", "name": "ls", "inputs": {"input": "."}}


def test_traces_of_runs_are_not_held_together(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    runs = ({**RUN, "id": str(i), "name": "x" * 2000} for i in range(100))
    path.write_bytes(b"".join(orjson.dumps(run) + b"\n" for run in runs))
    limits = LogLimits(session_bytes=path.stat().st_size // 2)
    found = list(read_logs([path], format="langsmith", limits=limits))
    assert len(found) == 100
    assert all(isinstance(each, Trajectory) for each in found)


def test_a_long_name_over_many_attributes_is_not_made_many_long_names(tmp_path: Path) -> None:
    """250 KB of JSON whose names in full are 400 MB; the next trace is read."""
    path = tmp_path / "traces.jsonl"
    span = orjson.loads(ACTING.format("a", "1", "x"))
    names = {"k" * 20_000: {str(number): 1 for number in range(20_000)}}
    event = {"name": "e", "attributes": names}
    bombs = ({**span, "attributes": names}, {**span, "traceId": "c", "events": [event]})
    other = {**span, "traceId": "b"}
    path.write_bytes(b"\n".join(map(orjson.dumps, (*bombs, other))))
    tracemalloc.start()
    try:
        first, second, found = read_logs([path], format="otel")
        assert tracemalloc.get_traced_memory()[1] < 100 * MB
    finally:
        tracemalloc.stop()
    for bomb in (first, second):
        assert "attributes, named in full, have names of more than 64 MB" in told(bomb)
    assert isinstance(found, Trajectory)


def zipped(path: Path, members: dict[str, int]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for name, megabytes in members.items():
            with archive.open(name, "w") as member:
                for _ in range(megabytes):
                    member.write(b" " * MB)
    return path


def test_a_zip_archive_that_unpacks_to_hundreds_of_megabytes(tmp_path: Path) -> None:
    members = {f"samples/{number}_epoch_1.json": 100 for number in range(3)}
    path = zipped(tmp_path / "log.eval", members)
    (bomb,) = read_logs([path])
    assert "log.eval, samples/0_epoch_1.json: unpacks to more than 200 times its size" in told(bomb)
    *long, bomb = read_logs([path], limits=LogLimits(expansion=500))
    assert "samples/0_epoch_1.json: a record of more than 64 MB" in told(long[0])
    assert "unpacks to more than 500 times its size" in told(bomb)


def test_archives_in_archives_are_not_opened(tmp_path: Path) -> None:
    inner = zipped(tmp_path / "inner.zip", {"samples/a_epoch_1.json": 5}).read_bytes()
    outer = tmp_path / "outer.eval"
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("samples/b_epoch_1.json", inner)
        archive.writestr("samples/c_epoch_1.json", gzip.compress(CHAT))
    for reading in read_logs([outer]):
        assert "an archive inside the archive, which is not opened; unpack it" in told(reading)


@pytest.mark.parametrize("inner", ["gzip", "zip"])
def test_archives_in_gzip_data_are_not_opened(tmp_path: Path, inner: str) -> None:
    data = gzip.compress(CHAT)
    if inner == "zip":
        data = zipped(tmp_path / "inner.zip", {"samples/a_epoch_1.json": 1}).read_bytes()
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(data))
    with pytest.raises(LogFormatError, match=f"{inner}.* inside gzip data; unpack it first"):
        list(read_logs([path]))
