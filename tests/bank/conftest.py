"""What the tests of banks begin with. No test waits for the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.transfer import copy_bank
from tests.bank.forging import Files, packed, small_bank, unpacked
from tests.bank.quick_disk import no_waiting_for_the_disk
from tests.bank.support import manifest, node, vector

__all__ = ["no_waiting_for_the_disk"]


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


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The files of a sound archive."""
    folder = tmp_path_factory.mktemp("good")
    bank = small_bank(folder / "kitchen")
    return unpacked(packed(bank, folder / "a", with_episodes=True, with_journal=True))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where nothing but the archive lies, and something precious beside it."""
    (tmp_path / "precious").write_text("untouched")
    (tmp_path / "banks").mkdir()
    return tmp_path
