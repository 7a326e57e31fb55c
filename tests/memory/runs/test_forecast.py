"""Whether an earlier episode will come between is foreseen, and the foresight is corrected."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.memory.deltamem.collections import COLLECTIONS
from deltamem_tui.memory.deltamem.episode_query import Encounter
from deltamem_tui.memory.deltamem.settings import of_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.runs.forecast import Forecast, suspect
from tests.memory.support import ChosenEmbedder, EchoExtractor, episode, new_bank, parameters


def test_forecasts_are_confident_until_they_were_wrong_and_learn_back() -> None:
    forecast = Forecast()
    assert forecast.holds("task", suspected=True)
    forecast.correct("task", suspected=True, held=False)
    assert not forecast.holds("task", suspected=True)
    assert forecast.holds("task", suspected=False)
    assert forecast.holds("env", suspected=True)
    forecast.correct("task", suspected=True, held=True)
    assert forecast.holds("task", suspected=True)
    for _ in range(50):
        forecast.correct("task", suspected=True, held=False)
    for _ in range(2):  # however long it went wrong, twice right is enough
        forecast.correct("task", suspected=True, held=True)
    assert forecast.holds("task", suspected=True)


@pytest.mark.parametrize(
    ("earlier", "suspected"),
    [((1, 0.3, 0), True), ((1, 1.0, 0), False), ((0, 0, 1), False)],
    ids=["nearer than the match", "farther", "unlike"],
)
def test_an_earlier_question_nearer_than_the_match_is_suspect(
    tmp_path: Path, earlier: tuple[float, float, float], suspected: bool
) -> None:
    bank, embedder = new_bank(tmp_path / "bank", parameters(tau_base=0.8)), ChosenEmbedder()
    learn(bank, episode((1, 0, 0)), EchoExtractor(), embedder=embedder)
    asked = Encounter(bank, episode((1, 0.4, 0)), embedder)
    found = asked.recall("task", of_bank(bank)["task"])
    assert found.match is not None
    before = Encounter(bank, episode(earlier), embedder)
    assert suspect(bank.tree("task"), asked, found, [before]) is suspected
    assert not suspect(bank.tree("task"), asked, found, [])


def test_where_nothing_matches_the_threshold_decides_and_no_question_is_no_rival(
    tmp_path: Path,
) -> None:
    bank, embedder = new_bank(tmp_path / "bank", parameters(tau_base=0.9)), ChosenEmbedder()
    asked = Encounter(bank, episode((1, 0, 0), (1, 0, 0)), embedder)
    before = Encounter(bank, episode((1, 0.1, 0)), embedder)  # says nothing of its scene
    for name in COLLECTIONS:
        found = asked.recall(name, of_bank(bank)[name])
        assert suspect(bank.tree(name), asked, found, [before]) is (name == "task")
