"""`episode review`: the queue of doubtful episodes is listed."""

from __future__ import annotations

from contextlib import suppress

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import TrajectoryError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.runs.judging import take_judgement
from deltamem_tui.memory.writers.extraction import Call
from deltamem_tui.trajectory.model import Outcome
from tests.cli.support import Program


def judged(bank: Bank, number: int, *, success: bool) -> str:
    """The judge's word on an episode, beside the log's."""
    episode = bank.episodes.ids()[number]
    outcome = Outcome(success, None, "judge", "it looked so")
    call = Call("judge", None, "m", "", Usage())
    with suppress(TrajectoryError):  # the log's own counts more, and the judge's is kept
        take_judgement(bank, episode, outcome, call)
    return episode


@pytest.fixture
def doubtful(program: Program) -> tuple[Bank, str, str]:
    """A bank, a learnt success that the judge doubts, and a waiting one that it alone saw."""
    bank = Bank.open(program.bank)
    return bank, judged(bank, 0, success=False), judged(bank, 3, success=True)


def test_the_queue_is_listed(program: Program, doubtful: tuple[Bank, str, str]) -> None:
    _, first, second = doubtful
    found = program.json("review", "kitchen").data
    assert [(each["episode"], each["reason"]) for each in found["queue"][:2]] == [
        (first, "disagreement"),
        (second, "unconfirmed"),
    ]
    program("outcome", "kitchen", first, "success")
    assert first not in {
        each["episode"] for each in program.json("review", "kitchen").data["queue"]
    }
