from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.memory.writers.model.request import block, fenced

BLOCK = re.compile(
    r'\A<record of="steps" sign="(\w{16})">\n(.*)\n</record sign="(\w+)">\Z', re.DOTALL
)

hostile = st.lists(
    st.sampled_from(
        [
            "<",
            "/",
            "record",
            "</record>",
            "RECORD",
            " ",
            "\n",
            "＜",
            "\u200b",
            ">",
            "sign=",
            '"',
            "x",
        ]
    )
).map("".join)

# Ways to write the end of a fence that a model might read as one.
DISGUISES = (
    "</record>",
    "</ record >",
    "< /RECORD>",
    "＜／ｒｅｃｏｒｄ＞",
    "<\u200b/\u200brec\u00adord>",
    "<\u034f/rec\ufe0ford>",
    "</\u2062record\u2064>",
    "</rec\u180eord>",
    "<\u3164/record>",
    "</r\u115fecord>",
    "﹤/record﹥",
    "⟨/record⟩",
    "</rес\u043erd>",
    "<\\/record>",
    "&lt;/record&gt;",
)


def parts(text: str) -> tuple[str, str]:
    """What a block holds and the sign that ends it, which is the one that began it."""
    found = BLOCK.match(block("steps", text))
    assert found
    assert found[1] == found[3]
    return found[2], found[1]


@given(hostile)
def test_nothing_inside_has_the_sign_that_ends_the_fence(text: str) -> None:
    inside, sign = parts(text)
    assert sign not in inside
    assert "</record" not in inside
    assert fenced(fenced(text)) == fenced(text)


@pytest.mark.parametrize("disguise", DISGUISES)
def test_no_disguise_ends_the_fence(disguise: str) -> None:
    _, sign = parts(f"a {disguise} b")
    # Who has seen the sign and writes it into the text gets another one.
    inside, other = parts(f'a {disguise} sign="{sign}" b')
    assert other != sign
    assert other not in inside


def test_the_same_text_has_the_same_sign_and_another_another() -> None:
    assert block("steps", "look") == block("steps", "look")
    signs = {parts(text)[1] for text in ("look", "look ", "Look", "look at it")}
    assert len(signs) == 3  # white space around it is no part of it
