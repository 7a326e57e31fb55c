"""`deltamem extract --admit`: whose word counts of episodes that nobody is named for."""

from __future__ import annotations

from typing import Any

import pytest

from deltamem_tui.memory.policies.admission import POLICIES, admitted_by
from deltamem_tui.trajectory.model import Outcome
from tests.cli.support import Program, heat

SOURCES: list[dict[str, Any]] = [{}, {"source": "unknown"}, {"source": None}]

OTHERS = 1
"""How many episodes of unknown end wait in the bank of the tests already."""


BELIEVING_LOGS = [each for each in POLICIES if admitted_by(each, Outcome(True, None, "stated"))]


def learned(program: Program, policy: str) -> Any:
    found = program.json("extract", "kitchen", "--extractor", "rules", "--admit", policy)
    assert found.code == 0
    return found.data


@pytest.mark.parametrize("policy", BELIEVING_LOGS)
@pytest.mark.parametrize("said", SOURCES)
def test_an_end_that_a_log_states_without_a_source_is_its_own_word(
    program: Program, policy: str, said: dict[str, Any]
) -> None:
    outcome = {"success": True, **said}
    log = program.log(heat("bread") | {"outcome": outcome})
    (taken,) = program.json("import", "kitchen", log).data["trajectories"]
    assert (taken["success"], taken["outcome_source"]) == (True, "stated")
    data = learned(program, policy)
    assert (data["learned"], data["waiting"], data["not_admitted"]) == (1, OTHERS, 0)
