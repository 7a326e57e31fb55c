"""Killed or refused in the midst of its work, a bank holds what was acknowledged, once."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import StorageError
from tests.bank.support import learn_one, learnt, manifest
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


def test_one_of_two_writers_is_killed_at_work(tmp_path: Path) -> None:
    path = tmp_path / "bank"
    Bank.create(path, manifest())
    doomed, other = start_writer(path, 0, 900), start_writer(path, 999, 1039)
    assert doomed.stdout is not None
    assert other.stdout is not None
    acknowledged = [int(doomed.stdout.readline()) for _ in range(10)]
    doomed.kill()
    acknowledged += map(int, doomed.stdout.read().split())
    acknowledged += map(int, other.stdout.read().split())
    assert (doomed.wait(), other.wait()) == (-9, 0)
    bank = Bank.open(path)
    found = numbers(bank)
    unsaid = {*found} - {*acknowledged}
    assert {*acknowledged} <= {*found}
    assert len(unsaid) <= 1  # killed after its commit, before it could say so
    assert assert_whole(bank) == len(found) == len({*found})
    assert verify(bank) == []
    for writer in (doomed, other):
        assert writer.stdout is not None
        writer.stdout.close()


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let the system refuse to make any file longer than that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_file_that_may_not_grow_leaves_the_bank_as_it_was(tmp_path: Path) -> None:
    bank = learnt(tmp_path / "bank", 5)
    sizes = {path.stat().st_size for path in bank.path.iterdir() if path.suffix != ".lock"}
    refusals: list[StorageError] = []
    for number, limit in enumerate(sorted(sizes), start=5):
        before = numbers(bank), bank.commit
        try:
            with files_of_at_most(limit + 10):
                learn_one(bank, number)
        except StorageError as error:
            refusals.append(error)
            for shown in (bank, Bank.open(bank.path)):
                shown.refresh()
                assert (numbers(shown), shown.commit) == before
                assert_whole(shown)
            assert verify(bank) == []
            learn_one(bank, number)
    assert len(refusals) >= len(sizes) // 2
    assert {each.message for each in refusals} == {"file too large"}
    assert not any("\n" in str(each) for each in refusals)
    assert numbers(bank) == [*range(5 + len(sizes))]
    assert verify(Bank.open(bank.path)) == []
