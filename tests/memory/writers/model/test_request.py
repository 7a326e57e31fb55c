"""What a request shows of an episode: cut to the window, and behind fences that hold."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.errors import PromptTooLongError
from deltamem_tui.memory.writers.model.request import block, fenced
from deltamem_tui.memory.writers.model.truncate import FIRST_STEPS, LAST_STEPS, fit
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory

steps = st.builds(
    Step,
    action=st.text("xyz", min_size=1, max_size=20),
    observation=st.text("ab \n", max_size=900),
    thought=st.text("t ", max_size=60),
    reward=st.none() | st.sampled_from([0.0, 1.0, -1.0]),
)
episodes = st.builds(
    Trajectory,
    task=st.just("do it"),
    environment=st.text("e ", max_size=200),
    steps=st.lists(steps, min_size=1, max_size=40).map(tuple),
    outcome=st.builds(Outcome, success=st.booleans()),
)


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"^Step (\d+)$", text, re.MULTILINE)]


def long_episode() -> Trajectory:
    texts = [f"{number} " + "o" * 1000 for number in range(1, 61)]
    told = tuple(Step(f"action {number}", text) for number, text in enumerate(texts, 1))
    return Trajectory("do it", "a place", told, Outcome(success=True))


@given(episodes, st.integers(0, 20_000))
def test_what_must_stay_stays_and_the_rest_fits(trajectory: Trajectory, room: int) -> None:
    try:
        cut = fit(trajectory, room, len)
    except PromptTooLongError:
        assert room < 200 * (FIRST_STEPS + LAST_STEPS + 2) + 200
        return
    assert len(cut.environment) + len(cut.text) <= room
    length, left = len(trajectory.steps), numbers(cut.text)
    assert left == sorted(set(left))
    must = {*range(1, FIRST_STEPS + 1), *range(length - LAST_STEPS + 1, length + 1)}
    assert {number for number in must if 1 <= number <= length} <= set(left)
    assert ("steps left out" in cut.description) == (len(left) < length)


@given(episodes)
def test_what_fits_is_not_touched(trajectory: Trajectory) -> None:
    cut = fit(trajectory, 10**9, len)
    assert (cut.environment, cut.description) == (trajectory.environment, "")
    assert len(numbers(cut.text)) == len(trajectory.steps)
    assert "left out" not in cut.text
    assert fit(trajectory, len(cut.environment) + len(cut.text), len) == cut


def test_observations_go_first_and_then_steps_from_the_middle() -> None:
    cut = fit(long_episode(), 45_000, len)
    assert cut.description == "observations shortened to 600 characters"
    assert cut.text.count("characters left out") == 60
    cut = fit(long_episode(), 10_000, len)
    left = numbers(cut.text)
    assert (left[:3], left[-3:]) == ([1, 2, 3], [58, 59, 60])
    ((first, last),) = re.findall(r"\[… steps (\d+) to (\d+) left out …\]", cut.text)
    assert set(left) == set(range(1, 61)) - set(range(int(first), int(last) + 1))
    read = Trajectory("t", steps=tuple(Step("read " + "x" * 3_000) for _ in range(9)))
    assert fit(read, 20_000, len).description == "scene, thoughts and actions to 2,000"


def test_an_action_that_is_a_whole_file_is_cut_last_and_no_room_is_an_error() -> None:
    trajectory = Trajectory("t", steps=(Step("write " + "x" * 50_000, "ok"), Step("run", "done")))
    cut = fit(trajectory, 1_000, len)
    assert "Action: write xxx" in cut.text
    assert "scene, thoughts and actions to" in cut.description
    with pytest.raises(PromptTooLongError, match="larger window"):
        fit(long_episode(), 100, len)


BLOCK = re.compile(
    r'\A<record of="steps" sign="(\w{16})">\n(.*)\n</record sign="(\w+)">\Z', re.DOTALL
)

hostile = st.lists(
    st.sampled_from([*'</>" \n', "record", "</record>", "RECORD", "sign=", "x"])
).map("".join)

# Ways to write the end of a fence that a model might read as one.
DISGUISES = (
    "</record>",
    "</ record >",
    "< /RECORD>",
    "＜／ｒｅｃｏｒｄ＞",
    "</rec\u180eord>",
    "<\\/record>",
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
