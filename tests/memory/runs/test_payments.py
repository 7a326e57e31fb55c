"""What a run pays is summed up and written down at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank import usage_log
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.errors import BankCorruptError, StorageError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.deltamem.definition import METHOD
from deltamem_tui.memory.plan import LearnResult
from deltamem_tui.memory.runs.learning import LearningRun, Refusal
from deltamem_tui.memory.runs.run import Payments
from deltamem_tui.memory.views.history import history
from deltamem_tui.memory.writers.extraction import (
    Call,
    Extraction,
    ExtractorWriter,
    FailedCallError,
    Payment,
)
from deltamem_tui.trajectory.model import Trajectory
from tests.memory.support import (
    ChosenEmbedder,
    EchoExtractor,
    episode,
    new_bank,
    parameters,
    teach,
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


@dataclass
class PaidExtractor(EchoExtractor):
    """A user's own extractor, which asks something that costs."""

    def extract(self, tree: str, trajectory: Trajectory, chain: Sequence[Node]) -> Extraction:
        said = super().extract(tree, trajectory, chain)
        if trajectory.steps[0].action == "fail":
            call = Call("extract", tree, "some/model", "", CALL)
            raise FailedCallError("it said nothing", call)
        return replace(said, model="some/model", usage=CALL, attempts=1)

    def fuse(self, tree: str, chain: Sequence[Node]) -> Extraction:
        return replace(super().fuse(tree, chain), model="some/model", usage=CALL, attempts=1)


def test_what_a_users_own_extractor_takes_is_on_the_bill(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank", parameters(tau_base=0.9))
    extractor, embedder = PaidExtractor(), ChosenEmbedder()
    teach(bank, episode((1, 0, 0)), extractor)
    paid = len(extractor.asked)
    assert history(bank).usage.calls == paid > 0
    with LearningRun(bank, extractor, embedder=embedder) as run:
        found = list(run.learn([episode((1, 0.1, 0)), episode((1, 0.2, 0), action="fail")]))
    assert [type(each) for each in found] == [LearnResult, Refusal]
    assert run.usage.calls == len(extractor.asked) - paid
    assert run.wasted.calls == 0
    (root,) = bank.tree("task").roots()
    paid_for: list[Payment] = []
    told: list[Payment] = []
    writer = ExtractorWriter(extractor, METHOD.use_of, told.append).paying(paid_for.append)
    writer.write("task_consolidation", None, [root])
    assert told == paid_for
    assert paid_for == [Payment("fuse", "task", root.id, "some/model", "", CALL)]


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
