"""Smaller forms of vectors: used where they fit, made anew or passed over where they do not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding import scan as scanning
from deltamem_tui.embedding.protocol import Weighting
from deltamem_tui.embedding.scan import Scan
from deltamem_tui.memory.vectors import derived
from deltamem_tui.memory.vectors.search import rows_of, scan_of
from tests.memory.support import episode, new_bank, parameters, teach, unit

WEIGHTINGS: list[Weighting] = ["none", "document-frequency"]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(derived, "cache_folder", lambda: folder)
    return folder


def grow(bank: Bank, start: int, stop: int) -> None:
    for number in range(start, stop):
        teach(bank, episode((1, number, 0), (number, 1, 0)))


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    made = new_bank(tmp_path / "bank", parameters(tau_base=0.9999))
    grow(made, 0, 12)
    return made


def assert_same(bank: Bank, weighting: Weighting = "none") -> None:
    """A scan by a smaller form answers as the plain one does."""
    tree = bank.tree("task")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("deltamem_tui.memory.vectors.search._LARGE", 0)
        patch.setattr(scanning, "_SHARE", 1)  # all rows are sparse enough
        scan, plain = scan_of(tree, weighting), Scan(rows_of(tree), weighting)
    assert scan.rows.sparse is not None
    for number in range(15):
        question = unit((1, number, 0.1))
        assert scan.best(question, 0.05, 4) == plain.best(question, 0.05, 4)


def forms(folder: Path) -> dict[str, int]:
    """The forms in the cache, each with the number of its file."""
    return {path.name.rpartition("-")[2]: path.stat().st_ino for path in folder.iterdir()}


def test_a_form_stays_good_while_the_bank_grows(bank: Bank, cache: Path) -> None:
    assert_same(bank)
    first = forms(cache)
    assert list(first) == ["12"]
    grow(bank, 12, 13)
    assert_same(Bank.open(bank.path))
    assert forms(cache) == first
    grow(bank, 13, 16)
    assert_same(Bank.open(bank.path))
    assert list(forms(cache)) == ["16"]


def test_a_handle_that_goes_on_derives_what_is_new(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "_SHARE", 1)
    derived_rows: list[int] = []
    cells_of = scanning.cells_of

    def counted(vectors: NDArray[np.float32]) -> scanning.Parts:
        derived_rows.append(len(vectors))
        return cells_of(vectors)

    monkeypatch.setattr(scanning, "cells_of", counted)
    grow(bank, 12, 13)
    assert_same(bank, "document-frequency")
    for number in (13, 14):
        derived_rows.clear()
        grow(bank, number, number + 1)
        assert_same(bank, "document-frequency")
        assert sum(derived_rows) == len(bank.trees)


def test_a_copy_that_went_on_otherwise_is_told_by_its_rows(bank: Bank, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(bank.path, copy)
    grow(bank, 12, 14)
    assert_same(bank)
    other = Bank.open(copy)
    grow(other, 20, 24)
    shutil.rmtree(bank.path)
    copy.rename(bank.path)
    bank.refresh()
    assert_same(bank)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_cells(bank: Bank, cache: Path, weighting: Weighting) -> None:
    for stop in (13, 16):
        assert_same(bank, weighting)
        grow(bank, stop - 1, stop)
    assert list(forms(cache)) == ["12"]


def cut_short(folder: Path) -> None:
    for path in folder.glob("*/columns.npy"):
        os.truncate(path, path.stat().st_size - 1)


def without_lengths(folder: Path) -> None:
    for path in folder.glob("*/lengths.npy"):
        path.unlink()


def of_other_vectors(folder: Path) -> None:
    for path in folder.glob("*/sample.npy"):
        np.save(path, np.zeros_like(np.load(path)))


@pytest.mark.parametrize("harm", [shutil.rmtree, cut_short, without_lengths, of_other_vectors])
def test_what_is_gone_or_damaged_is_derived_anew(
    bank: Bank, cache: Path, harm: Callable[[Path], None]
) -> None:
    assert_same(bank)
    before = forms(cache)
    harm(cache)
    bank = Bank.open(bank.path)
    assert_same(bank)
    assert forms(cache).keys() == before.keys()
    for path in cache.glob("*/lengths.npy"):
        assert len(np.load(path)) == 12


def test_another_bank_in_the_same_place_has_its_own(bank: Bank, tmp_path: Path) -> None:
    assert_same(bank)
    bank.path.rename(tmp_path / "old")
    other = new_bank(bank.path, parameters(tau_base=0.9999))
    grow(other, 20, 40)
    assert_same(other)


def test_a_bank_is_never_written(bank: Bank) -> None:
    bank.freeze()
    before = {path.name: path.stat().st_mtime_ns for path in bank.path.iterdir()}
    assert_same(bank)
    assert {path.name: path.stat().st_mtime_ns for path in bank.path.iterdir()} == before


def test_without_its_file_a_bank_leaves_the_forms_of_others_alone(
    bank: Bank, cache: Path, tmp_path: Path
) -> None:
    assert_same(bank)
    before = forms(cache)
    other = new_bank(tmp_path / "other", parameters(tau_base=0.9999))
    grow(other, 0, 9)
    assert len(other.tree("task").embeddings) == 9
    (other.path / "task.embeddings.npy").unlink()
    assert_same(other)
    assert forms(cache) == before


def test_without_a_cache_it_is_derived_in_memory(bank: Bank, cache: Path) -> None:
    cache.write_text("in the way")
    assert_same(bank)
