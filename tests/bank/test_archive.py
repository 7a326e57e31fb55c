"""One file, the same bytes for the same commit, read where it lies."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deltamem_tui.bank import transfer as package
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import archive, files
from deltamem_tui.bank.disk.archive import Entry, layout_of
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import BankCorruptError, BankFrozenError, UsageError
from tests.bank.forging import (
    digest_of_file,
    everything,
    packed,
    small_bank,
    unpacked,
)
from tests.bank.support import contents, learn_one
from tests.places import ROOT


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return small_bank(tmp_path / "kitchen")


def test_what_no_place_in_an_archive_can_name_is_refused() -> None:
    with pytest.raises(BankCorruptError, match="of an archive"):
        layout_of([Entry("bank.json", 1, 0), Entry("task.nodes.jsonl", 2**32 - 1, 0)], "x")


def test_the_same_commit_gives_the_same_bytes(tmp_path: Path, bank: Bank) -> None:
    first = packed(bank, tmp_path / "first")
    copy = shutil.copytree(bank.path, tmp_path / "elsewhere" / bank.path.name)
    os.utime(copy / "bank.json", (1, 1))
    (copy / "task.index.npy").unlink()
    (copy / "notes.txt").write_text("not the bank's")
    second = packed(Bank.open(copy), tmp_path / "second")
    assert first.read_bytes() == second.read_bytes()
    assert package.pack(bank).digest() == digest_of_file(first)
    assert package.pack(bank).digest() == f"sha256:{hashlib.sha256(first.read_bytes()).hexdigest()}"


def test_what_is_packed_is_the_handles_commit_and_nothing_behind_it(
    tmp_path: Path, bank: Bank
) -> None:
    for along in ({}, {"with_episodes": True}, {"with_journal": True, "with_episodes": True}):
        handle = Bank.open(bank.path)
        before = packed(handle, tmp_path / "before", **along).read_bytes()
        learn_one(bank, 20 + len(along))
        with (bank.path / "task.nodes.jsonl").open("ab") as stream:
            stream.write(b"what a killed writer left behind")
        after = packed(handle, tmp_path / "after", **along).read_bytes()
        assert before == after
        (tmp_path / "before").unlink()
        (tmp_path / "after").unlink()


def test_only_what_is_asked_for_goes_along(tmp_path: Path, bank: Bank) -> None:
    lean = set(unpacked(packed(bank, tmp_path / "lean")))
    assert not [name for name in lean if name.startswith(("trajectories", "journal", "."))]
    whole = packed(bank, tmp_path / "whole", with_episodes=True, with_journal=True)
    assert set(unpacked(whole)) - lean == {
        "trajectories.jsonl",
        "trajectories.states.npy",
        "trajectories.index.npy",
        "journal.jsonl",
    }
    assert contents(Bank.open(whole)) == contents(bank)
    assert verify(Bank.open(whole)) == []


def test_a_journal_goes_with_the_episodes_that_it_counts(tmp_path: Path, bank: Bank) -> None:
    with pytest.raises(UsageError, match="add --episodes"):
        packed(bank, tmp_path / "kitchen.deltamem", with_journal=True)


def test_vectors_are_mapped_from_the_archive_in_place(tmp_path: Path, bank: Bank) -> None:
    found = Bank.open(packed(bank, tmp_path / "kitchen.deltamem"))
    vectors = found.tree("task").embeddings
    assert isinstance(vectors, np.memmap)
    assert Path(str(vectors.filename)) == found.path
    assert not vectors.flags.writeable
    assert np.array_equal(vectors, bank.tree("task").embeddings)
    region = files.find(found.path / "task.embeddings.npy")
    assert region is not None
    assert region.start % archive.ALIGNMENT == 0
    assert vectors.offset % archive.ALIGNMENT == 0


def test_no_writer_writes_an_archive(tmp_path: Path, bank: Bank) -> None:
    path = packed(bank, tmp_path / "kitchen.deltamem")
    before = path.read_bytes()
    found = Bank.open(path)
    writers: list[Callable[[Bank], object]] = [
        Bank.freeze,
        Bank.unfreeze,
        lambda each: learn_one(each, 99),
        lambda each: each.change_manifest("x", lambda old: (replace(old, domain="x"), {})),
    ]
    for writer in writers:
        with pytest.raises(BankFrozenError, match="archive"):
            writer(found)
    assert path.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["kitchen", "kitchen.deltamem"]


_READ_AS_NOBODY = """
import encodings.cp437, os, sys  # zipfile looks for it late, where nobody may read Python itself
from pathlib import Path
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.verify import verify
if os.getuid() == 0:  # root may write anywhere
    os.setuid(65534)
for place in map(Path, sys.argv[1:]):
    assert not os.access(place, os.W_OK), place
    assert not os.access(place.parent, os.W_OK), place
    bank = Bank.open(place)
    assert verify(bank) == []
    print(len(list(bank.tree("task"))), bool(bank.tree("task").embeddings.any()))
"""


def test_a_frozen_bank_is_read_without_any_permission_to_write(bank: Bank) -> None:
    bank.freeze()
    (bank.path / ".lock").unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders let nobody else in
        folder = Path(name)
        frozen = Path(shutil.copytree(bank.path, folder / "kitchen"))
        path = packed(bank, folder / "kitchen.deltamem")
        before = everything(folder)
        for each in (*frozen.iterdir(), path):
            each.chmod(0o444)
        for each in (frozen, folder):
            each.chmod(0o555)
        answer = subprocess.run(
            [sys.executable, "-c", _READ_AS_NOBODY, str(frozen), str(path)],
            capture_output=True,
            text=True,
            cwd=ROOT,
        )
        for each in (folder, frozen):
            each.chmod(0o755)
        assert answer.stderr == ""
        assert answer.stdout.splitlines() == [f"{len(bank.tree('task'))} True"] * 2
        assert everything(folder) == before


def test_another_archive_in_its_place_is_seen(tmp_path: Path, bank: Bank) -> None:
    path = packed(bank, tmp_path / "kitchen.deltamem")
    found = Bank.open(path)
    assert not found.refresh()
    learn_one(bank, 40)
    package.pack(bank).write(path, replace=True)
    assert found.refresh()
    assert contents(found)["trees"] == contents(bank)["trees"]
