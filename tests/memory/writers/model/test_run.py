"""A run over waiting episodes: in order, side by side, interrupted, refused, and never wrong."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import (
    BudgetError,
    DeltaMemError,
    ExtractionError,
    LanguageModelError,
    ModelUnavailableError,
)
from deltamem_tui.llm.cache import ResponseCache
from deltamem_tui.llm.cost import Budget, Price, Usage
from deltamem_tui.memory.deltamem.definition import COLLECTIONS
from deltamem_tui.memory.episodes.stored_episodes import waiting
from deltamem_tui.memory.plan import LearnResult
from deltamem_tui.memory.runs.learning import LearningRun
from deltamem_tui.memory.statistics import history
from deltamem_tui.memory.writers.model.writer import ModelExtractor
from tests.llm.server import ModelServer, Reply, Request, counted, serving
from tests.llm.support import KEY, MODEL, client
from tests.memory.writers.model import sensible
from tests.memory.writers.model.generated import generated
from tests.memory.writers.model.learning import (
    bank_with,
    learnt_files,
    lessons_of,
    payments,
    run_over,
    told,
)

PRICE = Price(1e-6, 2e-6)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A server of the test's own, answering sensibly.

    A run leaves the calls that are on their way behind, so one that an earlier test began may
    come in late. Here it finds its own server gone.
    """
    with serving() as server:
        server.replies = sensible.reply
        yield server


def test_side_by_side_is_what_one_after_another_would_be(
    server: ModelServer, tmp_path: Path
) -> None:
    episodes = generated(40)
    alone = bank_with(tmp_path / "alone", episodes)
    outcomes, run = run_over(alone, server)
    assert server.most_in_flight == 1
    assert len(lessons_of(outcomes)) == 40
    decisions = Counter(
        taught.decision for lesson in lessons_of(outcomes) for taught in lesson.trees.values()
    )
    assert min(decisions["root"], decisions["residual"], decisions["skip"]) > 2
    server.script()
    # The server takes its time until it was seen to have four to answer at once.
    server.replies = lambda request: sensible.reply(
        request, delay=0.02 if server.most_in_flight >= 4 else 0.2
    )
    together = bank_with(tmp_path / "together", episodes)
    _, crowd = run_over(together, server, concurrency=8)
    assert 4 <= server.most_in_flight <= 8
    assert learnt_files(together) == learnt_files(alone)
    assert told(together) == told(alone)
    assert crowd.asking.usage.calls == len(server.requests) > run.asking.usage.calls
    assert history(together).usage == crowd.asking.usage
    assert len(payments(together)) == len(server.requests)
    assert verify(together) == []


def test_what_a_lesson_took_is_told_call_by_call(server: ModelServer, tmp_path: Path) -> None:
    bank = bank_with(tmp_path / "bank", generated(1))
    (lesson,), run = run_over(bank, server, price=PRICE)
    assert isinstance(lesson, LearnResult)
    detail = told(bank)[-1][1]
    for name, request, paid in zip(COLLECTIONS, server.requests, payments(bank), strict=True):
        (call,) = detail["trees"][name]["calls"]
        tokens = request.words
        node = next(iter(bank.tree(name)))
        assert paid["prompt_tokens"] == tokens
        assert paid["cost"] == pytest.approx(PRICE.of(tokens, paid["completion_tokens"]))
        assert (paid["calls"], paid["cached"]) == (1, 0)
        assert paid["episode"] == lesson.trajectory
        about = {"purpose": "extract", "tree": name, "model": MODEL, "prompt": node.origin.prompt}
        assert call == {**about, "attempts": 1}
        assert about.items() <= paid.items()
    assert history(bank).usage == run.asking.usage == lesson.usage


