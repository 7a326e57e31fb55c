"""What calls in flight, calls that are lost, and calls that are cancelled may cost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from deltamem_tui.errors import BudgetError, ModelUnavailableError
from deltamem_tui.llm.client import Client, RetryPolicy
from deltamem_tui.llm.cost import Budget, Price, QuestionCancelledError, Usage
from tests.llm.server import ModelServer, Reply
from tests.llm.support import CONTRACT, GOOD, KEY, client, complete

DOLLAR_A_TOKEN = Price(0.0, 1.0)
TOKENS = 5
"""The tokens of `GOOD` as the server counts them."""
SOON = 20.0


def eventually(true: Callable[[], bool]) -> None:
    """Wait until something that other threads do has happened."""
    tick = threading.Event()
    for _ in range(int(SOON / 0.01)):
        if true():
            return
        tick.wait(0.01)
    raise AssertionError("it never happened")


@pytest.mark.parametrize("threads", [1, 8])
def test_calls_in_flight_do_not_end_what_the_limit_allows(
    server: ModelServer, threads: int
) -> None:
    """Each may cost 30 and costs 5: side by side as many are made as one after another."""
    server.script(Reply(GOOD, delay=0.02))
    budget = Budget(100.0)
    asking = client(server, price=DOLLAR_A_TOKEN, answer_tokens=30, budget=budget)

    def ask(number: int) -> bool:
        try:
            complete(asking, f"Question {number}?")
        except BudgetError:
            return False
        return True

    with ThreadPoolExecutor(threads) as pool:
        made = list(pool.map(ask, range(30)))
    assert sum(made) == len(server.requests) == 15
    assert budget.spent == asking.usage.cost == 75.0


def test_no_room_is_held_while_a_call_waits_to_be_tried_again(server: ModelServer) -> None:
    server.script(Reply(status=500), Reply(GOOD))
    budget = Budget(40.0)
    pauses: list[float] = []

    def pause(_seconds: float) -> None:
        with budget.reserve(35.0) as payment:
            payment.cost = 1.0
        pauses.append(budget.spent)

    asking = client(server, price=DOLLAR_A_TOKEN, answer_tokens=30, budget=budget, sleep=pause)
    complete(asking)
    assert pauses == [1.0]
    assert budget.spent == 1.0 + TOKENS


def test_a_call_that_was_lost_may_have_been_paid(server: ModelServer) -> None:
    server.script(Reply(GOOD, manner="drop"))
    budget = Budget(100.0)
    asking = client(server, timeout=0.2, price=DOLLAR_A_TOKEN, answer_tokens=30, budget=budget)
    with pytest.raises(BudgetError, match=r"\$90.0000 of \$100.0000"):
        complete(asking)
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_a_call_that_was_refused_was_not_paid(server: ModelServer, status: int) -> None:
    server.script(Reply(status=status))
    budget = Budget(100.0)
    asking = client(server, price=DOLLAR_A_TOKEN, answer_tokens=30, budget=budget)
    with pytest.raises(ModelUnavailableError):
        complete(asking)
    assert budget.spent == 0.0


def test_a_call_that_reached_no_server_was_not_paid() -> None:
    from deltamem_tui.llm.call import Server

    budget = Budget(100.0)
    asking = Client(
        "openai/loopback-model",
        server=Server("http://127.0.0.1:9/v1", KEY),
        price=DOLLAR_A_TOKEN,
        budget=budget,
        answer_tokens=30,
        policy=RetryPolicy(retries=1, first=0.001),
    )
    with pytest.raises(ModelUnavailableError):
        complete(asking)
    assert budget.spent == 0.0


def test_the_end_of_questions_ends_the_pause_before_a_try(server: ModelServer) -> None:
    server.script(Reply(status=500))
    asking = Client(
        "openai/loopback-model",
        server=client(server)._server,
        policy=RetryPolicy(first=600.0, longest=600.0),
    )
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(complete, asking)
        eventually(lambda: len(server.requests) == 1)
        asking.cancel()
        with pytest.raises(QuestionCancelledError):
            waiting.result(SOON)
    assert len(server.requests) == 1
    server.answer(GOOD)
    assert complete(asking).attempts == 1


def test_the_end_of_questions_ends_the_repeats_and_what_was_paid_is_known(
    server: ModelServer,
) -> None:
    sent = threading.Event()
    server.script(Reply("useless", after=sent), Reply(GOOD))
    asking, told = client(server), list[Usage]()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(asking.ask, "Which colour?", CONTRACT.read, CONTRACT, told.append)
        eventually(lambda: len(server.requests) == 1)
        asking.cancel()
        sent.set()
        with pytest.raises(QuestionCancelledError):
            waiting.result(SOON)
    assert len(server.requests) == 1
    assert [usage.calls for usage in told] == [1]
    assert asking.usage.calls == 1


def test_the_end_of_questions_ends_the_wait_for_room() -> None:
    budget, stopped = Budget(10.0), threading.Event()

    def second() -> None:
        with budget.reserve(6.0, stopped):
            raise AssertionError("there was no room")

    with ThreadPoolExecutor(1) as pool, budget.reserve(6.0):
        waiting = pool.submit(second)
        stopped.set()
        budget.wake()
        with pytest.raises(QuestionCancelledError):
            waiting.result(SOON)


@pytest.mark.parametrize("counts", [(-100_000, -5), (0, 0), (10**9, 10**12), (10**9, -1)])
def test_an_absurd_count_of_tokens_is_replaced_by_ours(
    server: ModelServer, counts: tuple[int, int]
) -> None:
    server.script(Reply(GOOD, counts=counts))
    budget = Budget(10_000.0)
    asking = client(server, price=Price(1.0, 1.0), answer_tokens=30, budget=budget)
    usage = complete(asking, "one two three four").usage
    assert 4 <= usage.prompt_tokens <= 20
    assert 5 < usage.completion_tokens <= 30
    assert budget.spent == usage.cost == usage.prompt_tokens + usage.completion_tokens


def test_our_count_of_a_prompt_is_taken_with_a_quarter_more(server: ModelServer) -> None:
    """The model's own count may be higher: a call that fits only by our count is not made."""
    server.answer(GOOD)
    prompt = "word " * 1000
    price = Price(1.0, 0.0)
    ours = client(server, price=price).estimate(prompt, 0).prompt_tokens
    with pytest.raises(BudgetError):
        complete(client(server, price=price, budget=Budget(ours * 1.2)), prompt)
    complete(client(server, price=price, budget=Budget(ours * 1.3)), prompt)
    assert len(server.requests) == 1
