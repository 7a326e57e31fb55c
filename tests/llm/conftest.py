"""Each module has a model's server of its own."""

import pytest

from tests.llm.fixtures import running, server

__all__ = ["running", "server"]


@pytest.fixture(autouse=True)
def full_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits are not spread."""
    monkeypatch.setattr("random.random", lambda: 0.0)
