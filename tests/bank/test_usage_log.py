"""`usage.jsonl`: every line that was acknowledged is there, whoever is killed, and it travels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank import transfer as package
from deltamem_tui.bank import usage_log
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.transfer import copy_bank, install, receive
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import StorageError
from tests.bank.support import learn_one, manifest

LINES: list[dict[str, Any]] = [{"calls": 1, "cost": 0.25}, {"calls": 1, "cost": None}]


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


@pytest.mark.parametrize("history", [True, False])
def test_it_goes_where_the_journal_goes(bank: Bank, tmp_path: Path, history: bool) -> None:
    expected = LINES if history else []
    copy = copy_bank(bank, tmp_path / "copy", history=history)
    assert records(copy.path) == expected
    archive = tmp_path / "bank.deltamem"
    package.pack(bank, with_episodes=True, with_journal=history).write(archive)
    assert records(archive) == expected
    installed, _ = install(receive(archive), tmp_path / "installed")
    assert records(installed.path) == expected
    assert verify(installed) == []
    freed, _ = install(receive(archive), tmp_path / "freed", frozen=False)
    assert records(freed.path) == expected
