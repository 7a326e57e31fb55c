"""Killed at any instant, a bank reopens with every acknowledged commit once and nothing else."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank import replicas
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits import journal
from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.errors import StorageError
from tests.bank.fragile import NEVER, FragileOS, KilledError
from tests.bank.support import change_domain, contents, learn_one, manifest, mark_first
from tests.effort import in_turn
from tests.places import ROOT

Operation = Callable[[Bank], object]
OPERATIONS: list[Operation] = [
    lambda bank: learn_one(bank, 0),
    mark_first,
    lambda bank: learn_one(bank, 1),
    lambda bank: learn_one(bank, 2),
]


def without_journal(path: Path) -> None:
    """Make a bank one that was shipped: no journal, no episodes, nothing derived."""
    for name in ("journal.jsonl", ".lock", *(each.name for each in path.glob("*.index.npy"))):
        (path / name).unlink(missing_ok=True)
    for each in path.glob("trajectories.*"):
        each.unlink()


@pytest.fixture(scope="module", autouse=True)
def clock_that_stands() -> Iterator[None]:
    """So that a journal's bytes can be compared too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal, "now", lambda: "2026-01-01T00:00:00Z")
        yield


@dataclass(frozen=True)
class Undisturbed:
    """What happens to a bank when nothing happens: contents after each operation, last bytes."""

    base: Path
    operations: list[Operation]
    states: list[Any]
    final_bytes: dict[str, bytes]
    effects: list[str]


@pytest.fixture(scope="module", params=["new", "shipped"])
def undisturbed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Undisturbed:
    base = tmp_path_factory.mktemp("undisturbed") / "base"
    bank = Bank.create(base, manifest())
    operations = OPERATIONS
    if request.param == "shipped":
        operations = OPERATIONS[:2]
        learn_one(bank, 9)
        learn_one(bank, 10)
        without_journal(base)
    path = base.with_name("bank")
    bank = copied(base, path)
    states = [contents(bank)]
    with FragileOS(NEVER).at_work() as counting:
        for operation in operations:
            operation(bank)
            states.append(contents(bank))
    settle(bank)
    assert verify(Bank.open(path)) == []
    return Undisturbed(base, operations, states, every_byte(path), counting.names)


