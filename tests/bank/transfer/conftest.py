"""What every test of hostile archives begins with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bank.forging import Files, packed, small_bank, unpacked


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
