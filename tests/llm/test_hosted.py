"""A program that names a hosted model reaches the loopback, as its command line stands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.llm.hosted import KEY, hosted
from tests.memory.writers.model.generated import generated
from tests.memory.writers.model.learning import bank_with
from tests.places import ROOT


def test_a_hosted_model_is_asked_as_a_person_would_ask_it(tmp_path: Path) -> None:
    bank = bank_with(tmp_path / "bank", generated(1))
    with hosted(tmp_path / "cache") as (server, variables):
        call = ("extract", str(bank.path), "--model", "openai/gpt-4o-mini", "--max-cost", "0.5")
        done = subprocess.run(
            [sys.executable, "-m", "deltamem_tui", *call],
            env={**os.environ, **variables, "PYTHONPATH": str(ROOT)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "episodes learnt\t1\n" in done.stdout
        assert "cost\t$0.00" in done.stdout
        assert len(server.requests) == 2
        assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    kept = list((tmp_path / "cache").rglob("*.json"))
    assert len(kept) == 2
