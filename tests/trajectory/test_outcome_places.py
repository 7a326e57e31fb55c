"""A verdict counts under a plain name at a plain place; what may mean more is only a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.trajectory.outcomes import recorded_anywhere
from tests.trajectory.readers.samples import episode, lines

CHAT = [
    {"role": "user", "content": "Heat the egg."},
    {"role": "assistant", "content": "I heat the egg."},
]


@pytest.mark.parametrize(
    ("record", "success", "reward"),
    [
        ({"outcome": "failed"}, False, None),
        ({"outcome": " Success "}, True, None),
        ({"outcome": True}, True, None),
        ({"outcome": {"success": True}}, True, None),
        ({"outcome": {"success": False, "reward": 0.25}}, False, 0.25),
        ({"outcome": {"score": 5, "max_score": 10}}, None, 0.5),
        ({"result": "fail"}, False, None),
        ({"status": "unresolved"}, False, None),
        ({"metadata": {"success": True}}, True, None),
        ({"metrics": {"reward": 0.75}}, None, 0.75),
        ({"success": True, "status": "failed"}, True, None),
        ({"success": False, "outcome": "failed", "metrics": {"reward": 0.0}}, False, 0.0),
    ],
)
def test_what_is_taken(
    record: dict[str, object], success: bool | None, reward: float | None
) -> None:
    assert recorded_anywhere(record) == Outcome(success, reward, "stated")


@pytest.mark.parametrize(
    "record",
    [
        {"status": "completed"},
        {"status": "failed"},
        {"result": "yes"},
        {"result": True},
        {"result": {"success": True}},
        {"metadata": {"passed": True}},
        {"outcome": "partly"},
        {"outcome": 3},
        {"metrics": {"score": 85}},
        {"result": "", "status": None, "metadata": "none"},
    ],
)
def test_what_is_not_taken(record: dict[str, object]) -> None:
    assert not recorded_anywhere(record).known


def test_what_stands_under_a_plain_name_and_says_nothing_is_the_reason() -> None:
    outcome = recorded_anywhere({"score": "85%", "status": "completed"})
    assert outcome == Outcome(reason="`score` says 85%, neither a verdict nor a reward")


CONTRADICTIONS = [
    {"success": False, "outcome": "success"},
    {"is_success": True, "result": "fail"},
    {"resolved": True, "status": "unresolved"},
    {"success": True, "metadata": {"success": False}},
    {"outcome": "success", "metrics": {"reward": 0}},
    {"outcome": {"success": True, "resolved": False}},
]


@pytest.mark.parametrize("record", CONTRADICTIONS)
def test_two_verdicts_that_differ_are_none(record: dict[str, object]) -> None:
    outcome = recorded_anywhere(record)
    assert outcome == Outcome(reason=outcome.reason)
    assert outcome.reason.startswith("the log contradicts itself: ")


def test_a_chat_s_own_words_count(tmp_path: Path) -> None:
    chats = lines({"messages": CHAT, "outcome": {"success": True}, "status": "failed"})
    assert episode(tmp_path, chats).outcome == Outcome(True, source="stated")
    issue = {"messages": CHAT, "generated_patch": "", "status": "completed", "target": False}
    assert episode(tmp_path, lines(issue)).outcome == Outcome(False, source="stated")
    assert episode(tmp_path, lines(issue | {"success": True})).outcome.success is True