@pytest.mark.parametrize(
    "reply",
    [Reply("nothing useful"), Reply(status=400, error=("Blocked by our content policy", None))],
    ids=["useless", "policy"],
)
@pytest.mark.parametrize("concurrency", [1, 4])
def test_an_episode_that_fails_for_good_waits_with_its_reason(
    server: ModelServer, tmp_path: Path, reply: Reply, concurrency: int
) -> None:
    episodes = generated(6)
    stubborn = episodes[2]

    def replies(request: Request) -> Reply:
        about = sensible.Asked(request.prompt).parts.get("steps", "")
        return reply if stubborn.steps[-1].action in about else sensible.reply(request)

    server.replies = replies
    bank = bank_with(tmp_path / "bank", episodes)
    outcomes, _ = run_over(bank, server, concurrency=concurrency)
    (refusal,) = [each for each in outcomes if isinstance(each, DeltaMemError)]
    assert outcomes.index(refusal) == 2
    assert refusal.source == stubborn.id
    assert isinstance(refusal, ExtractionError)
    assert bank.episodes.waiting() == [stubborn.id]
    (refused,) = history(bank).refused
    assert refused.trajectory == stubborn.id
    assert refused.reason in str(refusal) or "policy" in refused.reason
    detail = dict(told(bank))["refuse"]
    assert detail["calls"][0]["attempts"] == (3 if reply.status == 200 else 1)
    asked = [each for each in payments(bank) if each["episode"] == stubborn.id]
    paid = [each for each in asked if each["tree"] == "task"]  # the other may be asked beside
    assert len(paid) == (3 if reply.status == 200 else 0)
    server.replies = sensible.reply
    again, _ = run_over(bank, server, concurrency=concurrency)
    assert len(lessons_of(again)) == 1
    assert history(bank).refused == ()
    assert history(bank).usage.calls >= 12
    assert verify(bank) == []


STRANGER = "AIzaSyB7k2Qw9xLmN4pRt6vZc1dHf3gJs8uYeXo"  # as Google's keys look

