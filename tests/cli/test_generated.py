"""Episodes of real simulators, from their logs to a bank, as a person does it."""

from __future__ import annotations

import pytest

from tests.cli.support import Program
from tests.effort import thorough
from tests.places import GENERATED

# The log, how many of its episodes are learnt, and how long a residual may be beside a root.
LOGS = {
    "alfworld": ("alfworld_valid_train_experts.jsonl", 139, 1.0),
    "scienceworld": ("scienceworld_train_variations.jsonl", 538, 0.6),
}


@pytest.mark.parametrize("domain", LOGS)
def test_import_and_extract(program: Program, domain: str) -> None:
    name, all_of_them, share = LOGS[domain]
    most = all_of_them if thorough() else all_of_them // 3
    if not (GENERATED / name).exists():
        pytest.skip(f"no {name} beside the project")
    assert program("init", "home", "--embedder", "hashing", "--domain", domain).code == 0
    taken = program.json("import", "home", str(GENERATED / name)).data
    assert taken["rejected"] == 0
    program("calibrate", "home", "--apply")
    learnt = program.json("extract", "home", "--extractor", "rules", "--limit", str(most)).data
    episodes = taken["imported"]
    assert learnt["learned"] == min(most, episodes)
    told = program.json("info", "home").data
    assert (told["learnt"], told["waiting"]) == (learnt["learned"], episodes - learnt["learned"])
    for tree in ("task", "env"):
        found = told[tree]
        assert found["nodes"] == found["roots"] + found["residuals"]
        assert found["roots"] > 0
        assert found["residuals"] > 0
        assert sum(found["depths"].values()) == found["nodes"]
        assert found["mean_tokens_residual"] < share * found["mean_tokens_root"]
    assert "is sound" in program("verify", "home").err
