"""Reasons for unknown outcomes are counted, the first of them by name."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.trajectory.outcomes import (
    decided,
    recorded_anywhere,
    stated,
    together,
    undisputed,
)


@pytest.mark.parametrize(
    ("value", "success", "reward"),
    [
        (True, True, None),
        (False, False, None),
        ("true", True, None),
        ("False ", False, None),
        ("C", True, None),
        ("I", False, None),
        ("P", False, 0.5),
        ("resolved", True, None),
        (1, True, 1.0),
        (0, False, 0.0),
        (0.75, False, 0.75),
        ("1.0", True, 1.0),
        (0.9999999999, True, 0.9999999999),
        (-100, False, 0.0),
    ],
)
def test_the_spellings_of_success(value: object, success: bool, reward: float | None) -> None:
    outcome = decided(stated(value))
    assert outcome == Outcome(success, reward, "stated")


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "I think it worked",
        "done",
        37,
        "nan",
        math.nan,
        math.inf,
        [],
        {},
        "1e999",
        10**400,
    ],
)
def test_what_states_no_outcome(value: object) -> None:
    assert stated(value) == Outcome()


MADE_OUT = "{}: no reward from 0 to 1 can be made out"
COUNTED = "`{}` says {}, a count beside others and no verdict"


@pytest.mark.parametrize(
    ("record", "outcome"),
    [
        ({"passed": 1, "failed": 4}, Outcome(reason=COUNTED.format("passed", 1))),
        ({"correct": 1.0, "total": "5"}, Outcome(reason=COUNTED.format("correct", 1.0))),
        ({"passed": 1, "failed": 4, "score": 50}, Outcome(reason=COUNTED.format("passed", 1))),
        ({"resolved": 1, "unresolved": 0, "reward": 0.5}, Outcome(True, 0.5, "stated")),
        ({"resolved": 1, "unresolved": 1, "reward": 0.5}, Outcome(None, 0.5, "stated")),
        ({"passed": 1, "failed": 0.9}, Outcome(True, 1.0, "stated")),
        ({"passed": True, "failed": 4}, Outcome(True, None, "stated")),
        ({"passed": 1, "failed": None}, Outcome(True, 1.0, "stated")),
        ({"success": 1}, Outcome(True, 1.0, "stated")),
        ({"success": True, "reward": 0.5}, Outcome(True, 0.5, "stated")),
    ],
)
def test_a_number_among_counts_is_no_verdict(record: dict[str, object], outcome: Outcome) -> None:
    assert recorded_anywhere(record) == outcome


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"success": True, "reward": 0}, "success true, reward 0"),
        ({"success": False, "reward": 1}, "success false, reward 1"),
        ({"success": 0, "score": "1.0"}, "success false, score 1"),
        ({"resolved": True, "success": False}, "resolved true, success false"),
        (
            {"resolved": "yes", "passed": 0, "reward": 0.5},
            "resolved true, passed false, reward 0.5",
        ),
        ({"reward": 0, "score": 1}, "reward 0, score 1"),
        ({"success": True, "score": False}, "success true, score false"),
    ],
)
def test_what_contradicts_itself_is_unknown_and_says_why(
    record: dict[str, object], words: str
) -> None:
    assert recorded_anywhere(record) == Outcome(reason=f"the log contradicts itself: {words}")


@pytest.mark.parametrize(
    ("record", "outcome"),
    [
        ({"success": True, "reward": 0.001}, Outcome(True, 0.001, "stated")),
        ({"success": False, "score": 0.999}, Outcome(False, 0.999, "stated")),
        ({"success": True, "resolved": "maybe", "reward": 1}, Outcome(True, 1.0, "stated")),
        ({"reward": 0.4, "score": 1}, Outcome(None, 0.4, "stated")),
    ],
)
def test_what_may_both_be_true_is_no_contradiction(
    record: dict[str, object], outcome: Outcome
) -> None:
    assert recorded_anywhere(record) == outcome


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"score": 100}, "`score` says 100, neither a verdict nor a reward"),
        ({"success": "maybe"}, "`success` says maybe, neither a verdict nor a reward"),
        ({"score": 1, "best": 100}, MADE_OUT.format("`score` says 1 beside `best` 100")),
        ({"score": 1, "total": 5}, MADE_OUT.format("`score` says 1 beside `total` 5")),
        ({"score": 6, "max_score": 5}, MADE_OUT.format("`score` says 6 beside `max_score` 5")),
        ({"score": 1, "max_score": 0}, MADE_OUT.format("`score` says 1 beside `max_score` 0")),
        (
            {"reward": 1, "max_reward": 5, "out_of": 9},
            MADE_OUT.format("`reward` says 1 beside `max_reward` 5, `out_of` 9"),
        ),
        (
            {"score": 2, "max_score": 5, "min_score": 1},
            MADE_OUT.format("`score` says 2 beside `max_score` 5, `min_score` 1"),
        ),
        ({"success": " ", "reward": None, "score": {"a": 1}}, ""),
        ({}, ""),
    ],
)
def test_a_value_that_says_nothing_is_why_the_outcome_is_unknown(
    record: dict[str, object], reason: str
) -> None:
    assert recorded_anywhere(record) == Outcome(reason=reason)


@pytest.mark.parametrize(
    ("record", "success", "reward"),
    [
        ({"score": 1, "max_score": 5}, None, 0.2),
        ({"score": 5, "max_score": 5}, None, 1.0),
        ({"score": 80, "max_score": "100"}, None, 0.8),
        ({"score": 1, "out_of": 10}, None, 0.1),
        ({"final_reward": 3, "max_reward": 4}, None, 0.75),
        ({"score": 0.7, "max_score": 1, "best": 1.0, "min_score": 0}, None, 0.7),
        ({"score": 0.7, "total": 5}, None, 0.7),
        ({"score": 0, "total": 5}, None, 0.0),
        ({"reward": 0.5, "score": 3, "max_score": 6}, None, 0.5),
        ({"reward": 0.3, "score": 3, "out_of": 10}, None, 0.3),
        ({"success": True, "score": 1, "best": 100}, True, None),
        ({"score": "pass", "max_score": 5}, True, None),
        ({"reward": 1, "score": 5, "max_score": 5}, None, 1.0),
    ],
)
def test_a_score_is_put_on_the_scale_beside_it(
    record: dict[str, object], success: bool | None, reward: float | None
) -> None:
    found = recorded_anywhere(record)
    assert (found.success, found.source) == (success, "stated")
    assert found.reward == (reward if reward is None else pytest.approx(reward))


@given(st.none() | st.booleans(), st.none() | st.sampled_from([0.0, 0.5, 1.0]))
def test_a_disputed_outcome_is_one_that_two_places_would_dispute(
    success: bool | None, reward: float | None
) -> None:
    outcome = Outcome(success, reward, "user", "said so")
    clash = None not in (success, reward) and reward != 0.5 and success != (reward == 1.0)
    found = undisputed(outcome)
    assert (found is outcome) != clash
    parts = {
        "a": Outcome(success, None, "stated") if success is not None else Outcome(),
        "b": Outcome(None, reward, "stated") if reward is not None else Outcome(),
    }
    assert bool(together(parts).reason) == clash == (not found.known and success is not None)


def test_success_at_moves_the_line_for_rewards_only() -> None:
    assert decided(stated(0.75), success_at=0.7).success is True
    assert decided(stated(0.75), success_at=0.8).success is False
    assert decided(Outcome(False, 0.75, "stated"), success_at=0.7).success is False
    assert decided(Outcome(), success_at=0.1).success is None
