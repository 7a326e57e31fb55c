"""Of real work every method hands over the facts of the episodes that it retrieves."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory

METHODS = ["awm", "cdmem", "memp", "reasoningbank", "synapse"]
WON = Outcome(success=True, source="stated")


def session(task: str, *files: str) -> Trajectory:
    steps = [Step(f"sed -i 's/a/b/' {file}", "") for file in files]
    check = Step("pytest tests/test_dates.py", "2 passed in 0.01s")
    return Trajectory(task, steps=(*steps, check), outcome=WON)


@pytest.mark.parametrize("method", METHODS)
def test_an_agent_reads_the_files_and_checks_of_near_tasks(tmp_path: Path, method: str) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", method=method)
    learn(bank, session("mend the parsing of dates", "src/dates.py", "src/zones.py"))
    found = recall(bank, "the parsing of dates is wrong")
    assert all(text in found.context for text in ("dates.py", "pytest tests/test_dates.py"))
    assert found.context.count("Evidence: 1 past task") == 1
    assert found.receipt is not None
    assert found.receipt.entries


@pytest.mark.parametrize("method", METHODS)
def test_what_is_handed_over_stays_within_its_budget(tmp_path: Path, method: str) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", method=method)
    for number in range(6):
        files = (f"src/part{number}/file{each}.py" for each in range(40))
        learn(bank, session(f"rename part {number} of the program", *files))
    assert 0 < len(recall(bank, "rename part 7 of the program").context) <= 300 * 4


@pytest.mark.parametrize("method", METHODS)
def test_a_plug_ins_domain_reads_what_the_method_wrote(tmp_path: Path, method: str) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", method=method, domain="webshop")
    learn(bank, session("buy a red shoe", "src/dates.py"))
    assert "Evidence" not in recall(bank, "buy a blue shoe").context
