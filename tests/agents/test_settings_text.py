"""What is put into a settings file comes out of it again, to the byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltamem_tui.agents.settings_text import entries_in, put, take_out
from deltamem_tui.errors import UsageError

EVENTS = ("UserPromptSubmit", "SessionEnd")
ENTRY = {"hooks": [{"type": "command", "command": "deltamem", "args": ["hook"]}]}
ENTRIES = dict.fromkeys(EVENTS, ENTRY)


def is_ours(entry: Any) -> bool:
    return bool(entry == ENTRY)


SPACE = st.sampled_from(
    ["", "", " ", "\n  ", "\r\n\t", "// a , comment }\n", "/* [ * ] */", " \n// x\n /**/ "]
)
SCALARS = st.sampled_from([None, True, -1, 2.5e9, "", 'a "}], // b', "\u2028\\", "ü"])


@st.composite
def joined(draw: st.DrawFn, opening: str, members: list[str], closing: str) -> str:
    one, two, three, four = (draw(SPACE) for _ in range(4))
    body = f"{one},{two}".join(members)
    trailing = draw(st.sampled_from(["", ","])) if members else ""
    return f"{opening}{three}{body}{four}{trailing}{one}{closing}"


@st.composite
def values(draw: st.DrawFn, depth: int = 2) -> str:
    kind = draw(st.sampled_from(["scalar", "object", "array"])) if depth else "scalar"
    if kind == "scalar":
        return json.dumps(draw(SCALARS))
    members = [draw(values(depth - 1)) for _ in range(draw(st.integers(0, 3)))]
    if kind == "array":
        return draw(joined("[", members, "]"))
    keyed = [f"{json.dumps(draw(SCALARS.map(str)))}{draw(SPACE)}: {each}" for each in members]
    return draw(joined("{", keyed, "}"))


@st.composite
def settings_files(draw: st.DrawFn) -> str:
    """Settings with other keys, comments and hooks in any order; perhaps with our events."""
    members = [f'"k{number}": {draw(values())}' for number in range(draw(st.integers(0, 3)))]
    if draw(st.booleans()):
        others = draw(st.lists(st.sampled_from([*EVENTS, "Stop"]), unique=True))
        arrays = [
            draw(joined("[", [draw(values()) for _ in range(draw(st.integers(0, 2)))], "]"))
            for _ in others
        ]
        hooks = [f'"{name}":{draw(SPACE)}{each}' for name, each in zip(others, arrays, strict=True)]
        members.insert(
            draw(st.integers(0, len(members))), f'"hooks": {draw(joined("{", hooks, "}"))}'
        )
    return draw(SPACE) + draw(joined("{", members, "}")) + draw(SPACE)


@settings(max_examples=200)
@given(settings_files())
def test_what_is_put_in_comes_out_to_the_byte(text: str) -> None:
    installed = put(text, ENTRIES)
    assert set(entries_in(installed, is_ours)) == set(EVENTS)
    assert entries_in(text, is_ours) == {}
    assert take_out(installed, is_ours) == text


def test_a_file_that_was_made_for_it_goes() -> None:
    made = put("", ENTRIES)
    assert set(json.loads(made)["hooks"]) == set(EVENTS)
    assert take_out(made, is_ours) == ""


def test_what_others_add_later_stays() -> None:
    theirs = json.loads(put('{"a": 1}', ENTRIES))
    theirs["hooks"]["Stop"] = [1]
    theirs["hooks"]["SessionEnd"].append({"theirs": True})
    left = json.loads(take_out(json.dumps(theirs, indent=2), is_ours))
    assert left["a"] == 1
    assert left["hooks"]["Stop"] == [1]
    assert left["hooks"]["SessionEnd"] == [{"theirs": True}]


@pytest.mark.parametrize(
    "text",
    ["[]", "{", '{"hooks": 1}', '{"hooks": {"SessionEnd": {}}}', "{} {}", "{a: 1}", "x", " "],
)
def test_what_is_not_such_a_file_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        put(text, ENTRIES)
