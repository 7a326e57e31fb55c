"""What a run has paid is told once, also when it was killed before the journal could tell it."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.upkeep.compact import compact
from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.runs.ledger import Ledger, debts, tell_debts
from deltamem_tui.memory.views.history import history
from tests.memory.support import new_bank

CALL = Usage(1, 0, 100, 20, 0.5)
TWO = CALL + CALL


@dataclass
class Payer:
    """Pays when a test says so."""

    listeners: list[Callable[[Usage], object]] = field(default_factory=list)

    def on_payment(self, told: Callable[[Usage], object]) -> Callable[[], None]:
        self.listeners.append(told)
        return lambda: self.listeners.remove(told)

    def pay(self, usage: Usage = CALL) -> None:
        for told in self.listeners:
            told(usage)


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return new_bank(tmp_path / "bank")


@pytest.fixture
def payer() -> Payer:
    return Payer()


def ledgers(bank: Bank) -> list[Path]:
    return sorted(bank.path.glob(".paid-*"))


def killed(ledger: Ledger) -> None:
    """What the system does for a process that ends: its files are closed, and so unlocked."""
    assert ledger._file is not None
    os.close(ledger._file)
    ledger._file = None


def commit(bank: Bank, event: str, usage: Usage, **detail: Any) -> None:
    call = {
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost": usage.cost,
    }
    with bank.writing() as batch:
        batch.log(event, {**detail, "calls": [call]})


def test_a_run_that_told_all_leaves_nothing(bank: Bank, payer: Payer) -> None:
    ledger = Ledger(bank, payer)
    assert ledgers(bank) == []  # before the first payment
    payer.pay()
    payer.pay()
    assert len(ledgers(bank)) == 1
    ledger.told(TWO)
    ledger.close()
    assert ledgers(bank) == []
    assert payer.listeners == []
    assert tell_debts(bank) == Usage()


def test_what_a_killed_run_had_paid_is_told_once(bank: Bank, payer: Payer) -> None:
    ledger = Ledger(bank, payer)
    payer.pay()
    payer.pay()
    payer.pay()
    ledger.told(CALL)
    assert debts(bank) == Usage()  # while its run lives, it may still tell all
    killed(ledger)
    before = bank.commit.sequence
    assert debts(bank) == TWO
    assert (bank.commit.sequence, len(ledgers(bank))) == (before, 1)
    assert tell_debts(bank) == TWO
    assert debts(bank) == Usage()
    assert history(bank).usage == TWO
    assert ledgers(bank) == []
    assert tell_debts(bank) == Usage()
    assert history(bank).usage == TWO
    assert verify(bank) == []


def test_a_living_run_tells_its_own(bank: Bank, payer: Payer) -> None:
    ledger = Ledger(bank, payer)
    payer.pay()
    assert tell_debts(Bank.open(bank.path)) == Usage()
    assert len(ledgers(bank)) == 1
    ledger.told(CALL)
    ledger.close()


@pytest.mark.parametrize(
    ("about", "event", "detail"),
    [
        ("episode", "learn", {"trajectory": "episode"}),
        ("episode", "draw", {"trajectory": "episode"}),
        ("last", "consolidate", {"nodes": ["first", "last"]}),
        ("waste", "waste", {}),
    ],
)
def test_a_commit_that_came_before_the_kill_is_not_told_again(
    bank: Bank, payer: Payer, about: str, event: str, detail: dict[str, Any]
) -> None:
    """Killed between the commit and the ledger's note of it."""
    commit(bank, event, CALL, **detail)  # an earlier one of the same name
    ledger = Ledger(bank, payer)
    payer.pay()
    payer.pay()
    ledger.telling(about)
    commit(bank, event, CALL, **detail)
    killed(ledger)
    assert tell_debts(bank) == CALL
    assert history(bank).usage == TWO + CALL


def test_what_was_to_be_told_and_was_not_is_told(bank: Bank, payer: Payer) -> None:
    ledger = Ledger(bank, payer)
    ledger.telling("episode")
    payer.pay()
    commit(bank, "learn", CALL, trajectory="another")
    killed(ledger)
    assert tell_debts(bank) == CALL


def test_a_debt_that_was_told_before_the_ledger_went_is_not_told_again(
    bank: Bank, payer: Payer, tmp_path: Path
) -> None:
    ledger = Ledger(bank, payer)
    payer.pay()
    killed(ledger)
    (left,) = ledgers(bank)
    copy = tmp_path / left.name
    shutil.copy(left, copy)
    assert tell_debts(bank) == CALL
    shutil.copy(copy, left)  # as if whoever told it had been killed then
    assert tell_debts(bank) == Usage()
    assert history(bank).usage == CALL
    assert ledgers(bank) == []


def test_a_folded_journal_is_never_made_to_tell_something_twice(bank: Bank, payer: Payer) -> None:
    for number in range(40):
        commit(bank, "learn", CALL, trajectory=f"before {number}")
    ledger = Ledger(bank, payer)
    payer.pay()
    ledger.telling("episode")
    commit(bank, "learn", CALL, trajectory="episode")
    commit(bank, "learn", CALL, trajectory="another")
    killed(ledger)
    assert compact(bank).done
    before = history(bank).usage
    assert tell_debts(bank) == Usage()
    assert history(bank).usage == before


def test_a_line_that_was_cut_off_or_is_odd_is_passed_over(bank: Bank, payer: Payer) -> None:
    ledger = Ledger(bank, payer)
    payer.pay()
    (left,) = ledgers(bank)
    killed(ledger)
    with left.open("ab") as stream:
        stream.write(
            b'7\n{"paid": 3}\n{"paid": {"calls": -4, "cost": "much"}}\n{"paid": {"calls": 1, "pro'
        )
    told = tell_debts(bank)
    assert (told.calls, told.prompt_tokens) == (1, 100)


def test_calls_at_an_unknown_price_stay_so(bank: Bank, payer: Payer) -> None:
    ledger = Ledger(bank, payer)
    payer.pay(Usage(1, 0, 5, 5, None))
    killed(ledger)
    assert tell_debts(bank).cost is None
    assert history(bank).usage.cost is None


def test_answers_out_of_the_cache_are_no_debts(bank: Bank, payer: Payer) -> None:
    ledger = Ledger(bank, payer)
    payer.pay()
    ledger.told(CALL + Usage(cached=3))
    payer.pay()
    killed(ledger)
    assert tell_debts(bank) == CALL


def test_a_link_in_a_ledgers_place_is_not_followed(bank: Bank, payer: Payer) -> None:
    target = bank.path / "outside"
    target.write_text('{"paid": {"calls": 9}}\n')
    (bank.path / ".paid-0123456789abcdef.draft").symlink_to(target)
    assert tell_debts(bank) == Usage()
    assert target.exists()


def test_a_disk_that_takes_no_ledger_stops_nobody(
    bank: Bank, payer: Payer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "no space left")

    ledger = Ledger(bank, payer)
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", full)
        payer.pay()
    other = Ledger(bank, payer)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        payer.pay()
    assert ledgers(bank) == []
    ledger.close()
    other.close()


def test_a_ledger_is_no_part_of_a_frozen_bank(bank: Bank, payer: Payer) -> None:
    ledger = Ledger(bank, payer)
    payer.pay()
    bank.freeze()
    assert verify(Bank.open(bank.path)) == []
    ledger.told(CALL)
    ledger.close()
    assert verify(Bank.open(bank.path)) == []
