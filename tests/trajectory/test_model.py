"""Episodes as Python has them: built by position, frozen, copied, and of one identity."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple, replace

from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory

STEP = Step("open door", "It is open.", "Why not?", 1)
EPISODE = Trajectory("leave", "a hall", (STEP,), Outcome(True, 1.0, "stated"), metadata={"id": "a"})
COPIES: dict[str, Callable[[object], object]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda each: pickle.loads(pickle.dumps(each)),
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("each", [STEP, EPISODE, EPISODE.outcome, LogSource("a", "line 1")])
def test_a_copy_is_the_same(each: object, way: str) -> None:
    assert COPIES[way](each) == each
    assert repr(COPIES[way](each)) == repr(each)


def test_a_step_begins_with_its_action() -> None:
    found: tuple[object, ...] = ()
    match STEP:
        case Step(action, observation, thought, reward):
            found = (action, observation, thought, reward)
    assert found == ("open door", "It is open.", "Why not?", 1.0)
    assert astuple(STEP)[:4] == found


def test_the_id_is_of_what_was_done_and_not_of_how_it_ended() -> None:
    assert len(EPISODE.id) == 16
    assert EPISODE.with_outcome(Outcome()).id == EPISODE.id
    assert replace(EPISODE, domain="house", metadata={}).id == EPISODE.id
    assert replace(EPISODE, task="stay").id != EPISODE.id
    assert (
        Trajectory("t", steps=(Step("a", reward=1),)).id
        == Trajectory("t", steps=(Step("a", reward=1.0),)).id
    )


def test_nothing_of_it_can_be_set() -> None:
    for each, name in ((STEP, "action"), (EPISODE, "task"), (EPISODE.outcome, "success")):
        with pytest.raises(AttributeError):
            setattr(each, name, "other")


TEXTS = st.text(st.sampled_from("ab \\\"'\n\t\r\x1b\x7f\u00e9\ud800\u2028u0"), max_size=12)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_every_piece_of_a_text_is_found_in_what_is_searched(
    task: str, action: str, observation: str, thought: str
) -> None:
    episode = Trajectory(task, steps=(Step(action, observation, thought),))
    for text in (task, action, observation, thought):
        assert text.encode("utf-8", "surrogatepass") in episode.searchable
