"""A replay from end to end, on episodes of two kinds."""

from __future__ import annotations

import os
import tempfile
from itertools import count
from pathlib import Path

import msgspec
import pytest

from deltamem_tui.embedding.load import load
from deltamem_tui.errors import UsageError
from deltamem_tui.memory.replay.contest import ReplayTools
from deltamem_tui.memory.replay.contestants import Contestant, contestants
from deltamem_tui.memory.replay.episodes import (
    in_order,
    judge_errors,
    judged_by_chance,
    strict_word,
)
from deltamem_tui.memory.replay.replay import ReplayPlan, replay
from deltamem_tui.memory.replay.result import ReplayResult
from deltamem_tui.memory.rules_extractor import RulesExtractor
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.bank.quick_disk import no_waiting_for_the_disk
from tests.effort import in_turn

__all__ = ["no_waiting_for_the_disk"]


def episode(number: int) -> Trajectory:
    """Even ones heat and odd ones sweep; of each kind every third fails."""
    verb, thing = (("heat", "egg"), ("sweep", "hall"))[number % 2]
    outcome = Outcome(number % 3 != 2, source="stated")
    steps = (Step(f"take tool {number}", "You take it."), Step(f"{verb} {thing}", "Done."))
    facts = {"task_type": verb}
    task = f"{verb} the {thing} number {number}"
    return Trajectory(task, "A house.", steps, outcome, domain="alfworld", metadata=facts)


EPISODES = [episode(number) for number in range(10)]
PLAN = ReplayPlan(
    [
        *contestants(["synapse"], ["strict"], ["none", "capacity=1"]),
        Contestant("synapse", "unjudged"),
    ],
    ("recorded", "shifted", "recorded"),
    judge_error=0.2,
)


class KilledError(Exception):
    """Stands for a signal between two episodes."""


def replayed(folder: Path, plan: ReplayPlan = PLAN, until: int | None = None) -> ReplayResult:
    calls = iter(range(until)) if until is not None else iter(range(10**6))

    def between(*_: object) -> None:
        if next(calls, None) is None:
            raise KilledError

    tools = ReplayTools("alfworld", load("hashing"), RulesExtractor())
    return replay(EPISODES, plan, tools, folder=folder, between=between)


@pytest.fixture(scope="module")
def undisturbed(
    tmp_path_factory: pytest.TempPathFactory, no_waiting_for_the_disk: None
) -> ReplayResult:
    return replayed(tmp_path_factory.mktemp("whole"))


def test_each_policy_keeps_and_recalls_what_it_must(undisturbed: ReplayResult) -> None:
    strict, capped, unjudged = undisturbed.contestants[:3]
    assert [each.order for each in undisturbed.contestants] == ["recorded"] * 3 + ["shifted"] * 3
    assert (undisturbed.episodes, undisturbed.kinds) == (10, 2)
    assert (strict.learnt, strict.sizes.nodes) == (10, 7)  # exemplars are successes
    assert (capped.sizes.nodes, capped.sizes.peak, capped.sizes.deletions) == (1, 1, 6)
    assert (unjudged.sizes.nodes, unjudged.sizes.by_label) == (10, {"success": 10})
    values = [each.measures["store_precision"].estimate.value for each in (strict, unjudged)]
    assert values[0] == 1
    assert values[1] is not None
    assert values[1] < 1
    assert strict.measures["coverage"].difference.value == 0
    assert ["regret" in each.measures for each in (strict, capped)] == [False, True]
    assert strict.curves.nodes[-1] == 7
    assert strict.curves.episodes == (*range(1, 11),)


def test_a_result_is_read_back_from_its_json(undisturbed: ReplayResult) -> None:
    kept = msgspec.json.encode(undisturbed)
    assert msgspec.json.decode(kept, type=ReplayResult) == undisturbed


def test_a_killed_replay_goes_on_and_ends_the_same(
    tmp_path: Path, undisturbed: ReplayResult
) -> None:
    for kill in in_turn(60, apart=60):
        with pytest.raises(KilledError):
            replayed(tmp_path, until=kill - 1)
        assert len([*tmp_path.glob("*/*.json")]) == (kill - 1) // 10
        assert replayed(tmp_path) == undisturbed
        assert not [*tmp_path.iterdir()]


def test_the_bank_that_a_killed_replay_leaves_goes_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undisturbed: ReplayResult
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", None)
    if (child := os.fork()) == 0:
        tools = ReplayTools("alfworld", load("hashing"), RulesExtractor())
        begun = count()
        try:
            replay(
                EPISODES,
                PLAN,
                tools,
                folder=tmp_path / "work",
                between=lambda *_: os._exit(9) if next(begun) == 5 else None,
            )
        finally:
            os._exit(1)
    os.waitpid(child, 0)
    assert len([*scratch.iterdir()]) == 1
    assert replayed(tmp_path / "work") == undisturbed
    assert not [*scratch.iterdir()]


def test_a_replay_without_truth_or_judge_is_refused(tmp_path: Path) -> None:
    tools = ReplayTools("alfworld", load("hashing"), RulesExtractor())
    with pytest.raises(UsageError, match="no judge"):
        replay(EPISODES, ReplayPlan([Contestant("awm", "coarse")]), tools, folder=tmp_path)
    untold = [each.with_facts(outcome=Outcome()) for each in EPISODES]
    with pytest.raises(UsageError, match="no episode"):
        replay(untold, ReplayPlan([Contestant("awm")]), tools, folder=tmp_path)


def test_a_simulated_judge_errs_as_often_as_it_is_told() -> None:
    many = [
        Trajectory(str(number), outcome=Outcome(number % 2 == 0, source="stated"))
        for number in range(2000)
    ]
    judged = [judged_by_chance(each, 0.2, 3) for each in many]
    assert judged == [judged_by_chance(each, 0.2, 3) for each in judged]
    assert [strict_word(each) for each in judged] == [each.outcome for each in many]
    found = judge_errors(judged)
    for share in (found.false_accepts, found.false_rejects):
        assert share.judged == 1000
        assert 150 < share.successes < 250
    always = judge_errors(judged_by_chance(each, 1, 3) for each in many)
    assert always.false_accepts.mean == always.false_rejects.mean == 1


def test_orders_are_blocks_of_kinds_or_drawn_with_a_seed() -> None:
    kinds = {each.id: each.metadata["task_type"] for each in EPISODES}
    shifted = in_order(EPISODES, kinds, "shifted", 0)
    assert shifted == EPISODES[::2] + EPISODES[1::2]
    shuffled = in_order(EPISODES, kinds, "shuffled", 0)
    assert shuffled != EPISODES
    assert sorted(shuffled, key=EPISODES.index) == EPISODES
    assert shuffled == in_order(EPISODES, kinds, "shuffled", 0)
