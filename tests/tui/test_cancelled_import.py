"""An import from the browser, cancelled at each of the moments when it can be."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.episodes import importer
from deltamem_tui.trajectory.readers import to_line
from deltamem_tui.tui.core.work import BankChange, Progress
from deltamem_tui.tui.jobs.episodes import import_logs
from tests.tui.support import trajectory

OWN, FOREIGN = 6, 2


class Cancelled(Progress):
    """Work that somebody cancels once it was asked so often whether it is."""

    def __init__(self, after: int) -> None:
        super().__init__("importing", can_stop=True)
        self._left = after

    @property
    def stopped(self) -> bool:
        """Whether it is cancelled by now."""
        self._left -= 1
        return self._left < 0


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return create_bank(tmp_path / "bank", embedder="hashing", domain="alfworld")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    domains = ["alfworld"] * OWN + ["webshop"] * FOREIGN
    episodes = [
        replace(trajectory(f"heat egg {number}", success=True), domain=domain)
        for number, domain in enumerate(domains)
    ]
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(map(to_line, episodes)))
    return path


def imported(bank: Bank) -> int:
    return len(Bank.open(bank.path).episodes)


@pytest.mark.parametrize(
    ("batch", "after"), [(batch, after) for batch in (1, 2, 100) for after in range(OWN + 1)]
)
def test_a_cancelled_import_asks_nothing_and_says_what_it_did(
    bank: Bank, log: Path, monkeypatch: pytest.MonkeyPatch, batch: int, after: int
) -> None:
    monkeypatch.setattr(importer, "_BATCH_EPISODES", batch)
    ended = import_logs(bank.path, str(log), "", Cancelled(after))
    assert isinstance(ended, BankChange)
    assert ended.summary.endswith("(cancelled)")
    assert f"imported {imported(bank)} episode" in ended.summary
    assert imported(bank) == after
