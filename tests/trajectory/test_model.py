"""Episodes as Python has them: built by position, frozen, checked, copied, and of one identity."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable

import pytest

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory

STEP = Step("open door", "It is open.", "Why not?", 1)
EPISODE = Trajectory("leave", "a hall", (STEP,), Outcome(True, 1.0, "stated"), metadata={"id": "a"})
COPIES: dict[str, Callable[[object], object]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda each: pickle.loads(pickle.dumps(each)),
    "replace": dataclasses.replace,  # type: ignore[dict-item]
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
    assert dataclasses.astuple(STEP) == found


def test_the_id_is_of_what_was_done_and_not_of_how_it_ended() -> None:
    assert len(EPISODE.id) == 16
    assert EPISODE.with_outcome(Outcome()).id == EPISODE.id
    assert dataclasses.replace(EPISODE, domain="house", metadata={}).id == EPISODE.id
    assert dataclasses.replace(EPISODE, task="stay").id != EPISODE.id
    assert (
        Trajectory("t", steps=(Step("a", reward=1),)).id
        == Trajectory("t", steps=(Step("a", reward=1.0),)).id
    )


def test_nothing_of_it_can_be_set() -> None:
    for each, name in ((STEP, "action"), (EPISODE, "task"), (EPISODE.outcome, "success")):
        with pytest.raises(AttributeError):
            setattr(each, name, "other")


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Step(3), "the action of a step must be text, not int"),  # type: ignore[arg-type]
        (lambda: Step("a", None), "the observation of a step"),  # type: ignore[arg-type]
        (lambda: Step("a", reward="1"), "the reward of a step"),  # type: ignore[arg-type]
        (lambda: Outcome(1), "must be True, False or None"),  # type: ignore[arg-type]
        (lambda: Outcome(True, source="me"), "the source of an outcome"),  # type: ignore[arg-type]
        (lambda: Trajectory(None), "the task of an episode"),  # type: ignore[arg-type]
        (lambda: Trajectory("t", steps=("a",)), "a step must be a Step"),  # type: ignore[arg-type]
        (lambda: Trajectory("t", outcome=True), "must be an Outcome"),  # type: ignore[arg-type]
        (lambda: Trajectory("t", metadata={"n": 1}), "the metadata"),  # type: ignore[dict-item]
    ],
)
def test_what_is_of_another_type_is_refused(build: Callable[[], object], words: str) -> None:
    with pytest.raises(RecordError, match=words):
        build()