LASTING: dict[str, tuple[Reply, type[DeltaMemError], int]] = {
    "bad key": (
        Reply(status=401, error=(f"Incorrect API key: {KEY}", None)),
        LanguageModelError,
        1,
    ),
    "unknown model": (Reply(status=404, error=("no model", None)), LanguageModelError, 1),
    "odd request": (
        Reply(status=400, error=(f"odd {STRANGER}", None)),
        LanguageModelError,
        1,
    ),
    "gone": (Reply(status=503), ModelUnavailableError, 3),
}


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize("kind", LASTING)
def test_what_would_fail_every_episode_stops_before_the_first(
    server: ModelServer, tmp_path: Path, kind: str, concurrency: int
) -> None:
    reply, error, requests = LASTING[kind]
    server.replies = lambda _request: reply
    bank = bank_with(tmp_path / "bank", generated(9))
    before = learnt_files(bank), told(bank)
    with pytest.raises(error) as caught:
        run_over(bank, server, concurrency=concurrency, retries=2)
    assert len(server.requests) == requests  # one question, whatever the concurrency
    assert (learnt_files(bank), told(bank)) == before
    assert KEY not in str(caught.value)
    assert STRANGER not in str(caught.value)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_server_that_goes_away_leaves_what_was_learnt(
    server: ModelServer, tmp_path: Path, concurrency: int
) -> None:
    def replies(request: Request) -> Reply:
        return sensible.reply(request) if len(server.requests) < 9 else Reply(status=503)

    server.replies = replies
    cache = ResponseCache(tmp_path / "cache")
    episodes = generated(8)
    bank = bank_with(tmp_path / "bank", episodes)
    with pytest.raises(LanguageModelError):
        run_over(bank, server, concurrency=concurrency, retries=0, cache=cache)
    assert 0 < bank.episodes.learnt() < 8
    answered = [request.prompt for request in server.requests[:8]]
    server.script()
    server.replies = sensible.reply
    run_over(bank, server, concurrency=concurrency, cache=cache)
    assert not set(answered) & {request.prompt for request in server.requests}
    alone = bank_with(tmp_path / "alone", episodes)
    run_over(alone, server)
    assert learnt_files(bank) == learnt_files(alone)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_stopping_while_a_model_hangs_is_quick_and_leaves_nothing_half(
    server: ModelServer, tmp_path: Path, concurrency: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = threading.Event()

    def replies(request: Request) -> Reply:
        if len(server.requests) < 6:
            return sensible.reply(request)
        reached.set()
        return Reply(manner="hang")

    server.replies = replies
    bank = bank_with(tmp_path / "bank", generated(8))
    monkeypatch.setattr("deltamem_tui.memory.runs.asking.GRACE", 0.05)
    outcomes, run = run_over(bank, server, concurrency, stopped=reached.is_set)
    assert len(lessons_of(outcomes)) == len(outcomes) == bank.episodes.learnt() < 8
    assert 1 <= run.asking.in_flight <= concurrency
    assert run.asking.usage.calls == history(bank).usage.calls == 5
    assert verify(bank) == []
    assert history(bank).refused == ()


def taken(requests: list[Request]) -> Usage:
    """What these requests took, were they all answered sensibly."""
    usage = Usage()
    for request in requests:
        said = sensible.reply(request).text or ""
        tokens = request.words, counted(said)
        usage += Usage(1, 0, *tokens, PRICE.of(*tokens))
    return usage


@pytest.mark.one_in(3)
@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize("end", ["stopped", "no money", "the last one"])
def test_every_call_is_on_the_bill_however_a_run_ends(
    server: ModelServer, tmp_path: Path, end: str, concurrency: int
) -> None:
    """Also calls that were on their way then; and the next run has no need to repeat them."""
    server.replies = lambda request: sensible.reply(request, delay=0.05)
    cache = ResponseCache(tmp_path / "cache")
    episodes = generated(14)
    bank = bank_with(tmp_path / "bank", episodes)
    asking = client(
        server,
        price=PRICE,
        cache=cache,
        budget=Budget(0.01 if end == "no money" else None),
        answer_tokens=500,
    )
    stopped = (lambda: len(server.requests) > 9) if end == "stopped" else (lambda: False)
    extractor = ModelExtractor(asking)
    with (
        suppress(BudgetError),
        LearningRun(bank, extractor, concurrency=concurrency, stopped=stopped) as run,
    ):
        list(run.learn(waiting(bank)))
    assert (bank.episodes.waiting() == []) == (end == "the last one")
    assert run.asking.in_flight == 0
    took = taken(server.requests)
    for bill in (run.asking.usage, history(bank).usage):
        assert replace(bill, cost=took.cost) == took
        assert bill.cost == pytest.approx(took.cost)
    paid = {request.prompt for request in server.requests}
    assert len(paid) == len(server.requests)
    server.script()
    server.replies = sensible.reply
    run_over(bank, server, concurrency, cache=cache, answer_tokens=500)
    assert bank.episodes.waiting() == []
    assert not paid & {request.prompt for request in server.requests}
    assert verify(bank) == []


def test_another_writers_nodes_are_taken_into_account(server: ModelServer, tmp_path: Path) -> None:
    """Another run learns every second episode while this one waits for its answers."""
    episodes = generated(12)
    bank = bank_with(tmp_path / "bank", episodes)
    other = Bank.open(bank.path)
    others = iter(list(waiting(other))[1::2])
    asking = ModelExtractor(client(server))
    with LearningRun(bank, asking, concurrency=4) as mine, LearningRun(other, asking) as its:
        outcomes = []
        for outcome in mine.learn(waiting(bank)):
            outcomes.append(outcome)
            if (next_one := next(others, None)) is not None:
                list(its.learn([next_one]))
    bank.refresh()
    assert bank.episodes.waiting() == []
    assert bank.episodes.learnt() == 12
    assert any(not lesson.new for lesson in lessons_of(outcomes))
    assert verify(bank) == []


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_limit_on_cost_is_never_passed(
    server: ModelServer, tmp_path: Path, concurrency: int
) -> None:
    server.replies = lambda request: sensible.reply(request, delay=0.01)
    bank = bank_with(tmp_path / "bank", generated(40))
    most = 0.02
    extractor = ModelExtractor(client(server, price=PRICE, budget=Budget(most), answer_tokens=500))
    learnt: list[LearnResult | DeltaMemError] = []
    with LearningRun(bank, extractor, concurrency=concurrency) as run:
        with pytest.raises(BudgetError, match="what is finished is kept"):
            learnt += run.learn(waiting(bank))
        assert 0.5 * most < (run.asking.usage.cost or 0.0) <= most
    assert 0 < bank.episodes.learnt() < 40
    cost = sum(PRICE.of(request.words, 0) for request in server.requests)
    assert cost <= most
    assert verify(bank) == []
