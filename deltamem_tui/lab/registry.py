"""Environments by name: the program's own, and any that a file of the user's defines."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from difflib import get_close_matches
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import cast

from deltamem_tui.errors import UsageError
from deltamem_tui.lab.environment import Environment
from deltamem_tui.text import one_line

ENVIRONMENTS = {
    "alfworld": "deltamem_tui.lab.environments.alfworld:AlfworldEnvironment",
    "scienceworld": "deltamem_tui.lab.environments.scienceworld:ScienceWorldEnvironment",
    "webshop": "deltamem_tui.lab.environments.webshop:WebShopEnvironment",
}
_WITH_GAMES = ("alfworld", "webshop")
_PARTS = ("name", "domain", "limit", "splits", "games", "load", "game_of")


def environment_named(spec: str, *, games: Path | None = None) -> Environment:
    """An environment by its name, or by `FILE.py:NAME`. No simulator is loaded.

    Args:
        spec: A name of `ENVIRONMENTS`; or a file of Python and what it calls an environment, a
            class or function that makes one without arguments, or one that is made.
        games: Where the games lie, for an environment that does not bring them.

    Raises:
        UsageError: There is no such environment, the file cannot be used, or the environment has
            its games itself.
    """
    if games is not None and spec not in _WITH_GAMES:
        raise UsageError(
            "only ALFWorld and WebShop are told where their games lie",
            hint="leave out --games-from",
        )
    file, colon, name = spec.rpartition(":")
    if colon and file.endswith(".py"):
        return _from_file(Path(file).expanduser(), name)
    if spec not in ENVIRONMENTS:
        near = get_close_matches(spec, ENVIRONMENTS, n=1)
        meant = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(ENVIRONMENTS)}."
        raise UsageError(
            f"there is no environment {one_line(spec, 60)!r}",
            hint=f"{meant} One of your own is FILE.py:NAME.",
        )
    module, _, attribute = ENVIRONMENTS[spec].partition(":")
    made = cast("Callable[..., Environment]", getattr(import_module(module), attribute))
    return made(games) if spec in _WITH_GAMES else made()


def _from_file(file: Path, name: str) -> Environment:
    if not file.is_file():
        raise UsageError("there is no such file", source=one_line(str(file), 200))
    try:
        with redirect_stdout(sys.stderr):
            found = getattr(_imported(file), name)
            made = found if hasattr(found, "games") and not isinstance(found, type) else found()
    except Exception as error:  # whatever the user's own code can raise
        told = one_line(f"{type(error).__name__}: {error}", 200)
        raise UsageError(
            f"no environment can be made of {one_line(name, 60)!r}: {told}",
            source=one_line(str(file), 200),
        ) from error
    lacking = [part for part in _PARTS if not hasattr(made, part)]
    if lacking:
        raise UsageError(
            f"{one_line(name, 60)!r} is not an environment: it lacks {', '.join(lacking)}",
            source=one_line(str(file), 200),
            hint="docs/evaluate.md says what one is made of",
        )
    return cast("Environment", made)


def _imported(file: Path) -> ModuleType:
    spec = spec_from_file_location(f"environment_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ImportError("this is not a file of Python")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module
