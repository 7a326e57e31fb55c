"""A judge's word is kept episode by episode, fills gaps only, and a stopped run goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import (
    BudgetError,
    LanguageModelError,
    TrajectoryError,
)
from deltamem_tui.llm.cache import ResponseCache
from deltamem_tui.llm.cost import Budget, Price
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.outcomes import give_outcome
from deltamem_tui.memory.episodes.stored_episodes import episode as kept
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.policies import admitted_by
from deltamem_tui.memory.prompts.use import JUDGE
from deltamem_tui.memory.runs.judging import (
    JudgingReport,
    judge_episodes,
    take_judgement,
    without_outcome,
)
from deltamem_tui.memory.statistics import history
from deltamem_tui.memory.writers.model import Judge
from deltamem_tui.trajectory.model import Outcome
from tests.llm.server import ModelServer, Reply, Request
from tests.llm.support import MODEL, client
from tests.memory.support import episode, new_bank
from tests.memory.writers.model.support import verdict

UNSAID = [episode((1, 0, number), success=None) for number in range(6)]
STATED = episode((0, 1, 0), success=False)


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    bank = new_bank(tmp_path / "bank")
    take_in(bank, [*UNSAID[:3], STATED, *UNSAID[3:]])
    return bank


def by_task(**verdicts: Reply) -> Callable[[Request], Reply]:
    """Answers by the last number of the task; yes to the others."""

    def reply(request: Request) -> Reply:
        for number, given in verdicts.items():
            if f"\n1 0 {number.removeprefix('n')}\n" in request.prompt:
                return given
        return Reply(verdict("yes", "It is done."))

    return reply


def judged(bank: Bank, judge: Judge, concurrency: int = 1) -> JudgingReport:
    return judge_episodes(bank, judge, without_outcome(bank), concurrency=concurrency)


def journal(bank: Bank) -> list[dict[str, Any]]:
    commits = Bank.open(bank.path).journal.commits()
    return [dict(commit.detail) for commit in commits if commit.event == "judge"]


@pytest.mark.parametrize("concurrency", [1, 4])
def test_each_episode_without_an_outcome_is_judged_once(
    server: ModelServer, bank: Bank, concurrency: int
) -> None:
    server.replies = by_task(n2=Reply(verdict("no", "It broke off."), delay=0.05))
    found = judged(bank, Judge(client(server)), concurrency)
    assert [episode.id for episode, _ in found.judged] == [each.id for each in UNSAID]
    outcomes = {each.task: each.outcome for each in episodes(Bank.open(bank.path))}
    assert outcomes["1 0 2"] == Outcome(False, None, "judge", "It broke off.")
    assert outcomes["1 0 3"] == Outcome(True, None, "judge", "It is done.")
    assert outcomes[STATED.task] == STATED.outcome
    assert len(server.requests) == len(UNSAID)
    again = judged(bank, Judge(client(server)), concurrency)
    assert (again.judged, again.errors) == ([], [])
    assert verify(bank) == []


def test_a_judged_episode_is_learnt_only_where_all_are_admitted(
    server: ModelServer, bank: Bank
) -> None:
    server.answer(verdict("yes", "It is done."))
    judged(bank, Judge(client(server)))
    for found in episodes(bank):
        judge_said = found.id != STATED.id
        assert admitted_by("strict", found.outcome) != judge_said
        assert admitted_by("all", found.outcome)


def test_the_journal_tells_what_was_asked_and_what_it_took(server: ModelServer, bank: Bank) -> None:
    server.replies = by_task(n1=Reply("Perhaps"))
    judge = Judge(client(server, price=Price(0.001, 0.002)))
    judged(bank, judge)
    details = journal(bank)
    assert [detail["success"] for detail in details] == [True, None, True, True, True, True]
    calls = [call for detail in details for call in detail["calls"]]
    assert {(call["purpose"], call["model"]) for call in calls} == {("judge", MODEL)}
    assert calls[1]["attempts"] == 3
    assert "no complete JSON" in details[1]["reason"]
    told, spent = history(bank).usage, judge.client.usage
    assert replace(told, cost=None) == replace(spent, cost=None)
    assert told.cost == pytest.approx(spent.cost)


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_refused_key_stops_the_run_and_the_next_one_goes_on(
    server: ModelServer, bank: Bank, concurrency: int
) -> None:
    server.replies = by_task(n3=Reply(status=401))
    found = judged(bank, Judge(client(server)), concurrency)
    (error,) = found.errors
    assert isinstance(error, LanguageModelError)
    # What was under way when the refusal came is kept too, and nothing is sent after it.
    assert 3 <= len(found.judged) <= 2 + concurrency
    left = without_outcome(bank)
    assert left[0] == UNSAID[3].id
    server.answer(verdict("no", "No."))
    assert len(judged(bank, Judge(client(server)), concurrency).judged) == len(left)
    assert len(server.requests) == len(left)


def test_a_limit_on_cost_is_kept_and_what_was_paid_for_stays(
    server: ModelServer, bank: Bank
) -> None:
    server.answer(verdict("yes", "It is done."))
    price = Price(0.0001, 0.0)
    judge = Judge(client(server, price=price))
    once = judge.estimate(JUDGE, judge.request(JUDGE, UNSAID[0], ())).cost
    assert once is not None
    judge = Judge(client(server, price=price, budget=Budget(once * 3)))
    found = judged(bank, judge)
    assert isinstance(found.errors[-1], BudgetError)
    assert 1 <= len(found.judged) <= 3
    assert (judge.client.usage.cost or 0) <= once * 3
    assert len(without_outcome(bank)) == len(UNSAID) - len(found.judged)


SAID = Outcome(True, None, "judge", "It is done.")


@pytest.mark.parametrize("source", ["stated", "user"])
def test_nobody_is_overruled(server: ModelServer, bank: Bank, source: str) -> None:
    server.answer(verdict("yes", "It is done."))
    judge = Judge(client(server))
    target = STATED
    if source == "user":
        target = give_outcome(bank, UNSAID[0].id, success=False)
    with pytest.raises(TrajectoryError, match=rf"already has an outcome \({source}\)"):
        take_judgement(bank, target.id, *judge.judge(target))
    found = kept(bank, target.id)
    assert found is not None
    assert (found.outcome, found.verdicts) == (target.outcome, (SAID,))
    with pytest.raises(TrajectoryError, match=rf"already has an outcome \({source}\)"):
        take_judgement(bank, target.id, *judge.judge(target))
    assert kept(bank, target.id) == found


def test_an_outcome_that_comes_while_the_model_thinks_stays(
    server: ModelServer, bank: Bank
) -> None:
    def reply(_request: Request) -> Reply:
        give_outcome(Bank.open(bank.path), UNSAID[0].id, success=False)
        return Reply(verdict("yes", "It is done."))

    server.replies = reply
    (error,) = judge_episodes(bank, Judge(client(server)), [UNSAID[0].id]).errors
    assert isinstance(error, TrajectoryError)
    by_user = UNSAID[0].with_outcome(Outcome(False, None, "user"))
    assert kept(bank, UNSAID[0].id) == by_user.with_facts(verdicts=(SAID,))


def test_who_stops_pays_for_what_is_under_way_and_finds_it_in_the_cache(
    server: ModelServer, bank: Bank, tmp_path: Path
) -> None:
    server.replies = lambda _request: Reply(verdict("yes", "It is done."), delay=0.05)
    cache, ids = ResponseCache(tmp_path / "answers"), without_outcome(bank)
    judge = Judge(client(server, cache=cache))
    found = judge_episodes(
        bank, judge, ids, concurrency=3, stopped=lambda: len(server.requests) > 1
    )
    assert len(found.judged) <= len(server.requests) < len(UNSAID)
    assert without_outcome(bank) == ids[len(found.judged) :]
    assert history(bank).usage == judge.client.usage
    judged(bank, Judge(client(server, cache=cache)))
    assert len(server.requests) == len(UNSAID)
