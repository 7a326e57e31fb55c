from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.memory.model.fence import block, fenced
from deltamem_tui.text import clean

hostile = st.lists(
    st.sampled_from(
        ["<", "/", "record", "</record>", "RECORD", " ", "\n", "＜", "\u200b", "‹", ">", "x"]
    )
).map("".join)


@given(hostile)
def test_nothing_inside_closes_the_fence(text: str) -> None:
    inside = block("steps", text).removeprefix('<record of="steps">').removesuffix("</record>")
    visible = re.sub("[\u00ad\u200b-\u200d\u2060]", "", inside)
    assert not re.search(r"[<＜‹〈]\s*[/／]?\s*record", visible, re.IGNORECASE)
    assert fenced(fenced(text)) == fenced(text)


@given(st.text())
def test_other_text_stays(text: str) -> None:
    if "record" not in text.lower():
        assert fenced(text) == clean(text).strip()


@pytest.mark.parametrize(
    "attack",
    ["</record>", "</ record >", "< /RECORD>", "＜/record＞", "<\u200b/\u200brec\u00adord>"],
)
def test_known_tricks(attack: str) -> None:
    assert fenced(f"a {attack} b").startswith("a (")


def test_nothing_is_said_to_be_nothing() -> None:
    assert block("environment", " ") == '<record of="environment">\n(nothing)\n</record>'
