"""Killed at any effect of a verdict or of a review: each verdict is there whole, or not at all."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.review_session import ReviewSession
from deltamem_tui.errors import StorageError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.credit.views import tree_credit
from deltamem_tui.memory.engine import recall
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.outcomes import give_outcome, take_back_outcome
from deltamem_tui.memory.episodes.outcomes_together import give_outcomes, joint_verdict
from deltamem_tui.memory.runs.judging import take_judgement
from deltamem_tui.memory.writers.extraction import Call
from deltamem_tui.memory.writers.model.judge import Judgement
from deltamem_tui.trajectory.model import Outcome, Trajectory
from tests.bank.fragile import NEVER, FragileOS, KilledError
from tests.effort import in_turn
from tests.memory.episodes.test_outcomes_together import STEPS, bank_of, state


def seen(bank: Bank) -> list[object]:
    """All that can be seen of a bank, its credit too."""
    return [*state(bank), *(tree_credit(bank, name) for name in bank.trees)]


def first(bank: Bank) -> str:
    return bank.episodes.ids()[0]


def overturn(bank: Bank) -> None:
    give_outcome(bank, first(bank), success=False)


def overturn_all(bank: Bank) -> None:
    give_outcomes(bank, joint_verdict(bank, bank.episodes.ids(), success=False))


def review(bank: Bank, after: Callable[[], object] = lambda: None) -> None:
    """Overturns the first episode, which the judge doubts, and says that the next succeeded."""
    given = iter("ffs")

    def key() -> str:
        after()
        if (found := next(given, None)) is None:
            raise EOFError
        return found

    ReviewSession(bank, 0, Page(io.StringIO()), key, blind=False).run()


ACTIONS: dict[str, tuple[Callable[[Bank], object], Callable[[Bank], object]]] = {
    "take back": (overturn, lambda bank: take_back_outcome(bank, first(bank))),
    "overturn all": (lambda _: None, overturn_all),
    "review": (lambda _: None, review),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_a_verdict_is_whole_wherever_the_process_ends(tmp_path: Path, name: str) -> None:
    prepare, act = ACTIONS[name]
    bank = bank_of(tmp_path / "bank")
    receipt = recall(bank, "heat the egg", "a kitchen").receipt
    assert receipt is not None
    shown = Trajectory("heat the bowl", "a bath", STEPS, Outcome(False, None, "stated"))
    take_in(bank, [shown.with_facts(receipts=(receipt,))])
    doubt = Judgement(Outcome(False, None, "judge"), Call("judge", None, "m", "", Usage()))
    take_judgement(bank, first(bank), doubt, beside=True)
    prepare(bank)
    shutil.copytree(bank.path, tmp_path / "undisturbed")
    undisturbed = Bank.open(tmp_path / "undisturbed")
    states = [seen(undisturbed)]
    with FragileOS(NEVER).at_work() as counting:
        if act is review:
            review(undisturbed, lambda: states.append(seen(undisturbed)))
        else:
            act(undisturbed)
    states.append(seen(undisturbed))
    assert first(bank) not in bank.episodes.waiting() or name == "take back"
    assert (first(bank) in undisturbed.episodes.waiting()) == (name != "take back")
    for last in in_turn(len(counting.names), apart=15):
        shutil.copytree(bank.path, path := tmp_path / str(last))
        with suppress(KilledError, StorageError), FragileOS(last, "half").at_work():
            act(Bank.open(path))
        found = Bank.open(path)
        assert seen(found) in states
        with found.writing():  # whoever writes next repairs what is left half
            pass
        assert verify(Bank.open(path)) == []
