"""Logs come into a bank: read once, stopped, and held against the user's outcomes."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import TrajectoryError
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.episodes.importer import import_of
from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.trajectory.user_outcomes import UserOutcomes
from tests.cli.support import heat, write_log

DOMAINS = ["alfworld", "alfworld", "town", "alfworld"]


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return create_bank(tmp_path / "bank", embedder="hashing", domain="alfworld")


@pytest.fixture
def log(tmp_path: Path) -> str:
    records = [heat(f"egg {n}") | {"domain": domain} for n, domain in enumerate(DOMAINS)]
    return str(write_log(tmp_path / "log.jsonl", records))


def test_every_episode_is_counted_and_every_byte_told(bank: Bank, log: str) -> None:
    job = import_of(bank, [log])
    read: list[int] = []
    job.run(advance=read.append)
    assert len(Bank.open(bank.path).episodes) == job.report.count("imported") == len(DOMAINS)
    assert sum(read) == job.progress.total == Path(log).stat().st_size


def test_it_stops_between_two_episodes(bank: Bank, log: str) -> None:
    left = [False, False, True]
    job = import_of(bank, [log], outcomes=UserOutcomes({"x": Outcome(success=True)}))
    job.run(stopped=lambda: left.pop(0) if left else True)
    assert job.report.count("imported") == 2
    assert job.report.unmatched == []  # the rest of the log may name it


def test_ids_of_the_user_that_name_nothing_are_reported(bank: Bank, log: str) -> None:
    job = import_of(bank, [log], outcomes=UserOutcomes({"x": Outcome(success=True)}))
    job.run()
    assert job.report.unmatched == ["x"]


def test_a_list_that_names_no_episode_is_refused(bank: Bank, log: str) -> None:
    failed = Outcome(success=False, source="user")
    resolved = UserOutcomes({"x": Outcome(success=True)}, failed, only_identified=True)
    with pytest.raises(TrajectoryError, match="none of its 1 id"):
        import_of(bank, [log], outcomes=resolved, outcomes_name="said.json")
