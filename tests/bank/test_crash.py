"""Killed at any instant, a bank reopens with every acknowledged commit once and nothing else."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank import files
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import StorageError
from tests.bank.support import contents, file_bytes, learn_one, manifest, mark_first

EFFECTS = ("open", "pwrite", "fsync", "replace", "truncate")

Operation = Callable[[Bank], None]
OPERATIONS: list[Operation] = [
    lambda bank: learn_one(bank, 0),
    mark_first,
    lambda bank: learn_one(bank, 1),
]


class KilledError(BaseException):
    """The process is gone."""


class FragileOS:
    """The `os` module as the bank's files see it, until one of its effects is the last."""

    def __init__(self, last: int, how: str) -> None:
        self.effects = 0
        self._last = last
        self._how = how
        self._dead = False

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return self._guarded(name, real) if name in EFFECTS else real

    def _guarded(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def effect(*arguments: Any, **options: Any) -> Any:
            if self._dead:
                raise KilledError
            self.effects += 1
            if self.effects != self._last:
                return real(*arguments, **options)
            self._dead = self._how != "disk full"
            if self._how == "disk full":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if self._how == "half" and name == "pwrite":
                descriptor, data, position = arguments
                real(descriptor, data[: len(data) // 2], position)
            if self._how == "after":
                real(*arguments, **options)
            raise KilledError

        return effect


@pytest.fixture(scope="module")
def undisturbed(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[list[Any], dict[str, bytes], int]:
    """What the bank holds after each operation, its final bytes, and how many effects it took."""
    path = tmp_path_factory.mktemp("undisturbed") / "bank"
    bank = Bank.create(path, manifest())
    counting = FragileOS(last=-1, how="never")
    states = [contents(bank)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "os", counting)
        for operation in OPERATIONS:
            operation(bank)
            states.append(contents(bank))
    assert verify(Bank.open(path)) == []
    return states, file_bytes(path), counting.effects


def run_until_stopped(path: Path, fragile: FragileOS) -> int:
    """Run the operations; returns how many were acknowledged."""
    acknowledged = 0
    with pytest.MonkeyPatch.context() as patch:
        bank = Bank.create(path, manifest())
        patch.setattr(files, "os", fragile)
        for operation in OPERATIONS:
            try:
                operation(bank)
            except (KilledError, StorageError):
                break
            acknowledged += 1
    return acknowledged


@pytest.mark.parametrize("how", ["before", "half", "after"])
def test_killed_at_every_effect_in_turn(
    tmp_path: Path, undisturbed: tuple[list[Any], dict[str, bytes], int], how: str
) -> None:
    states, final_bytes, effects = undisturbed
    assert effects > 100
    for last in range(1, effects + 1):
        path = tmp_path / str(last)
        acknowledged = run_until_stopped(path, FragileOS(last, how))
        bank = Bank.open(path)
        survived = contents(bank)
        assert survived in states[acknowledged : acknowledged + 2], f"effect {last}"
        done = states.index(survived)
        for operation in OPERATIONS[done:]:
            operation(bank)
        settle(bank)
        assert file_bytes(path) == final_bytes, f"effect {last}"
        assert verify(Bank.open(path)) == []


def test_disk_full_at_every_effect_in_turn(
    tmp_path: Path, undisturbed: tuple[list[Any], dict[str, bytes], int]
) -> None:
    states, final_bytes, effects = undisturbed
    for last in range(1, effects + 1):
        path = tmp_path / str(last)
        acknowledged = run_until_stopped(path, FragileOS(last, "disk full"))
        bank = Bank.open(path)
        # A refusal after the commit is made good by the next writer and not reported.
        assert contents(bank) == states[acknowledged], f"effect {last}"
        for operation in OPERATIONS[acknowledged:]:
            operation(bank)
        settle(bank)
        assert file_bytes(path) == final_bytes, f"effect {last}"


def settle(bank: Bank) -> None:
    """Become the next writer, who makes good what the last one left undone."""
    with bank.writing():
        pass


def test_disk_full_is_one_clear_line(tmp_path: Path) -> None:
    bank = Bank.create(tmp_path / "bank", manifest())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "os", FragileOS(2, "disk full"))
        with pytest.raises(StorageError, match=r"no space left on device \(free some disk space"):
            learn_one(bank, 0)


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
        cwd=Path(__file__).parents[2],
    ).stdout


def start_writer(path: Path, first: int, last: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(first), str(last)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


def numbers(bank: Bank) -> list[int]:
    return [int(each, 16) for each in bank.episodes.ids()]


def test_killed_at_random_moments_under_load(tmp_path: Path) -> None:
    path = tmp_path / "bank"
    Bank.create(path, manifest())
    acknowledged: list[int] = []
    for round_number in range(6):
        start = 1000 * round_number
        writer = start_writer(path, start, start + 1000)
        assert writer.stdout is not None
        lines = range(1 + 17 * round_number)
        acknowledged += [int(writer.stdout.readline()) for _ in lines]
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
    writers = [start_writer(path, 0, 60), start_writer(path, 1000, 1060)]
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
    assert sorted(numbers(reader)) == [*range(60), *range(1000, 1060)]
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
