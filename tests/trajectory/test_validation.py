from __future__ import annotations

import pytest
from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.record import LogLimits
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.validation import admitted, checked

GOOD = Trajectory("boil water", "a kitchen", (Step("look", "a stove", "where am I?"),))


def test_a_good_episode_is_not_touched() -> None:
    assert admitted(GOOD) is GOOD


def test_an_outcome_that_nobody_is_named_for_is_the_logs_own() -> None:
    found = admitted(GOOD.with_outcome(Outcome(True)))
    assert found == GOOD.with_outcome(Outcome(True, None, "stated"))


def test_every_text_is_cleaned() -> None:
    dirty = "a\x1b[31mb\x07"
    found = admitted(
        Trajectory(
            dirty,
            dirty,
            (Step(dirty, dirty, dirty),),
            Outcome(reason=dirty),
            LogSource(dirty, dirty, dirty),
            domain=dirty,
            agent=dirty,
            metadata={dirty: dirty},
        )
    )
    assert found == Trajectory(
        "ab",
        "ab",
        (Step("ab", "ab", "ab"),),
        Outcome(reason="ab"),
        LogSource("ab", "ab", "ab"),
        domain="ab",
        agent="ab",
        metadata={"ab": "ab"},
    )


@pytest.mark.parametrize(
    ("trajectory", "words"),
    [
        (Trajectory("", steps=GOOD.steps), "no task"),
        (Trajectory(" \x1b[0m\n", steps=GOOD.steps), "no task"),
        (Trajectory("boil water"), "no steps"),
        (Trajectory("boil water", steps=(Step("look"), Step(" "))), "step 2 has no action"),
        (Trajectory("boil water", steps=(Step("\x00"),)), "step 1 has no action"),
        (Trajectory("boil water", steps=(Step("x", reward=float("nan")),)), "reward of step 1"),
        (GOOD.with_outcome(Outcome(True, 1.5, "stated")), "reward of 1.5"),
        (GOOD.with_outcome(Outcome(True, float("nan"), "stated")), "reward of nan"),
        (
            Trajectory("boil water", steps=(Step("look", "x" * 10_000_000),)),
            "a text of 10,000,000 characters",
        ),
    ],
)
def test_what_is_refused(trajectory: Trajectory, words: str) -> None:
    with pytest.raises(RecordError, match=words) as caught:
        admitted(checked(trajectory))
    assert len(str(caught.value)) < 200


def test_many_texts_under_the_limit_pass_though_their_sum_is_over() -> None:
    long = Trajectory("boil water", steps=(Step("look", "x" * 60), Step("look", "y" * 60)))
    assert admitted(long, LogLimits(field_characters=100)) == long


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"steps": (Step("a"), Step(3))}, "step 2, `action`: Expected `str`"),  # type: ignore[arg-type]
        ({"steps": (Step("a", reward="1"),)}, "step 1, `reward`: Expected `float"),  # type: ignore[arg-type]
        ({"steps": ("a",)}, "step 1: Expected `object`"),
        ({"steps": None}, "steps`: Expected `array`"),
        ({"outcome": Outcome(1)}, "outcome.success`: Expected `bool"),  # type: ignore[arg-type]
        ({"outcome": Outcome(True, source="me")}, "outcome.source`: Invalid enum value"),  # type: ignore[arg-type]
        ({"source": LogSource(3)}, "source.file`: Expected `str`"),  # type: ignore[arg-type]
        ({"metadata": {"n": object()}}, "object is not plain data"),
    ],
)
def test_what_is_of_another_type_is_refused(facts: dict[str, object], words: str) -> None:
    with pytest.raises(RecordError, match=words):
        checked(replace(GOOD, **facts))


def test_whole_rewards_become_floats() -> None:
    (step,) = checked(Trajectory("t", steps=(Step("a", reward=1),))).steps
    assert type(step.reward) is float
