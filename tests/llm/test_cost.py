from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.errors import BudgetError
from deltamem_tui.llm.cost import Budget, Usage

counts = st.integers(0, 10**6)
usages = st.builds(Usage, counts, counts, counts, counts, st.none() | st.integers(0, 99))


@given(st.lists(usages))
def test_usages_add_up_and_unknown_stays_unknown(parts: list[Usage]) -> None:
    total = sum(parts, Usage())
    assert total.calls == sum(part.calls for part in parts)
    assert total.completion_tokens == sum(part.completion_tokens for part in parts)
    costs = [part.cost for part in parts]
    known = [cost for cost in costs if cost is not None]
    assert total.cost == (sum(known) if len(known) == len(costs) else None)


def test_a_promise_holds_room_until_it_is_paid() -> None:
    budget = Budget(10.0)
    order: list[str] = []

    def second() -> None:
        with budget.reserve(8.0):
            order.append("second")

    with ThreadPoolExecutor(1) as pool:
        with budget.reserve(6.0) as payment:
            waiting = pool.submit(second)
            assert wait([waiting], timeout=0.05).not_done
            order.append("first")
            payment.cost = 2.0
        waiting.result(20.0)
    assert order == ["first", "second"]


def test_what_could_pass_the_limit_by_itself_is_refused_at_once() -> None:
    budget = Budget(10.0)
    with budget.reserve(6.0) as payment:
        with pytest.raises(BudgetError, match="could cost"), budget.reserve(11.0):
            pass
        payment.cost = 6.0
    with pytest.raises(BudgetError, match="could cost"), budget.reserve(4.5):
        pass


def test_a_call_that_fails_gives_its_room_back() -> None:
    budget = Budget(10.0)
    for _ in range(5):
        with pytest.raises(KeyError), budget.reserve(9.0):
            raise KeyError
