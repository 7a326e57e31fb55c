"""Merging two banks of 100,000 nodes into a new one, against copying the same bytes.

What is copied is what is merged: all files of both banks, into a fresh folder, until they are
on the disk, as the merged bank is when it appears.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from benchmarks import big_bank, goals
from benchmarks.goals import Goal
from benchmarks.timing import in_turns
from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.transfer.merging import merge

NODES = 100_000
ROUNDS = 3


def run() -> str:
    """Measure merging and copying, in turns."""
    with tempfile.TemporaryDirectory(prefix="deltamem-merging-") as name:
        folder = Path(name)
        banks = [
            big_bank.build(folder / "one", NODES),
            big_bank.build(folder / "other", NODES, first=NODES),
        ]
        size = sum(path.stat().st_size for bank in banks for path in bank.path.iterdir())

        def merge_all(_: int) -> None:
            shutil.rmtree(folder / "merged", ignore_errors=True)
            merged = merge([Bank.open(bank.path) for bank in banks], folder / "merged")
            if merged.bank is None or len(merged.bank.tree("task")) != 2 * NODES:
                raise RuntimeError("the merged bank does not hold the nodes of both")

        def copy_all(_: int) -> None:
            shutil.rmtree(folder / "copies", ignore_errors=True)
            for bank in banks:
                _copy(bank.path, folder / "copies" / bank.name)

        timings = in_turns({"merge": merge_all, "copy": copy_all}, ROUNDS)
    stated = [Goal("merge_to_copy", timings.ratio("merge", "copy"), "at most", 10.0)]
    return goals.line("merging", stated, {"bytes": size, **timings.milliseconds()})


def _copy(source: Path, target: Path) -> None:
    """Copy a bank's files, and wait until they are on the disk."""
    target.mkdir(parents=True)
    for path in source.iterdir():
        copied = target / path.name
        shutil.copyfile(path, copied)
        with copied.open("rb") as stream:
            os.fsync(stream.fileno())
