"""The error for a model that cannot be used, which names the embedders that always can."""

from __future__ import annotations

from deltamem_tui.errors import EmbedderUnavailableError
from deltamem_tui.text import one_line


def unavailable(name: str, message: str) -> EmbedderUnavailableError:
    """An error that says what is wrong with the model `name`, and what to use instead."""
    return EmbedderUnavailableError(
        message,
        source=one_line(name, 120),
        hint="choose `minilm`, whose weights are a package, or `hashing`, which needs no model",
    )
