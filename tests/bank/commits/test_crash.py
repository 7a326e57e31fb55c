"""Refused or killed in the midst of its work, a bank holds what was acknowledged, once."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.verify import verify
from tests.bank.support import learn_one, manifest
from tests.places import ROOT


def test_a_real_limit_on_file_size_leaves_the_bank_intact(tmp_path: Path) -> None:
    program = (
        "import resource, sys\n"
        "from deltamem_tui.bank.bank import Bank\n"
        "from deltamem_tui.errors import StorageError\n"
        "from tests.bank.support import learn_one, manifest\n"
        "bank = Bank.create(sys.argv[1], manifest())\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "done = 0\n"
        "try:\n"
        "    while True:\n"
        "        learn_one(bank, done)\n"
        "        done += 1\n"
        "except StorageError as error:\n"
        "    print(done, error)\n"
    )
    path = tmp_path / "bank"
    answer = run_python(program, str(path))
    done, message = answer.split(" ", 1)
    assert "file too large" in message
    bank = Bank.open(path)
    assert len(bank.tree("task")) == int(done) > 10
    assert verify(bank) == []


WRITER = (
    "import sys\n"
    "from deltamem_tui.bank.bank import Bank\n"
    "from tests.bank.support import learn_one\n"
    "bank = Bank.open(sys.argv[1])\n"
    "for number in range(int(sys.argv[2]), int(sys.argv[3])):\n"
    "    learn_one(bank, number)\n"
    "    print(number, flush=True)\n"
)


def run_python(program: str, *arguments: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    ).stdout


def start_writer(path: Path, first: int, last: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(first), str(last)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def numbers(bank: Bank) -> list[int]:
    return [int(each, 16) for each in bank.episodes.ids()]


def test_killed_at_random_moments_under_load(tmp_path: Path) -> None:
    """After a drawn number of commits, and somewhere in the next few: the seed draws the length."""
    path = tmp_path / "bank"
    Bank.create(path, manifest())
    drawn = random.Random(20)
    acknowledged: list[int] = []
    for round_number in range(5):
        start = 1000 * round_number
        writer = start_writer(path, start, start + 1000)
        assert writer.stdout is not None
        lines = range(drawn.randint(1, 60))
        acknowledged += [int(writer.stdout.readline()) for _ in lines]
        for _ in range(drawn.randrange(20_000)):
            writer.poll()  # a moment of a length that differs
        writer.kill()
        acknowledged += [int(line) for line in writer.stdout.read().splitlines() if line.isdigit()]
        writer.wait()
        writer.stdout.close()
        bank = Bank.open(path)
        assert sorted(set(numbers(bank))) == sorted(numbers(bank))
        assert set(acknowledged) <= set(numbers(bank))
        # At most the commit in flight was not acknowledged, once a round.
        assert len(bank.episodes) - len(acknowledged) <= round_number + 1
        assert verify(bank) == []
    learn_one(Bank.open(path), 999_999)
    assert verify(Bank.open(path)) == []


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
