"""Each module has a model's server of its own."""

from tests.llm.fixtures import running, server

__all__ = ["running", "server"]
