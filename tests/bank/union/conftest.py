"""What every test of merging begins with."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.transfer import copy_bank
from tests.bank.support import manifest, node, vector


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Bank, Bank]:
    """A chain of three and a root beside it, in a bank and in a copy that goes its own way."""
    bank = Bank.create(tmp_path / "one", manifest("one"))
    with bank.writing() as batch:
        above = None
        for text in ("a", "b", "c"):
            above = node(text, above)
            batch.add_node("task", above, vector(len(text)))
            batch.count("task", above.id, hits=1, recalls=2, successes=1)
        batch.add_node("task", node("other"), vector(9))
        batch.log("learn")
    return bank, copy_bank(bank, tmp_path / "two", history=True)
