"""A question finds what was filed by the kind that a log states, as if the rules had named it."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn, recall
from tests.memory.writers.rules.episodes import HEAT, KITCHEN

SAME = "put a hot cup in shelf."
STATED = {"task_kind": "pick_heat_then_place", "env_kind": "kitchen of one wall"}


@pytest.mark.parametrize("method", ["awm", "cdmem"])
@pytest.mark.parametrize("metadata", [{}, STATED])
def test_what_a_log_files_is_found_by_the_rules(
    tmp_path: Path, method: str, metadata: dict[str, str]
) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", domain="alfworld", method=method)
    learn(bank, HEAT.with_facts(metadata=metadata))
    asked = recall(bank, SAME, KITCHEN).collections
    found = {name for name, answer in asked.items() if answer and answer.chain}
    assert found == ({"workflows"} if method == "awm" else {"short", "environments"})
    other = recall(bank, "put a clean cup in shelf.").collections
    assert not any(answer and answer.chain for answer in other.values())


@pytest.mark.parametrize("method", ["awm", "cdmem"])
def test_of_a_log_that_states_some_kinds_the_rules_kind_is_asked(
    tmp_path: Path, method: str
) -> None:
    """Stated kinds are kept as they are stated: a coarse one must not take the others in."""
    bank = create_bank(tmp_path / "bank", embedder="hashing", domain="alfworld", method=method)
    by_rules = replace(HEAT, task="put a hot pan in cabinet.")
    learn(bank, HEAT.with_facts(metadata=STATED))
    learn(bank, by_rules)
    collection = "workflows" if method == "awm" else "short"
    assert len(list(bank.tree(collection).roots())) == 2
    found = recall(bank, SAME, KITCHEN)[collection]
    assert found is not None
    assert [chain[-1].origin.trajectory for chain in found.chains] == [by_rules.id]
