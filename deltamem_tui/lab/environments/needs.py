"""What an environment needs that the program does not bring, told where it is missing."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from deltamem_tui.errors import UsageError
from deltamem_tui.text import one_line


def require(modules: Sequence[str], hint: str) -> None:
    """See that modules can be imported; none is.

    Raises:
        UsageError: One cannot, with a hint at what installs it.
    """
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise UsageError(f"{' and '.join(missing)} cannot be imported", hint=hint)


def no_such_split(split: str, known: Sequence[str]) -> UsageError:
    """The error of a split that an environment does not have."""
    return UsageError(
        f"there is no split {one_line(split, 40)!r}", hint=f"one of {', '.join(known)}"
    )


def no_such_game(name: str, environment: str) -> UsageError:
    """The error of a game that an environment does not have."""
    return UsageError(f"{environment} has no game {one_line(name, 120)!r}")
