from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.llm.answers import Contract, Field, Skip, Texts, UnusableAnswer, json_object

FREE = Contract((Field("text", 1000),), skip=True)
scalars = st.none() | st.booleans() | st.integers() | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10
)
prose = st.text().filter(lambda text: not set(text) & set('{}"<'))


def read_or_reason(text: str) -> tuple[Texts, ...] | Skip | str:
    """What was read; or the reason, never empty, why it cannot be."""
    try:
        return FREE.read(text)
    except UnusableAnswer as unusable:
        return str(unusable) or pytest.fail("no reason")


@given(prose, st.dictionaries(st.text(), values), prose, st.booleans())
def test_an_object_in_prose_is_found(
    before: str, answer: dict[str, object], after: str, pretty: bool
) -> None:
    text = json.dumps(answer, indent=2 if pretty else None)
    assert json_object(f"{before}{text}{after}") == answer


@given(st.text())
def test_any_text_is_read_or_refused_with_a_reason(text: str) -> None:
    answer = read_or_reason(text)
    assert isinstance(answer, (str, Skip)) or answer[0]["text"]


@given(st.dictionaries(st.sampled_from(["text", "skip", "quote", "more"]), values))
def test_any_object_is_read_or_refused_with_a_reason(answer: dict[str, object]) -> None:
    read = read_or_reason(json.dumps(answer))
    if isinstance(read, Skip):
        assert str(answer["skip"]).strip().casefold() == "true"
        assert answer.get("quote") or not answer.get("text")
    elif not isinstance(read, str):
        assert set(read[0]) == {"text"}
        assert read[0]["text"] == read[0]["text"].strip() != ""


@pytest.mark.parametrize(
    "text",
    ['{"a":' * 50_000, '{"a": [' * 50_000, "{ {" * 1000, '{"a": "\\ud800"}', "{'a': 1}", "[{}]x{"],
)
def test_hostile_text_is_no_trouble(text: str) -> None:
    assert read_or_reason(text)


def test_line_breaks_inside_of_texts_are_forgiven() -> None:
    assert json_object('{"text": "one\ntwo"}') == {"text": "one\ntwo"}


def test_a_text_without_spaces_cannot_dodge_the_limit() -> None:
    with pytest.raises(UnusableAnswer, match="1 words and 9,000 characters"):
        Contract((Field("text", 8),)).read(json.dumps({"text": "字" * 9000}))
