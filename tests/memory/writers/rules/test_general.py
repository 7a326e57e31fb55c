"""WebShop, and agents of no known domain."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from deltamem_tui.errors import ExtractionError, OutcomeUnknownError
from deltamem_tui.memory.rules_extractor import RulesExtractor
from deltamem_tui.trajectory.model import Outcome, Step
from tests.memory.support import extract
from tests.memory.writers.rules.episodes import CODING, HAIR, LOST, learnt

RULES = RulesExtractor()


def test_a_purchase_keeps_what_each_page_showed() -> None:
    payload = learnt(HAIR)[0].payload
    assert payload["activation_condition"] == (
        "i need a clip-in hair extension, and price lower than N dollars"
    )
    assert payload["execution_procedure"] == (
        "1. search[clip-in hair extension] (2 items at $34.89, $9.98)\n"
        "2. click[{item}] (options color: brown, natural black and size: 12 inch, 22 inch)\n"
        "3. click[natural black]\n"
        "4. click[Buy Now] (Your score (min 0.0, max 1.0): 1.0)"
    )


def test_a_missed_purchase_names_what_was_not_clicked() -> None:
    lines = learnt(HAIR.with_outcome(LOST))[0].payload["execution_procedure"].splitlines()
    assert "[FAILED] click[blue] → Invalid action!" in lines
    assert lines[-1] == "[UNEXPLORED] click a size (12 inch, 22 inch); 1 other items in the results"


def test_a_shop_is_known_by_its_options() -> None:
    assert learnt(HAIR, "env")[0].payload["execution_procedure"] == (
        "- search clip-in hair extension: results cost $34.89, $9.98\n"
        "- option color of clip-in hair extension: 2 choices such as brown, natural black\n"
        "- option size of clip-in hair extension: 2 choices such as 12 inch, 22 inch\n"
        "- refused: click[blue]"
    )


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
