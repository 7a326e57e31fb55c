"""The server as a fixture, for every folder whose tests talk to one: its conftest names them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.llm.server import ModelServer, serving


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    """One server for all tests of a module."""
    with serving() as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    """The module's server with nothing on its script."""
    running.script()
    return running
