"""Each module has a model's server of its own."""

import pytest

from tests.llm.fixtures import running, server
from tests.llm.support import KEY

__all__ = ["running", "server"]


@pytest.fixture(autouse=True)
def full_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits are not spread, and there is a key that must not show."""
    monkeypatch.setattr("random.random", lambda: 0.0)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
