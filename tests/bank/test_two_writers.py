"""Refused in the midst of its work, a bank holds what was acknowledged, once."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.verify import verify
from tests.bank.support import manifest
from tests.places import ROOT

WRITER = (
    "import sys\n"
    "from deltamem_tui.bank.bank import Bank\n"
    "from tests.bank.support import learn_one\n"
    "bank = Bank.open(sys.argv[1])\n"
    "for number in range(int(sys.argv[2]), int(sys.argv[3])):\n"
    "    learn_one(bank, number)\n"
    "    print(number, flush=True)\n"
)


def start_writer(path: Path, first: int, last: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(first), str(last)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def numbers(bank: Bank) -> list[int]:
    return [int(each, 16) for each in bank.episodes.ids()]


def test_two_processes_lose_nothing_and_a_reader_never_sees_half(tmp_path: Path) -> None:
    path = tmp_path / "bank"
    reader = Bank.create(path, manifest())
    writers = [start_writer(path, 0, 60), start_writer(path, 999, 1059)]
    seen = 0
    while any(writer.poll() is None for writer in writers):
        reader.refresh()
        seen = max(seen, assert_whole(reader))
        time.sleep(0)
    for writer in writers:
        assert writer.wait() == 0
        assert writer.stdout is not None
        writer.stdout.close()
    reader.refresh()
    assert sorted(numbers(reader)) == [*range(60), *range(999, 1059)]
    assert assert_whole(reader) == 120
    assert seen > 0
    assert verify(reader) == []


def assert_whole(bank: Bank) -> int:
    """Both trees, the counters and the episodes of the same commits."""
    task, env = bank.tree("task"), bank.tree("env")
    assert len(task) == len(env) == len(bank.episodes) == bank.episodes.learnt()
    hits = [int(tree.snapshot.counters[:, 0].sum()) for tree in (task, env)]
    assert hits[0] == hits[1] == sum(1 for each in numbers(bank) if each % 3)
    return len(task)
