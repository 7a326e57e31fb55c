from __future__ import annotations

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.json_text import Cut, cut_json, parse_json
from deltamem_tui.trajectory.logs.record import LogLimits

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
containers = st.lists(json_values, max_size=3) | st.dictionaries(st.text(), json_values, max_size=3)


def cuts(data: bytes, *, in_array: bool = False, limits: LogLimits | None = None) -> list[Cut]:
    return list(cut_json(data, limits or LogLimits(), in_array=in_array))


@given(st.lists(containers), st.sampled_from([None, 2]), st.booleans())
def test_any_values(values: list[object], indent: int | None, in_array: bool) -> None:
    if in_array:
        data = json.dumps(values, indent=indent, ensure_ascii=False).encode()
    else:
        data = "\n".join(json.dumps(value, indent=indent) for value in values).encode()
    found = cuts(data, in_array=in_array)
    assert [cut.kind for cut in found] == ["value"] * len(values)
    assert [orjson.loads(cut.data) for cut in found] == values


@given(st.binary(), st.booleans())
def test_no_bytes_break_it(data: bytes, in_array: bool) -> None:
    for cut in cuts(data, in_array=in_array):
        assert cut.kind != "value" or cut.data[:1] in (b"{", b"[")


def test_junk_before_between_and_behind_is_shown() -> None:
    found = cuts(b'say "hi\n{"a":1} oops {"b":2}\nbye')
    assert [cut.kind for cut in found] == ["junk", "value", "junk", "value", "junk"]
    assert 'say "hi' in found[0].reason
    assert "oops" in found[2].reason


def test_values_over_a_limit_are_refused_and_the_next_is_read() -> None:
    long = b'{"a":"' + b"x" * 500 + b'"} {"b":2}'
    found = cuts(long, limits=LogLimits(record_bytes=100))
    assert [(cut.kind, cut.data) for cut in found] == [("refused", b""), ("value", b'{"b":2}')]
    assert "more than 100 bytes" in found[0].reason


@pytest.mark.parametrize("tail", [b'{"a": [1, ', b'{"a": "x', b'{"a": "x\\'])
def test_an_end_in_the_middle(tail: bytes) -> None:
    found = cuts(b'{"b":2}' + tail)
    assert [cut.kind for cut in found] == ["value", "refused"]
    assert "ends in the middle" in found[1].reason


def test_an_array_without_an_end_is_told() -> None:
    assert [cut.kind for cut in cuts(b'[{"a":1},', in_array=True)] == ["value", "junk"]


def test_elements_that_are_no_objects_are_told() -> None:
    found = cuts(b'[{"a":1}, null, "{", {"b":2}]', in_array=True)
    assert [cut.kind for cut in found] == ["value", "junk", "value"]
    assert "null" in found[1].reason


@pytest.mark.parametrize("data", [b'{"a": NaN}', b'{"a": "\\ud83d"}', b'{"a": "tab\there"}'])
def test_what_python_writes_is_taken(data: bytes) -> None:
    assert isinstance(parse_json(data), dict)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"a": "\xff"}', "not valid UTF-8"),
        (b"[" * 100_000, "nested"),
        (b'{"a": 1', "ends in the middle"),
        (b"x", "not JSON"),
        (b" x\n", "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b"9" * 5000, "not JSON|ends"),
    ],
)
def test_what_is_no_json(data: bytes, words: str) -> None:
    with pytest.raises(RecordError, match=words):
        parse_json(data)
