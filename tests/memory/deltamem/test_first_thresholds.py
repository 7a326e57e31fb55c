"""A bank whose thresholds were never set takes them from its first episodes, once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.config import PUBLISHED_EMBEDDER
from deltamem_tui.embedding.hashing import hashing_embedder
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.deltamem.definition import Parameters
from deltamem_tui.memory.deltamem.write import LEAST_SCORES
from deltamem_tui.memory.engine import (
    calibrate,
    learn,
    set_first_thresholds,
)
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.stored_episodes import waiting
from deltamem_tui.memory.method import RulesExtractor, change_settings, settings_of
from deltamem_tui.memory.runs.learning import learn_episodes, view_learning
from deltamem_tui.memory.settings import assigned
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.bank.support import contents

PRESET = Parameters.preset("generic")


def episodes() -> list[Trajectory]:
    """Three kinds of tasks in words, in turn, each with another thing."""
    kinds = (
        "heat the {} in the microwave and put it on the table",
        "find out whether {} conducts electricity with a battery",
        "buy one cheap {} from this shop",
    )
    things = ("apple", "spoon", "cup", "towel", "lamp", "mug")
    return [
        Trajectory(
            kind.format(thing),
            steps=(Step(f"take {thing}", f"you have the {thing}"),),
            outcome=Outcome(success=True, source="stated"),
        )
        for thing in things
        for kind in kinds
    ]


def new_bank(path: Path, count: int | None = None, **more: Any) -> Bank:
    """A bank in which the episodes wait."""
    bank = create_bank(path, embedder="hashing", **more)
    take_in(bank, episodes()[:count])
    return bank


def events(bank: Bank) -> list[str]:
    return [each.event for each in bank.journal.commits()]


def test_before_the_first_is_learnt_the_thresholds_are_set_and_said(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank")
    assert not settings_of(bank)["task"].tau_fixed
    proposed = calibrate(bank)[0].proposed
    found = learn_episodes(bank, RulesExtractor(), list(waiting(bank)))
    numbers = settings_of(Bank.open(bank.path))
    assert (numbers["task"].tau_base, numbers["task"].tau_fixed) == (proposed, True)
    assert numbers["task"].tau_base != PRESET["task"].tau_base
    # No episode says where it was.
    assert numbers["env"] == PRESET["env"]
    first, second = list(bank.journal.commits())[2:4]
    assert (first.event, second.event) == ("parameters", "learn")
    assert (first.detail["why"], first.detail["task"]["tau_base"]) == (
        "the first episodes",
        proposed,
    )
    view = view_learning(found, episodes=18, waiting=0)
    assert view.record["calibrated"] == {"task": {"threshold": proposed, "questions": 18}}
    assert (
        sum(f"task {proposed:g} (18 different questions)" in str(each) for each in view.notes) == 1
    )

    take_in(bank, [replace_task(each) for each in episodes()])
    again = learn_episodes(bank, RulesExtractor(), list(waiting(bank)))
    assert len(again.lessons) == 18
    assert (again.calibrated, events(bank).count("parameters")) == ([], 1)
    assert view_learning(again, episodes=18, waiting=0).record["calibrated"] == {}


def replace_task(each: Trajectory) -> Trajectory:
    return Trajectory(f"{each.task} again", steps=each.steps, outcome=each.outcome)


def test_too_few_episodes_set_none_until_there_are_more(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank", LEAST_SCORES - 1)
    learn_episodes(bank, RulesExtractor(), list(waiting(bank)))
    assert settings_of(bank) == PRESET
    take_in(bank, episodes())
    found = learn_episodes(bank, RulesExtractor(), list(waiting(bank)))
    assert [each.tree for each in found.calibrated] == ["task"]


@pytest.mark.parametrize("stop", [1, 7, 17])
def test_an_interrupted_run_comes_to_the_same(tmp_path: Path, stop: int) -> None:
    """Also where the threshold is the preset's own: nodes that are there already do not count."""
    whole, parts = new_bank(tmp_path / "whole"), new_bank(tmp_path / "parts")
    learn_episodes(whole, RulesExtractor(), list(waiting(whole)))
    learn_episodes(parts, RulesExtractor(), list(waiting(parts))[:stop])
    change_settings(parts, "test", lambda _: PRESET)
    learn_episodes(Bank.open(parts.path), RulesExtractor(), list(waiting(parts)))
    assert settings_of(Bank.open(parts.path)) == settings_of(whole)
    assert contents(Bank.open(parts.path)) == contents(whole)


def assign(text: str) -> Any:
    def fix(bank: Bank) -> None:
        change_settings(bank, "user", lambda numbers: assigned(numbers, text))

    return fix


@pytest.mark.parametrize(
    "fix",
    [
        assign("task.tau_base=0.4"),
        assign(f"task.tau_base={PRESET['task'].tau_base}"),
    ],
)
def test_a_threshold_that_was_set_stays(tmp_path: Path, fix: Any) -> None:
    bank = new_bank(tmp_path / "bank")
    fix(bank)
    chosen = settings_of(bank)["task"].tau_base
    learn_episodes(bank, RulesExtractor(), list(waiting(bank)))
    learn(bank, replace_task(episodes()[0]))
    assert settings_of(bank)["task"].tau_base == chosen


def test_the_published_thresholds_stay_for_the_embedder_that_they_were_published_for(
    tmp_path: Path,
) -> None:
    bank = new_bank(tmp_path / "bank")
    card = {**bank.manifest.embedder, "model": PUBLISHED_EMBEDDER}
    bank.change_manifest("test", lambda now: (replace(now, embedder=card), {}))
    assert set_first_thresholds(bank, hashing_embedder()) == []
