from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from deltamem_tui.errors import UsageError
from deltamem_tui.trajectory.model import Outcome, OutcomeSource, Step, Trajectory
from deltamem_tui.trajectory.user_outcomes import UserOutcomes, user_outcomes


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


def test_the_logs_own_word_wins() -> None:
    told = episode().with_outcome(Outcome(success=False, source="stated"))
    assert user_outcomes("success").apply(told) is told


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


def test_a_word_is_for_all_and_a_file_for_those_that_it_names(tmp_path: Path) -> None:
    assert UserOutcomes().are_for_all
    assert user_outcomes("failure").are_for_all
    files: list[object] = [{"a": True}, ["a"], {"resolved_ids": []}]
    for content in files:
        assert not user_outcomes(given(tmp_path / "outcomes", content)).are_for_all


def test_a_word_for_all_is_for_those_of_whom_nothing_was_said() -> None:
    told = episode("a").with_outcome(Outcome(success=False, source="judge"))
    assert user_outcomes("success").apply(told) is told


def test_a_count_of_tests_is_no_outcome(tmp_path: Path) -> None:
    rows = [{"id": "a", "correct": 1, "total": 5}]
    with pytest.raises(UsageError, match="not an outcome"):
        user_outcomes(given(tmp_path / "o.json", rows))
    rows = [{"id": "a", "correct": 1, "total": 5, "reward": 0.2}]
    outcome = user_outcomes(given(tmp_path / "o.json", rows)).apply(episode("a")).outcome
    assert (outcome.success, outcome.reward) == (False, 0.2)


@pytest.mark.parametrize(
    "content",
    [
        {"a": True, "b": 0.25},
        {"a": "success", "b": {"success": False, "reward": 0.25}},
        [{"instance_id": "a", "resolved": True}, {"instance_id": "b", "reward": 0.25}],
        '{"id": "a", "success": 1.0}\n{"id": "b", "score": 0.25}\n',
        "id,reward\na,1\nb,0.25\n",
        "a;true\nb;0.25\n",
        "name\tsuccess\na\tyes\nb\t0.25\n",
    ],
    ids=["mapping", "nested", "records", "jsonl", "csv", "bare-table", "tsv"],
)
def test_side_files(tmp_path: Path, content: object) -> None:
    outcomes = user_outcomes(given(tmp_path / "outcomes", content))
    assert outcomes.apply(episode("a")).outcome.success is True
    failed = outcomes.apply(episode("b")).outcome
    assert (failed.success, failed.reward, failed.source) == (False, 0.25, "user")
    assert not outcomes.apply(episode("c")).outcome.known


@pytest.mark.parametrize(
    "content",
    [
        "id,success,reward\na,0,1.0\nb,1,0.5\n",
        {"a": {"success": 0, "reward": 1.0}, "b": {"resolved": 1, "score": 0.5}},
        [{"id": "a", "correct": "0", "score": 1}, {"id": "b", "outcome": "1", "score": 0.5}],
    ],
)
def test_a_verdict_in_numbers_counts_more_than_a_reward(tmp_path: Path, content: object) -> None:
    outcomes = user_outcomes(given(tmp_path / "outcomes", content))
    assert outcomes.by_id == {"a": Outcome(False, 1.0, "user"), "b": Outcome(True, 0.5, "user")}


def test_success_at_reads_rewards(tmp_path: Path) -> None:
    choice = given(tmp_path / "o.json", {"a": 0.8})
    assert user_outcomes(choice).apply(episode("a")).outcome.success is False
    assert user_outcomes(choice, success_at=0.8).apply(episode("a")).outcome.success is True


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


def test_a_report_that_names_failures_leaves_others_unknown(tmp_path: Path) -> None:
    report = {"total": 3, "resolved_ids": ["a"], "unresolved_ids": ["b"], "error_ids": ["c"]}
    outcomes = user_outcomes(given(tmp_path / "report.json", report))
    found = [outcomes.apply(episode(name)).outcome.success for name in "abcd"]
    assert found == [True, False, False, None]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"a": "perhaps"}, "not an outcome: perhaps"),
        ({"a": 37}, "not an outcome: 37"),
        ([{"id": "a", "success": True}, {"id": "a", "success": False}], "second, different"),
        ([{"success": True}, {"success": True}], "no id"),
        ("id,success\na,true\nb\n", "some rows"),
        ('{"id": "a", "success": true}\n{"id": "b", "succ', "middle of a value"),
        ("", "empty"),
        ("id,success,note\na,true,\nb,true," + "x" * 140_000, "line 3: .*131,?072"),
        ('id,success\n"a,true\n' + "b,true\n" * 30_000, "line .*131,?072.*quotation mark"),
        ("id,success," + "x" * (65 << 20), "line 1: a record of more than 64 MB"),
        ("id,success\na,true," + "x" * (65 << 20) + "\nb,true", "line 2: a record of more than"),
    ],
)
def test_side_files_that_cannot_be_understood(tmp_path: Path, content: object, words: str) -> None:
    choice = given(tmp_path / "outcomes", content)
    with pytest.raises(UsageError, match=words) as caught:
        user_outcomes(choice)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_neither_word_nor_file() -> None:
    with pytest.raises(UsageError, match="succes"):
        user_outcomes("succes")
