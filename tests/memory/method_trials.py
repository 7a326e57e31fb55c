"""What every method must stand: real episodes in two runs, and the end of the process anywhere."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import StorageError
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers import read_logs
from tests.bank.fragile import NEVER, FragileOS, KilledError
from tests.bank.support import contents, file_bytes
from tests.effort import in_turn
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


def assert_whole_wherever_it_ends(
    bank: Bank, episode: Trajectory, embedder: Embedder, writer: Writer | None, folder: Path
) -> None:
    """Killed at any effect, an episode is learnt or not, and learning goes on to the same bytes."""

    def copy(name: str) -> Bank:
        shutil.copytree(bank.path, folder / name)
        return Bank.open(folder / name)

    before, undisturbed = contents(bank), copy("undisturbed")
    with FragileOS(NEVER).at_work() as counting:
        learn(undisturbed, episode, writer, embedder=embedder)
    after, final = contents(undisturbed), file_bytes(undisturbed.path)
    for last in in_turn(len(counting.names), apart=5):
        mortal = copy(f"killed at {last}")
        try:
            with FragileOS(last, "half").at_work():
                learn(mortal, episode, writer, embedder=embedder)
        except (KilledError, StorageError):
            pass
        found = Bank.open(mortal.path)
        assert contents(found) in (before, after), last
        learn(found, episode, writer, embedder=embedder)
        with found.writing():  # whoever writes next repairs what is left half
            pass
        assert contents(found) == after, last
        assert file_bytes(found.path) == final, last
