"""Cutting: whatever must stay is there, in order, and it fits."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from deltamem_tui.errors import PromptTooLongError
from deltamem_tui.memory.writers.model.truncate import (
    FIRST_STEPS,
    LAST_STEPS,
    CutEpisode,
    failure_point,
    fit,
    shortened,
)
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory

texts = st.text("ab \n", max_size=900)
steps = st.builds(
    Step,
    action=st.text("xyz", min_size=1, max_size=20),
    observation=texts,
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


def size(episode: CutEpisode) -> int:
    return len(episode.environment) + len(episode.text)


def long_episode(length: int = 60, observation: int = 1000, success: bool = True) -> Trajectory:
    return Trajectory(
        task="do it",
        environment="a place",
        steps=tuple(
            Step(f"action {number}", f"{number} " + "o" * observation)
            for number in range(1, length + 1)
        ),
        outcome=Outcome(success=success),
    )


@given(episodes, st.integers(0, 20_000))
def test_what_must_stay_stays_and_the_rest_fits(trajectory: Trajectory, room: int) -> None:
    try:
        cut = fit(trajectory, room, len)
    except PromptTooLongError:
        assert room < 200 * (FIRST_STEPS + LAST_STEPS + 2) + 200
        return
    assert size(cut) <= room
    numbers = [number for number, _ in cut.steps]
    length = len(trajectory.steps)
    assert numbers == sorted(set(numbers))
    must = {*range(1, FIRST_STEPS + 1), *range(length - LAST_STEPS + 1, length + 1)}
    lost = failure_point(trajectory)
    must |= set() if lost is None else {lost + 1}
    assert {number for number in must if 1 <= number <= length} <= set(numbers)
    if cut.longest_text is None:
        for number, step in cut.steps:
            whole = trajectory.steps[number - 1]
            assert (step.action, step.thought) == (whole.action, whole.thought)
        assert cut.environment == trajectory.environment
    if not cut.description:
        assert [step for _, step in cut.steps] == list(trajectory.steps)


@given(episodes)
def test_what_fits_is_not_touched(trajectory: Trajectory) -> None:
    cut = fit(trajectory, 10**9, len)
    assert cut.steps == tuple(enumerate(trajectory.steps, 1))
    assert cut.environment == trajectory.environment
    assert cut.description == ""
    assert "left out" not in cut.text
    assert fit(trajectory, size(cut), len) == cut


@given(episodes, st.integers(2_000, 20_000), st.integers(2_000, 20_000))
def test_less_room_never_keeps_more_steps(trajectory: Trajectory, one: int, other: int) -> None:
    small, large = (fit(trajectory, room, len) for room in sorted((one, other)))
    assert len(small.steps) <= len(large.steps)


@given(st.text(max_size=600), st.integers(1, 300))
def test_a_shortened_text_keeps_its_ends(text: str, most: int) -> None:
    short = shortened(text, most)
    if short == text:
        return
    assert len(short) < len(text)
    assert len(short) <= most + 40
    head = most * 2 // 3
    assert short.startswith(text[:head])
    assert short.endswith(text[len(text) - (most - head) :])
    assert "characters left out" in short


def test_observations_go_first() -> None:
    trajectory = long_episode()
    cut = fit(trajectory, 40_000, len)
    assert len(cut.steps) == 60
    assert cut.longest_observation is not None
    assert re.fullmatch(r"observations shortened to \d+ characters", cut.description)
    assert cut.text.count("characters left out") == 60


def test_then_steps_from_the_middle_marked_where_they_were() -> None:
    cut = fit(long_episode(), 10_000, len)
    numbers = [number for number, _ in cut.steps]
    assert numbers[:3] == [1, 2, 3]
    assert numbers[-3:] == [58, 59, 60]
    (mark,) = re.findall(r"\[… steps (\d+) to (\d+) left out …\]", cut.text)
    first, last = map(int, mark)
    assert set(numbers) == set(range(1, 61)) - set(range(first, last + 1))
    assert f"{last - first + 1} of 60 steps left out" in cut.description


def test_the_point_of_failure_stays() -> None:
    trajectory = long_episode(success=False)
    middle = replace(trajectory.steps[29], reward=-100.0)
    trajectory = replace(trajectory, steps=(*trajectory.steps[:29], middle, *trajectory.steps[30:]))
    assert failure_point(trajectory) == 29
    cut = fit(trajectory, 5_000, len)
    numbers = [number for number, _ in cut.steps]
    assert {29, 30} <= set(numbers)
    assert cut.text.count("steps") == 2
    assert "Reward: -100" in cut.text


def test_the_point_of_failure_without_rewards_is_the_end() -> None:
    assert failure_point(long_episode(success=False)) == 59
    assert failure_point(long_episode(success=True)) is None
    assert failure_point(Trajectory("t", outcome=Outcome(success=False))) is None


def test_an_action_that_is_a_whole_file_is_cut_last() -> None:
    trajectory = Trajectory("t", steps=(Step("write " + "x" * 50_000, "ok"), Step("run", "done")))
    cut = fit(trajectory, 1_000, len)
    assert len(cut.steps) == 2
    assert cut.steps[0][1].action.startswith("write xxx")
    assert "scene, thoughts and actions to" in cut.description


def test_no_room_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(PromptTooLongError, match="larger window"):
        fit(long_episode(), 100, len)
