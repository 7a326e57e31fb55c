"""Banks that learn from generated episodes through the loopback server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from deltamem_tui.bank import usage_log
from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.deltamem.definition import Parameters, TreeParameters
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.stored_episodes import waiting
from deltamem_tui.memory.plan import LearnResult
from deltamem_tui.memory.runs.learning import LearningRun
from deltamem_tui.memory.writers.model.writer import ModelExtractor
from deltamem_tui.trajectory.model import Trajectory
from tests.llm.server import ModelServer
from tests.llm.support import client

NUMBERS = TreeParameters(tau_base=0.9, k_cons=2)


def bank_with(
    path: Path, episodes: Iterable[Trajectory], numbers: TreeParameters | None = NUMBERS
) -> Bank:
    """A bank in which these episodes wait; with its domain's own numbers if there are none."""
    parameters: Parameters | None = Parameters(numbers, numbers) if numbers else None
    bank = create_bank(path, embedder="hashing", domain="alfworld", parameters=parameters)
    take_in(bank, episodes)
    return bank


def run_over(
    bank: Bank, server: ModelServer, concurrency: int = 1, **more: Any
) -> tuple[list[LearnResult | DeltaMemError], LearningRun]:
    """Learn all that waits, and give back what the run said."""
    of_run = {name: more.pop(name) for name in ("stopped",) if name in more}
    extractor = ModelExtractor(client(server, **more), bank.manifest.domain)
    with LearningRun(bank, extractor, concurrency=concurrency, **of_run) as run:
        return list(run.learn(waiting(bank))), run


def learnt_files(bank: Bank) -> dict[str, bytes]:
    """What must not depend on how the bank came about: all but clocks, names and locks."""
    unlike = {"journal.jsonl", "usage.jsonl", ".lock", "bank.json"}
    return {
        path.name: path.read_bytes()
        for path in sorted(bank.path.iterdir())
        if path.name not in unlike
    }


def told(bank: Bank) -> list[tuple[str, Any]]:
    """The journal without its clock."""
    return [(commit.event, commit.detail) for commit in bank.journal.commits()]


def payments(bank: Bank) -> list[Any]:
    """The lines of `usage.jsonl` that state answers that were paid for."""
    return [record for record in usage_log.records(bank.path) if record["calls"]]


def lessons_of(outcomes: Sequence[LearnResult | DeltaMemError]) -> list[LearnResult]:
    return [each for each in outcomes if isinstance(each, LearnResult)]
