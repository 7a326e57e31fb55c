"""The journal's bill and its list of refusals, also where a stranger wrote the journal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import ExtractionError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.runs.learning import LearningRun
from deltamem_tui.memory.statistics import history
from deltamem_tui.trajectory.model import Trajectory
from tests.memory.support import ChosenEmbedder, EchoExtractor, episode, new_bank


def log(bank: Bank, event: str, detail: Mapping[str, Any]) -> None:
    with bank.writing() as batch:
        batch.log(event, detail)


@pytest.mark.parametrize(
    "detail",
    [
        {"trees": 3},
        {"trees": {"task": 3, "env": {"calls": {"a": 1}}}},
        {"calls": [3, None, "x"]},
        {"calls": "many"},
        {"trajectory": 3, "reason": ["x"]},
        {"trajectory": "../../etc", "reason": "\x1b[2J"},
    ],
)
def test_what_is_not_of_its_form_is_passed_over(tmp_path: Path, detail: Any) -> None:
    bank = new_bank(tmp_path / "bank")
    log(bank, "refuse", detail)
    log(bank, "learn", detail)
    found = history(bank)
    assert (found.usage, found.refused) == (Usage(), ())


class Stubborn(EchoExtractor):
    def extract(self, tree: Any, trajectory: Trajectory, chain: Any) -> Any:
        raise ExtractionError("will\x1b[31m not " + "x" * 10_000)


def test_a_refusal_is_bounded_kept_once_and_cleared_by_success(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank")
    waiting = episode((1, 0, 0))
    take_in(bank, [waiting])
    for _ in range(2):
        with LearningRun(bank, Stubborn(), embedder=ChosenEmbedder()) as run:
            (refusal,) = run.learn([waiting])
        assert isinstance(refusal, ExtractionError)
    (refused,) = history(bank).refused
    assert refused.trajectory == waiting.id
    assert refused.reason.startswith("will not xxx")
    assert len(refused.reason) <= 400
    assert bank.episodes.waiting() == [waiting.id]
    with LearningRun(bank, EchoExtractor(), embedder=ChosenEmbedder()) as run:
        list(run.learn([waiting]))
    assert history(bank).refused == ()
