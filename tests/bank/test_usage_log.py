"""`usage.jsonl`: every line that was acknowledged is there, whoever is killed, and it travels."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank import usage_log
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.transfer import package
from deltamem_tui.bank.transfer.installing import install, receive
from deltamem_tui.bank.transfer.package import copy_bank
from deltamem_tui.bank.upkeep.compact import compact
from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.errors import StorageError
from tests.bank.support import learn_one, manifest
from tests.places import ROOT

LINES: list[dict[str, Any]] = [{"calls": 1, "cost": 0.25}, {"calls": 1, "cost": None}]

APPENDING = """
import sys
from pathlib import Path
from deltamem_tui.bank import usage_log
for number in range(1_000_000):
    usage_log.append(Path(sys.argv[1]), {"who": sys.argv[2], "number": number})
    print(number, flush=True)
"""


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    bank = Bank.create(tmp_path / "bank", manifest())
    for number in range(3):
        learn_one(bank, number)
    for line in LINES:
        usage_log.append(bank.path, line)
    return bank


def records(path: Path) -> list[Any]:
    return list(usage_log.records(path))


def test_a_bank_without_payments_has_no_file(tmp_path: Path) -> None:
    bank = Bank.create(tmp_path / "bank", manifest())
    assert records(bank.path) == []
    assert not (bank.path / usage_log.FILE_NAME).exists()


@pytest.mark.parametrize("torn", [b'{"calls": 1, "pro', b"7\n[]\nnull\n\xff\n", b'{"calls": 1}'])
def test_what_was_cut_off_is_passed_over_and_closed_by_the_next_line(
    bank: Bank, torn: bytes
) -> None:
    path = bank.path / usage_log.FILE_NAME
    with path.open("ab") as stream:
        stream.write(torn)
    assert records(bank.path) == LINES
    usage_log.append(bank.path, {"calls": 3})
    assert records(bank.path)[:2] == LINES
    assert records(bank.path)[-1] == {"calls": 3}
    assert path.read_bytes().endswith(b"\n")


def test_a_line_of_many_threads_is_never_mixed_with_another(tmp_path: Path) -> None:
    def append(who: int) -> None:
        for number in range(50):
            usage_log.append(tmp_path, {"who": who, "number": number, "text": "x" * who * 500})

    threads = [threading.Thread(target=append, args=(who,)) for who in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [(record["who"], record["number"]) for record in records(tmp_path)]
    assert sorted(found) == [(who, number) for who in range(8) for number in range(50)]


def test_what_killed_processes_had_acknowledged_is_there_once(tmp_path: Path) -> None:
    for turn in range(3):
        names = [f"{turn}a", f"{turn}b"]
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", APPENDING, str(tmp_path), name],
                stdout=subprocess.PIPE,
                cwd=ROOT,
            )
            for name in names
        ]
        for process in processes:
            assert process.stdout
            process.stdout.readline()  # at least one line
        for process in processes:
            os.kill(process.pid, signal.SIGKILL)
        for name, process in zip(names, processes, strict=True):
            assert process.stdout
            rest = process.stdout.read().split(b"\n")
            process.wait()
            process.stdout.close()
            acknowledged = max([0, *(int(line) for line in rest[:-1])])
            written = [each["number"] for each in records(tmp_path) if each["who"] == name]
            assert written == list(range(len(written)))
            assert len(written) in (acknowledged + 1, acknowledged + 2)


def test_a_disk_that_refuses_and_a_link_are_an_error(bank: Bank, tmp_path: Path) -> None:
    path = bank.path / usage_log.FILE_NAME
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError):
        usage_log.append(bank.path, {"calls": 1})
    assert not (tmp_path / "elsewhere").exists()


def test_no_digest_covers_it_and_a_line_that_comes_after_freezing_breaks_nothing(
    bank: Bank,
) -> None:
    bank.freeze()
    usage_log.append(bank.path, {"calls": 7})
    assert usage_log.FILE_NAME not in bank.manifest.digests
    assert verify(Bank.open(bank.path)) == []
    assert len(records(bank.path)) == 3


def test_compaction_keeps_it(bank: Bank) -> None:
    for number in range(3, 40):
        learn_one(bank, number)
    assert compact(bank).done
    assert records(bank.path) == LINES
    assert verify(bank) == []


@pytest.mark.parametrize("history", [True, False])
def test_it_goes_where_the_journal_goes(bank: Bank, tmp_path: Path, history: bool) -> None:
    expected = LINES if history else []
    copy = copy_bank(bank, tmp_path / "copy", history=history)
    assert records(copy.path) == expected
    archive = tmp_path / "bank.deltamem"
    package.pack(bank, with_journal=history).write(archive)
    assert records(archive) == expected
    installed, _ = install(receive(archive), tmp_path / "installed")
    assert records(installed.path) == expected
    assert verify(installed) == []
    freed, _ = install(receive(archive), tmp_path / "freed", frozen=False)
    assert records(freed.path) == expected


@pytest.mark.parametrize("frozen", [True, False])
def test_a_folder_is_installed_with_it(bank: Bank, tmp_path: Path, frozen: bool) -> None:
    if frozen:
        bank.freeze()
    installed, _ = install(receive(bank.path), tmp_path / "installed")
    assert records(installed.path) == LINES
    assert verify(installed) == []
