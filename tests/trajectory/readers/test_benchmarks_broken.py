"""Logs of benchmarks with anything in the wrong place: refused or read, never a crash."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.limits import Limits
from deltamem_tui.trajectory.logs.notice import Notice
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers import read_logs
from tests.effort import examples
from tests.trajectory.readers.benchmark_samples import SAMPLES

JSON_SAMPLES = sorted(name for name in SAMPLES if name not in ("webshop", "reflexion"))
JUNK: list[object] = [None, True, 0, -1.5, 1e300, "", "x", "\ud800", [], [None], {}, {"type": []}]
JUNK += [[[]], {"role": {}}, "9" * 400, {"content": [{"type": "text"}]}, [1, "a"], "\x1b[2J"]


def records_of(name: str) -> list[object]:
    data = SAMPLES[name].data.decode()
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(data):
        value, at = decoder.raw_decode(data, at)
        found.append(value)
        at += 1
    return found


def places(value: object) -> Iterator[tuple[dict[str, object] | list[object], str | int]]:
    """Every place in a JSON value that could hold something else."""
    if isinstance(value, dict):
        for key in value:
            yield value, key
            yield from places(value[key])
    elif isinstance(value, list):
        for index in range(len(value)):
            yield value, index
            yield from places(value[index])


@examples(100, one_folder=True)
@given(
    st.sampled_from(JSON_SAMPLES),
    st.lists(st.tuples(st.integers(0, 10_000), st.sampled_from([*JUNK, "gone"])), max_size=4),
)
def test_anything_in_the_wrong_place(
    tmp_path: Path, name: str, changes: list[tuple[int, object]]
) -> None:
    records = copy.deepcopy(records_of(name))
    for number, junk in changes:
        found = list(places(records))
        if not found:
            break
        holder, key = found[number % len(found)]
        if junk == "gone" and isinstance(holder, dict):
            del holder[str(key)]
        else:
            holder[key] = copy.deepcopy(junk)  # type: ignore[index]
    path = tmp_path / "log"
    path.write_text("\n".join(map(json.dumps, records)))
    for item in read_logs([path], format=name):
        assert isinstance(item, Trajectory | RecordError | Notice)
        assert not isinstance(item, RecordError) or (item.message and item.source == "log")


@examples(30, one_folder=True)
@given(st.sampled_from(["webshop", "reflexion"]), st.data())
def test_lines_in_the_wrong_place(tmp_path: Path, name: str, data: st.DataObject) -> None:
    lines = SAMPLES[name].data.decode().splitlines()
    mixed = data.draw(st.lists(st.sampled_from(lines), max_size=30))
    path = tmp_path / "log"
    path.write_text("\n".join(["Action: reset", *mixed]))
    for item in read_logs([path], format=name):
        assert isinstance(item, Trajectory | RecordError | Notice)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_log_cut_anywhere(tmp_path: Path, name: str) -> None:
    data = SAMPLES[name].data
    path = tmp_path / "log"
    for end in range(1, len(data), max(len(data) // 40, 1)):
        path.write_bytes(data[:end])
        for item in read_logs([path], format=name):
            assert isinstance(item, Trajectory | RecordError | Notice)


@pytest.mark.parametrize("name", JSON_SAMPLES)
def test_deep_and_large_values_are_refused_in_one_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / "log"
    deep = b'{"messages": ' + b'{"x": [' * 400 + b"1" + b"]}" * 400 + b"}"
    large = b'{"messages": "' + b"x" * 200_000 + b'"}'
    path.write_bytes(deep + b"\n" + large + b"\n" + SAMPLES[name].data)
    found = list(read_logs([path], format=name, limits=Limits(record_bytes=150_000)))
    refused = [item for item in found if isinstance(item, RecordError)]
    assert any("a record of more than" in item.message for item in refused)
    assert all(len(str(item)) < 300 for item in refused)


LONG = 300_000
ENDLESS = [" " * LONG + "x", "\\'" * LONG, "Instruction: [SEP] " * 20_000, "Action" + " " * LONG]
ENDLESS += ["Thought:" * 30_000, "a" * LONG, "\n" * LONG + "x", "Here is the task:" * 20_000]
ENDLESS += ["my problem is:" * 20_000, "<pr_description>" * 50_000, "\t \r…" * 30_000]


@pytest.mark.parametrize("text", ENDLESS, ids=range(len(ENDLESS)))
def test_no_text_makes_a_search_endless(tmp_path: Path, text: str) -> None:
    messages = [
        {"role": "user", "content": text},
        {"role": "assistant", "content": text},
        {"role": "user", "content": text},
    ]
    talk: dict[str, object] = {
        "id": text,
        "messages": messages,
        "conversations": messages,
        "output": {"history": messages},
    }
    view: dict[str, object] = {
        "page": text,
        "url": text,
        "goal": {},
        "content": {"keywords": text, "options": text},
    }
    row: dict[str, object] = {"userInput": text, "observation": text, "score": text}
    path = tmp_path / "log"
    logs: dict[str, list[dict[str, object]]] = {
        "openai-chat": [talk],
        "sharegpt": [talk],
        "agentbench": [talk],
        "webshop-human": [view, view],
        "scienceworld-recording": [row, row],
    }
    for name, records in logs.items():
        path.write_text("\n".join(map(json.dumps, records)))
        assert list(read_logs([path], format=name))
    path.write_text(f"Action: reset\nObservation: Instruction: {text}\nAction: {text}\n{text}")
    assert list(read_logs([path], format="webshop"))
    path.write_text(f"Question: {text}\nThought 1: {text}\nAction 1: {text}\n{text}")
    assert list(read_logs([path], format="reflexion"))
