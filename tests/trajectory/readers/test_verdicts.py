"""What several scores of one episode say together."""

from __future__ import annotations

import pytest

from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.trajectory.readers.verdicts import Score, verdict


@pytest.mark.parametrize(
    ("scores", "outcome"),
    [
        ([Score("toxicity", 1), Score("latency", 0.2)], Outcome()),
        ([Score("toxicity", 85), Score("latency", "slow")], Outcome()),
        ([Score("score", None), Score("reward", "")], Outcome()),
        (
            [Score("score", 85), Score("reward", "good")],
            Outcome(reason="`score` says 85, neither a verdict nor a reward"),
        ),
        ([Score("score", "good"), Score("passed", 0, "judge")], Outcome(False, 0.0, "judge")),
        # One that passed beside four that failed is a count of tests.
        (
            [Score("passed", 1), Score("Failed", 4)],
            Outcome(reason="`passed` says 1, a count beside others and no verdict"),
        ),
        (
            [Score("passed", 1), Score("failed", 4), Score("score", 0.2)],
            Outcome(None, 0.2, "stated"),
        ),
        # What is no count makes none of others, and what was one thing says the same either way.
        ([Score("success", 1), Score("total", 0.9)], Outcome(True, 1.0, "stated")),
        ([Score("success", 1), Score("failed", 0)], Outcome(True, 1.0, "stated")),
        ([Score("passed", 0), Score("failed", 1)], Outcome(False, 0.0, "stated")),
        ([Score("success", 0.7), Score("failed", 0)], Outcome(None, 0.7, "stated")),
        (
            [Score("passed", 1), Score("total", 1), Score("failed", 0)],
            Outcome(reason="`passed` says 1, a count beside others and no verdict"),
        ),
        (
            [Score("passed", 0), Score("failed", 0)],
            Outcome(reason="`passed` says 0, a count beside others and no verdict"),
        ),
        (
            [Score("Task Success", 7)],
            Outcome(reason="`Task Success` says 7, neither a verdict nor a reward"),
        ),
        ([Score("passed", True), Score("failed", 4)], Outcome(True, None, "stated")),
        ([Score("Task Success", True)], Outcome(True, None, "stated")),
        ([Score("isCorrect", "false")], Outcome(False, None, "stated")),
        ([Score("score", -100)], Outcome(None, 0.0, "stated")),
        ([Score("success", 1, "judge"), Score("reward", 1)], Outcome(None, 1.0, "stated")),
        ([Score("correctness", 0.2, "judge", "weak")], Outcome(None, 0.2, "judge", "weak")),
        ([Score("success", True), Score("reward", 1.0)], Outcome(True, 1.0, "stated")),
        ([Score("reward", 1.0), Score("passed", "yes", "judge")], Outcome(None, 1.0, "stated")),
        ([Score("success", "no"), Score("reward", 0.4)], Outcome(False, 0.4, "stated")),
        ([Score("success", False), Score("solved", True, "judge")], Outcome(False, None, "stated")),
        (
            [Score("success", True, "judge", "fine"), Score("score", 1, "judge")],
            Outcome(True, 1.0, "judge", "fine"),
        ),
        # Both agree for those who call 0.4 a success, and a verdict says more than a reward.
        ([Score("success", True), Score("reward", 0.4)], Outcome(True, 0.4, "stated")),
        ([Score("success", 1), Score("reward", 0.4)], Outcome(True, 0.4, "stated")),
        ([Score("passed", "0"), Score("score", 0.9)], Outcome(False, 0.9, "stated")),
        ([Score("success", 0.7)], Outcome(None, 0.7, "stated")),
        ([Score("correctness", 1)], Outcome(None, 1.0, "stated")),
        # Nobody calls nothing a success, or all of it a failure.
        (
            [Score("success", True), Score("reward", 0)],
            Outcome(reason="its scores disagree: success True, reward 0"),
        ),
        (
            [Score("success", 0), Score("reward", 1.0)],
            Outcome(reason="its scores disagree: success 0, reward 1.0"),
        ),
        (
            [Score("reward", 0.2), Score("score", 0.4)],
            Outcome(reason="its scores disagree: reward 0.2, score 0.4"),
        ),
        (
            [Score("success", 1), Score("correctness", 0)],
            Outcome(reason="its scores disagree: success 1, correctness 0"),
        ),
    ],
)
def test_only_scores_about_the_task_count(scores: list[Score], outcome: Outcome) -> None:
    assert verdict(scores) == outcome
