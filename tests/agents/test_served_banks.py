"""Which banks are served, and by which names."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui import create_bank
from deltamem_tui.agents.served_banks import ServedBanks
from deltamem_tui.errors import BankNotFoundError, UsageError


def test_banks_are_found_by_name_only(tmp_path: Path) -> None:
    create_bank(tmp_path / "banks" / "one", embedder="hashing")
    create_bank(tmp_path / "elsewhere" / "two", embedder="hashing")
    served = ServedBanks(tmp_path / "banks", (tmp_path / "elsewhere" / "two",))
    assert list(served.places()) == ["two"]
    with served.bank(None) as bank:
        assert bank.name == "two"
    for name in ("one", "", "../banks/one", str(tmp_path / "banks" / "one")):
        with pytest.raises(BankNotFoundError), served.bank(name):
            pass


def test_two_banks_of_one_name_are_refused(tmp_path: Path) -> None:
    places = (tmp_path / "a" / "same", tmp_path / "b" / "same")
    for place in places:
        create_bank(place, embedder="hashing")
    with pytest.raises(UsageError, match="two banks"):
        ServedBanks(tmp_path, places)
