"""Sparse rows are scanned by what they hold, and only what is new is derived."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding import scan as scanning
from deltamem_tui.embedding.scan import Scan
from deltamem_tui.memory.vectors.search import rows_of, scan_of
from tests.memory.support import episode, new_bank, parameters, teach, unit


def grow(bank: Bank, start: int, stop: int) -> None:
    for number in range(start, stop):
        teach(bank, episode((1, number, 0), (number, 1, 0)))


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bank:
    """A bank whose rows are sparse enough, whatever they hold, asked once."""
    monkeypatch.setattr(scanning, "_SHARE", 1)
    made = new_bank(tmp_path / "bank", parameters(tau_base=0.9999))
    grow(made, 0, 12)
    scan_of(made.tree("task"), "none")
    return made


def assert_same(bank: Bank) -> None:
    scan = scan_of(bank.tree("task"), "document-frequency")
    plain = Scan(rows_of(bank.tree("task")), "document-frequency")
    assert scan.rows.sparse is not None
    for number in range(15):
        question = unit((1, number, 0.1))
        assert scan.best(question, 0.05, 4) == plain.best(question, 0.05, 4)


def test_a_handle_that_goes_on_derives_what_is_new(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    derived: list[int] = []
    cells_of = scanning.cells_of

    def counted(vectors: NDArray[np.float32]) -> scanning.Parts:
        derived.append(len(vectors))
        return cells_of(vectors)

    monkeypatch.setattr(scanning, "cells_of", counted)
    for number in (12, 13, 14):
        grow(bank, number, number + 1)
        derived.clear()
        assert_same(bank)
    assert sum(derived) <= 1


def test_a_copy_that_went_on_otherwise_is_told_by_its_rows(bank: Bank, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(bank.path, copy)
    grow(bank, 12, 14)
    assert_same(bank)
    grow(Bank.open(copy), 20, 24)
    shutil.rmtree(bank.path)
    copy.rename(bank.path)
    bank.refresh()
    assert_same(bank)
