"""Whatever is paid for is on the bill once, whatever becomes of the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import BankFrozenError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.stored_episodes import waiting
from deltamem_tui.memory.runs.judging import judge_episodes, without_outcome
from deltamem_tui.memory.runs.learning import LearningRun
from deltamem_tui.memory.statistics import history
from deltamem_tui.memory.writers.model import Judge, ModelExtractor
from tests.llm.server import ModelServer, Reply, Request, serving
from tests.llm.support import client
from tests.memory.support import episode, new_bank
from tests.memory.writers.model import sensible
from tests.memory.writers.model.generated import generated
from tests.memory.writers.model.learning import bank_with
from tests.memory.writers.model.support import verdict

UNSAID = [episode((1, 0, number), success=None) for number in range(4)]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A server of the test's own: a call that an earlier test left behind finds its own gone.

    It is called once beforehand: threads that make litellm's first connection to a server at
    the same moment make one each, and all but one of them are dropped unclosed.
    """
    with serving() as server:
        server.answer("yes")
        client(server).ask("Are you there?", str)
        server.script()
        server.replies = sensible.reply
        yield server


def at(
    server: ModelServer,
    number: int,
    then: Callable[[], object],
    reply: Callable[[Request], Reply] = sensible.reply,
) -> None:
    """Let something happen while the model thinks about the so-manieth request."""

    def replies(request: Request) -> Reply:
        if len(server.requests) == number:
            then()
        return reply(request)

    server.script()
    server.replies = replies


def on_the_bill(bank: Bank, usage: Usage, before: Usage | None = None) -> None:
    """These calls and no others are on the bill, which no digest of a frozen bank covers."""
    paid = Bank.open(bank.path)
    assert paid.manifest.frozen
    assert verify(paid) == []
    assert history(paid).usage == (before or Usage()) + usage


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize("verdict", [verdict("yes", "It is done."), "Perhaps"])
def test_a_judgement_that_the_bank_did_not_take_is_on_the_bill(
    server: ModelServer, tmp_path: Path, concurrency: int, verdict: str
) -> None:
    bank = new_bank(tmp_path / "bank")
    take_in(bank, UNSAID)
    other = Bank.open(bank.path)
    at(server, 2, other.freeze, lambda _request: Reply(verdict))
    judge = Judge(client(server))
    found = judge_episodes(bank, judge, without_outcome(bank), concurrency=concurrency)
    assert isinstance(found.errors[-1], BankFrozenError)
    on_the_bill(bank, judge.client.usage)


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("number", [1, 4])
def test_a_lesson_that_the_bank_did_not_take_is_on_the_bill(
    server: ModelServer, tmp_path: Path, number: int, concurrency: int
) -> None:
    episodes = generated(4)
    bank = bank_with(tmp_path / "bank", episodes)
    at(server, number, Bank.open(bank.path).freeze)
    asking = ModelExtractor(client(server))
    with (
        pytest.raises(BankFrozenError),
        LearningRun(bank, asking, concurrency=concurrency) as run,
    ):
        list(run.learn(waiting(bank)))
    on_the_bill(bank, asking.client.usage)


def test_learning_from_one_episode_is_paid_once_and_of_a_frozen_bank_not_at_all(
    server: ModelServer, tmp_path: Path
) -> None:
    first, second = generated(2)
    bank = bank_with(tmp_path / "bank", [first, second, *UNSAID])
    extractor = ModelExtractor(client(server))
    learn(bank, first, extractor)
    asked = len(server.requests)
    assert history(bank).usage.calls == asked > 0
    bank.freeze()
    with pytest.raises(BankFrozenError):
        learn(bank, second, extractor)
    with pytest.raises(BankFrozenError), LearningRun(bank, extractor) as run:
        list(run.learn([second]))
    with pytest.raises(BankFrozenError):
        judge_episodes(bank, Judge(client(server)), [UNSAID[0].id])
    assert len(server.requests) == asked
