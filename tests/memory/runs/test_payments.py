"""What a run pays is summed up and written down at once."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank import usage_log
from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import BankCorruptError, StorageError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.runs.run import Payments
from deltamem_tui.memory.views.history import history
from deltamem_tui.memory.writers.extraction import (
    Payment,
)
from tests.memory.support import (
    new_bank,
)

CALL = Usage(1, 0, 100, 20, 0.5)


def payment(usage: Usage = CALL) -> Payment:
    return Payment("extract", "task", "0123456789abcdef", "some/model", "abc", usage)


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return new_bank(tmp_path / "bank")


def test_each_payment_is_a_line_and_the_lines_are_the_sum(bank: Bank) -> None:
    payments = Payments(bank)
    payments(payment())
    payments(payment(Usage(cached=1)))
    assert len(list(usage_log.records(bank.path))) == 2
    payments(payment())
    assert payments.usage == history(bank).usage == CALL + CALL + Usage(cached=1)
    assert next(iter(usage_log.records(bank.path))) == {
        "purpose": "extract",
        "tree": "task",
        "episode": "0123456789abcdef",
        "model": "some/model",
        "prompt": "abc",
        **asdict(CALL),
    }


def test_a_cost_that_is_not_known_stays_so(bank: Bank) -> None:
    Payments(bank)(payment(Usage(1, 0, 5, 5, None)))
    assert history(bank).usage == Usage(1, 0, 5, 5, None)


def test_a_disk_that_takes_no_line_stops_no_answer_and_is_reported_in_the_end(bank: Bank) -> None:
    file = bank.path / usage_log.FILE_NAME
    file.mkdir()
    payments = Payments(bank)
    payments(payment())
    with pytest.raises(StorageError):
        payments.close()
    file.rmdir()
    payments.close()
    payments.close()
    assert payments.usage == history(bank).usage == CALL


@pytest.mark.parametrize(
    "odd",
    [
        {"calls": -4, "cost": "much"},
        {"calls": True, "cached": "1"},
        {"calls": 2**60},
        {"calls": 1e300, "cost": -1.0},
    ],
)
def test_amounts_that_cannot_be_are_passed_over(bank: Bank, odd: dict[str, Any]) -> None:
    usage_log.append(bank.path, {"prompt_tokens": 5, "completion_tokens": "many", **odd})
    assert history(bank).usage == Usage(0, 0, 5, 0, None)


def test_a_line_without_end_is_refused(bank: Bank) -> None:
    (bank.path / usage_log.FILE_NAME).write_bytes(b"x" * 1_000_000)
    with pytest.raises(BankCorruptError):
        history(bank)
