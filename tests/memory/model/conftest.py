from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.llm.server import ModelServer, serving


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    """The module's server with nothing on its script."""
    running.script()
    return running
