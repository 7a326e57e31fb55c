"""A provider for programs that a test starts: the environment in which its models answer.

litellm takes the address and the key of a provider from the environment, so a command line that
names a hosted model, as a person would type it, can be run against the loopback as it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.llm.server import ModelServer, serving
from tests.memory.writers.model import sensible

KEY = "sk-test-0123456789abcdef"


@contextmanager
def hosted(cache: Path) -> Iterator[tuple[ModelServer, dict[str, str]]]:
    """A running provider of `openai/…` models.

    Args:
        cache: A folder of the test's own, for the answers that are kept.

    Yields:
        The server, and the variables to be added to the environment of a program.
    """
    with serving() as server:
        server.replies = sensible.reply
        yield (
            server,
            {
                "OPENAI_API_BASE": server.base,
                "OPENAI_BASE_URL": server.base,
                "OPENAI_API_KEY": KEY,
                "XDG_CACHE_HOME": str(cache),
            },
        )
