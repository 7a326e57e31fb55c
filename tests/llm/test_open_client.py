"""The client for a model that a person named."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.errors import BudgetError, CredentialsError, UsageError
from deltamem_tui.llm.client import checked_address, open_client

MODEL = "openai/gpt-4o-mini"


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_an_estimate_needs_no_key_and_reports_that_there_is_none() -> None:
    told: list[str] = []
    open_client(MODEL, notify=told.append, asks=False)
    assert len(told) == 1
    assert "OPENAI_API_KEY" in told[0]
    with pytest.raises(CredentialsError, match="OPENAI_API_KEY"):
        open_client(MODEL, notify=told.append)


def test_a_limit_needs_a_price(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    told: list[str] = []
    open_client(MODEL, notify=told.append, max_cost=1.0)
    address = "http://localhost:1/v1"
    with pytest.raises(BudgetError, match="price of openai/of-my-own is not known"):
        open_client("openai/of-my-own", notify=told.append, address=address, max_cost=1.0)


@pytest.mark.parametrize("address", ["localhost:8000", "file:///etc", ""])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="is not the address of a server"):
        checked_address(address)
