"""WebShop, and agents of no known domain."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from deltamem_tui.errors import ExtractionError, OutcomeUnknownError
from deltamem_tui.memory.rules_extractor import RulesExtractor
from deltamem_tui.trajectory.model import Outcome, Step
from tests.memory.support import extract
from tests.memory.writers.rules.episodes import CODING, learnt

RULES = RulesExtractor()


def test_an_agent_with_tools() -> None:
    payload = learnt(CODING)[0].payload
    assert payload["activation_condition"] == (
        "Make the test in tests/test_dates.py pass, see issue 4213."
    )
    lines = payload["execution_procedure"].splitlines()
    assert "Edited: src/dates.py" in lines
    assert not payload["termination_condition"]


def test_without_a_task_there_is_no_skill() -> None:
    with pytest.raises(ExtractionError, match="no task"):
        extract(RULES, "task", replace(CODING, task=" \x07 "), ())


def test_without_an_outcome_there_is_no_skill_but_there_is_knowledge() -> None:
    unknown = replace(CODING, steps=(Step("make test", "ok"),)).with_outcome(Outcome())
    with pytest.raises(OutcomeUnknownError, match="outcome"):
        extract(RULES, "task", unknown, ())
    assert extract(RULES, "env", unknown, ()).payload is not None


@pytest.mark.parametrize("tree", ["task", "env"])
def test_an_episode_without_steps_says_nothing(tree: str) -> None:
    extraction = extract(RULES, "task" if tree == "task" else "env", replace(CODING, steps=()), ())
    assert extraction.payload is None
    assert extraction.reason