def every_byte(folder: Path) -> dict[str, bytes]:
    """Every file of a bank but its lock, journal and drafts included."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


def copied(base: Path, path: Path) -> Bank:
    shutil.copytree(base, path)
    return Bank.open(path)


def run_until_stopped(bank: Bank, operations: list[Operation], fragile: FragileOS) -> int:
    """Run the operations; returns how many were acknowledged."""
    acknowledged = 0
    with fragile.at_work():
        for operation in operations:
            try:
                operation(bank)
            except (KilledError, StorageError):
                break
            acknowledged += 1
    return acknowledged


# Killed after an effect is killed before the next one.
@pytest.mark.parametrize("how", ["before", "half"])
def test_killed_at_every_effect_in_turn(tmp_path: Path, undisturbed: Undisturbed, how: str) -> None:
    states, effects = undisturbed.states, undisturbed.effects
    assert len(effects) > 50
    wrecks: list[tuple[int, dict[str, bytes]]] = []
    for last, name in enumerate(effects, start=1):
        if how == "half" and name != "pwrite":
            continue
        path = tmp_path / str(last)
        bank = copied(undisturbed.base, path)
        acknowledged = run_until_stopped(bank, undisturbed.operations, FragileOS(last, how))
        wreck = (acknowledged, every_byte(path))
        if wreck in wrecks:
            continue  # an open or a sync left nothing else on the disk: it would recover the same
        wrecks.append(wreck)
        bank = Bank.open(path)
        survived = contents(bank)
        assert survived in states[acknowledged : acknowledged + 2], f"effect {last}"
        for operation in undisturbed.operations[states.index(survived) :]:
            operation(bank)
        assert contents(bank) == states[-1]
        settle(bank)
        assert every_byte(path) == undisturbed.final_bytes, f"effect {last}"
        assert verify(bank) == []
    assert len(wrecks) > 15


def test_disk_full_at_every_effect_in_turn(tmp_path: Path, undisturbed: Undisturbed) -> None:
    states = undisturbed.states
    names = undisturbed.effects
    for last, (name, then) in enumerate(zip(names, [*names[1:], ""], strict=True), start=1):
        if name == "open" and then in ("pwrite", "fsync"):
            continue  # refused a moment later it is the same to everyone
        path = tmp_path / str(last)
        bank = copied(undisturbed.base, path)
        fragile = FragileOS(last, "disk full")
        acknowledged = run_until_stopped(bank, undisturbed.operations, fragile)
        # A refusal after the commit is made good by the next writer and not reported.
        assert contents(Bank.open(path)) == contents(bank) == states[acknowledged], f"effect {last}"
        # The same handle goes on, as a program would that caught the error.
        for operation in undisturbed.operations[acknowledged:]:
            operation(bank)
        settle(bank)
        assert contents(Bank.open(path)) == states[-1], f"effect {last}"
        assert every_byte(path) == undisturbed.final_bytes, f"effect {last}"


def settle(bank: Bank) -> None:
    """Become the next writer, who makes good what the last one left undone."""
    with bank.writing():
        pass


@dataclass(frozen=True)
class Wreck:
    """What an operation left that met its end, or a full disk, at one of its effects."""

    effect: int
    path: Path
    done: bool

    def __str__(self) -> str:
        return f"effect {self.effect}"


def wrecks(base: Path, operation: Operation, how: str) -> Iterator[Wreck]:
    """The operation on a copy of a bank, stopped at its effects in turn.

    Of anything but a write there is no half.
    """
    with FragileOS(NEVER).at_work() as counting:
        operation(copied(base, base.with_name("undisturbed")))
    assert len(counting.names) > 3
    for last in in_turn(len(counting.names), apart=2):
        if how == "half" and counting.names[last - 1] != "pwrite":
            continue
        path = base.with_name(str(last))
        bank = copied(base, path)
        done = False
        with FragileOS(last, how).at_work(), suppress(KilledError, StorageError):
            operation(bank)
            done = True
        yield Wreck(last, path, done)


HOWS = pytest.mark.parametrize("how", ["before", "half", "disk full"])


@HOWS
def test_a_change_of_the_manifest_is_made_and_told_or_neither(tmp_path: Path, how: str) -> None:
    base = tmp_path / "base"
    learn_one(Bank.create(base, manifest()), 0)
    before = Bank.open(base).manifest
    after = replace(before, domain="kitchens")
    ever = False
    for wreck in wrecks(base, lambda bank: change_domain(bank, "kitchens"), how):
        bank = Bank.open(wreck.path)
        changed = bank.manifest == after
        assert changed or bank.manifest == before, wreck
        assert (bank.commit.event == "parameters") == changed, wreck
        assert changed or not wreck.done, wreck
        if how == "disk full":
            assert changed == wreck.done, wreck
        else:
            assert changed or not ever, wreck  # from the commit on, it stays
            ever = changed
        assert verify(bank) == []
        change_domain(bank, "kitchens")
        learn_one(bank, 1)
        assert manifest_of((wreck.path / "bank.json").read_bytes())["domain"] == "kitchens", wreck
        told = [commit.event for commit in bank.journal.commits()]
        assert told == ["init", "learn", "parameters", "learn"], wreck
        assert verify(bank) == []
        assert not list(wreck.path.glob("*.next"))


@HOWS
def test_a_bank_is_frozen_or_not(tmp_path: Path, how: str) -> None:
    base = tmp_path / "base"
    learn_one(Bank.create(base, manifest()), 0)
    before = Bank.open(base).manifest
    for wreck in wrecks(base, Bank.freeze, how):
        bank = Bank.open(wreck.path)
        assert bank.frozen or bank.manifest == before, wreck
        assert bank.frozen or not wreck.done, wreck
        assert verify(bank) == [], wreck
        if not bank.frozen:
            bank.freeze()
        assert verify(Bank.open(wreck.path)) == [], wreck
        undisturbed = (tmp_path / "undisturbed" / "bank.json").read_bytes()
        assert manifest_of((wreck.path / "bank.json").read_bytes()) == manifest_of(undisturbed)


def counted_by(bank: Bank) -> replicas.Shares:
    return replicas.shares(bank.snapshots, bank.manifest.counts_as)


@HOWS
@pytest.mark.parametrize("kind", ["whole", "shipped", "uncounted"])
def test_a_bank_is_still_frozen_or_counts_for_itself(tmp_path: Path, kind: str, how: str) -> None:
    """Never is it writable under the origin of the frozen bank, of which there may be copies."""
    base = tmp_path / "base"
    bank = Bank.create(base, manifest())
    for number in range(1 if kind == "uncounted" else 5):
        learn_one(bank, number)
    if kind != "whole":
        without_journal(base)
    Bank.open(base).freeze()
    (base / ".lock").unlink(missing_ok=True)
    frozen = Bank.open(base)
    counted = counted_by(frozen)
    assert bool(len(counted)) == (kind != "uncounted")
    seen = set()
    for wreck in wrecks(base, Bank.unfreeze, how):
        bank = Bank.open(wreck.path)
        seen.add(bank.frozen)
        assert not (bank.frozen and wreck.done), wreck
        if bank.frozen:
            assert bank.manifest == frozen.manifest, wreck
            if how == "disk full" and kind != "shipped":
                assert verify(bank) == [], wreck
        bank.unfreeze()
        for handle in (bank, Bank.open(wreck.path)):
            assert not handle.frozen
            assert handle.manifest.digests == {}
            assert handle.manifest.replica != frozen.manifest.replica, wreck
            assert counted_by(handle).equals(counted), wreck  # nothing so far is its own
        learn_one(bank, 7)
        assert verify(bank) == [], wreck
        assert not list(wreck.path.glob("*.next"))
    assert seen == {True, False} or how != "before"


def manifest_of(text: bytes) -> dict[str, Any]:
    """A manifest without digests: the journal that they cover carries a clock."""
    return {key: value for key, value in json.loads(text).items() if key != "digests"}


def test_disk_full_is_one_clear_line(tmp_path: Path) -> None:
    bank = Bank.create(tmp_path / "bank", manifest())
    refused = pytest.raises(StorageError, match=r"no space left on device \(free some disk space")
    with FragileOS(2, "disk full").at_work(), refused:
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
