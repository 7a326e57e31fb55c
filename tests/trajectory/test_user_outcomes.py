from __future__ import annotations

import json
import os
from pathlib import Path

import orjson
import pytest

from deltamem_tui.errors import UsageError
from deltamem_tui.trajectory.model import Outcome, OutcomeSource, Step, Trajectory
from deltamem_tui.trajectory.user_outcomes import user_outcomes


def episode(name: str = "", **metadata: str) -> Trajectory:
    if name:
        metadata["id"] = name
    return Trajectory("boil water", steps=(Step("wait"),), metadata=metadata)


def given(path: Path, content: object) -> str:
    path.write_bytes(content.encode() if isinstance(content, str) else orjson.dumps(content))
    return str(path)


USER_SUCCESS = Outcome(success=True, source="user")
USER_FAILURE = Outcome(success=False, source="user")


def test_one_word_for_all_unknown_ones() -> None:
    assert user_outcomes("failure").apply(episode()).outcome == USER_FAILURE
    assert user_outcomes("success").apply(episode()).outcome == USER_SUCCESS


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ("", "a folder, and no file of outcomes: "),
        ("pipe", "a pipe or a device, and no file of outcomes: "),
        ("nowhere", "no outcome and no file: "),
    ],
)
def test_what_is_no_file_of_outcomes(tmp_path: Path, choice: str, words: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError) as told:
        user_outcomes(str(tmp_path / choice))
    assert told.value.message.startswith(words)


def test_a_table_may_begin_with_empty_lines_and_hold_odd_ones(tmp_path: Path) -> None:
    rows = "\n ;\nid;outcome;note\na;success;one\u2028two\nb;failure;\n"
    path = given(tmp_path / "outcomes", rows)
    assert user_outcomes(path).apply(episode("a")).outcome == USER_SUCCESS
    assert user_outcomes(path).apply(episode("b")).outcome == USER_FAILURE


@pytest.mark.parametrize("source", ["judge", "user"])
@pytest.mark.parametrize("content", [{"a": False}, ["b"], "id,success\na,false\n"])
def test_a_file_overrules_a_judge_and_an_earlier_word(
    tmp_path: Path, content: object, source: OutcomeSource
) -> None:
    told = episode("a").with_outcome(Outcome(success=True, source=source))
    outcomes = user_outcomes(given(tmp_path / "outcomes", content))
    assert outcomes.apply(told).outcome == USER_FAILURE
    other = episode().with_outcome(Outcome(success=True, source=source))
    assert outcomes.apply(other) is other


def test_a_word_for_all_is_for_those_of_whom_nothing_was_said() -> None:
    told = episode("a").with_outcome(Outcome(success=False, source="judge"))
    assert user_outcomes("success").apply(told) is told


KEYS = ["success", "resolved", "solved", "is_success", "passed", "pass", "correct"]
KEYS += ["outcome", "result", "status"]
WORDS = [("true", "false"), ("yes", "No"), ("Pass", "fail"), ("passed", "FAILED")]
WORDS += [("success", "failure"), ("resolved", "unresolved")]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(("good", "bad"), [*WORDS, ("1", "0")])
def test_columns_of_a_plain_meaning(tmp_path: Path, key: str, good: str, bad: str) -> None:
    table = f"task_id,note,{key}\na,x,{good}\nb,,{bad}\n"
    rows = [{"task_id": "a", key: good}, {"task_id": "b", key: bad, "note": "x"}]
    for content in (table, rows, "\n".join(map(json.dumps, rows))):
        outcomes = user_outcomes(given(tmp_path / "outcomes", content))
        told = {name: each.success for name, each in outcomes.by_id.items()}
        assert told == {"a": True, "b": False}
        assert outcomes.otherwise is None


def test_a_status_that_is_no_outcome_is_passed_over_beside_one_that_is(tmp_path: Path) -> None:
    outcomes = user_outcomes(given(tmp_path / "o", "id,status,result,success\na,done,42.7,no\n"))
    assert outcomes.by_id == {"a": USER_FAILURE}


def test_ids_are_trajectory_ids_or_the_logs_own(tmp_path: Path) -> None:
    trajectory = episode()
    by_digest = user_outcomes(given(tmp_path / "o.json", {trajectory.id: True}))
    assert by_digest.apply(trajectory).outcome == USER_SUCCESS
    by_instance = user_outcomes(given(tmp_path / "p.json", {"django-1": True}))
    assert by_instance.apply(episode(instance_id="django-1")).outcome == USER_SUCCESS


@pytest.mark.parametrize(
    "content", [["a"], {"resolved_ids": ["a"]}, {"resolved": ["a"]}, "instance_id\na\n"]
)
def test_a_list_of_resolved_ids_speaks_of_identified_episodes(
    tmp_path: Path, content: object
) -> None:
    outcomes = user_outcomes(given(tmp_path / "resolved", content))
    assert outcomes.apply(episode("a")).outcome == USER_SUCCESS
    assert outcomes.apply(episode("b")).outcome == USER_FAILURE
    assert not outcomes.apply(episode()).outcome.known


@pytest.mark.parametrize(
    ("lists", "ends"),
    [
        ({"unresolved_ids": ["b"], "error_ids": ["c"]}, [True, False, False, None]),
        ({"unresolved_ids": []}, [True, None, None, None]),
        ({"submitted_ids": ["a"], "unresolved_ids": []}, [True, None, None, None]),
        ({"submitted_ids": ["a", "b"]}, [True, False, None, None]),
        ({"completed_ids": ["a", "c"], "unresolved_ids": ["b"]}, [True, False, False, None]),
        ({"resolved": 1, "total": 3}, [True, False, False, False]),
    ],
)
def test_a_report_judges_only_those_that_it_lists(
    tmp_path: Path, lists: dict[str, object], ends: list[bool | None]
) -> None:
    report = {"total": 3, "resolved_ids": ["a"]} | lists
    outcomes = user_outcomes(given(tmp_path / "report.json", report))
    assert [outcomes.apply(episode(name)).outcome.success for name in "abcd"] == ends
    assert outcomes.must_name_one == (ends[-1] is False)


def test_what_a_file_says_of_an_episode_is_told_beside_what_its_log_states(tmp_path: Path) -> None:
    told = episode("a").with_outcome(Outcome(success=True, source="stated"))
    assert user_outcomes(given(tmp_path / "o", {"a": False})).verdict_on(told) is False
    assert user_outcomes(given(tmp_path / "o", ["b"])).verdict_on(told) is False
    assert user_outcomes(given(tmp_path / "o", {"b": False})).verdict_on(told) is None
    assert user_outcomes("failure").verdict_on(told) is None
