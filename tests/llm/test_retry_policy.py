from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.llm.retrying_client import RetryPolicy


def test_waits_double_up_to_the_longest() -> None:
    patience = RetryPolicy(retries=6, first=1.0, longest=10.0)
    assert [patience.wait(number, None, 1.0) for number in range(1, 8)] == [
        *(1.0, 2.0, 4.0, 8.0, 10.0, 10.0),
        None,
    ]


@given(st.integers(1, 5), st.none() | st.floats(0, 400), st.floats(0, 1, exclude_max=True))
def test_a_server_is_obeyed_up_to_a_limit(
    failures: int, asked: float | None, chance: float
) -> None:
    wait = RetryPolicy().wait(failures, asked, chance)
    if asked is not None and asked > RetryPolicy().obeys:
        assert wait is None
    else:
        assert wait is not None
        assert max(asked or 0.0, 0.5) <= wait <= max(asked or 0.0, 60.0)
