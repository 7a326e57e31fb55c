"""Refusals of what was filled in: an error that knows the line it is about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from deltamem_tui.errors import DeltaMemError, UsageError


class AnswerRefusedError(UsageError):
    """What was filled in cannot be used, and the line is known that it was filled in on.

    Attributes:
        field: The name of the line.
    """

    field: str = ""


@contextmanager
def about(field: str, *kinds: type[DeltaMemError]) -> Iterator[None]:
    """Let an error of the block say that it is about a line that was filled in.

    Args:
        field: The line's name.
        kinds: Which errors are about it; all if none is named.

    Raises:
        AnswerRefusedError: The block's error, unless an inner block knew its line already.
    """
    try:
        yield
    except AnswerRefusedError:
        raise
    except DeltaMemError as error:
        if kinds and not isinstance(error, kinds):
            raise
        refused = AnswerRefusedError(
            error.message, source=error.source, position=error.position, hint=error.hint
        )
        refused.field = field
        raise refused from error
