"""What every method must stand: real episodes in two runs, and the end of the process anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.reading import read_logs
from tests.places import GENERATED

LOGS = {
    "alfworld": GENERATED / "alfworld_valid_train_experts.jsonl",
    "scienceworld": GENERATED / "scienceworld_train_variations.jsonl",
}


def real_episodes(domain: str) -> list[Trajectory]:
    """All episodes that were rolled out on a simulator, each once; a test without them skips."""
    if not GENERATED.is_dir():
        pytest.skip("the generated episodes are not here")
    found = (each for each in read_logs([LOGS[domain]]))
    return list({each.id: each for each in found if isinstance(each, Trajectory)}.values())


def learnt(path: Path, method: str, domain: str, episodes: Sequence[Trajectory]) -> Bank:
    """A new bank that learnt from episodes by rules, its handle opened anew half way."""
    bank = create_bank(path, embedder="hashing", domain=domain, method=method)
    for number, each in enumerate(episodes):
        bank = Bank.open(path) if number == len(episodes) // 2 else bank
        learn(bank, each)
    return bank
