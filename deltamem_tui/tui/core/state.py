"""The browser's memory between two runs, in the user's state folder."""

from __future__ import annotations

import contextlib
import hashlib
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from msgspec import MsgspecError, Struct, json
from textual.theme import BUILTIN_THEMES

from deltamem_tui.errors import ConfigurationError
from deltamem_tui.paths import APPLICATION
from deltamem_tui.text import clean

_SIZE_LIMIT = 1_000_000
_THEME = "theme"
_USUAL_THEME = "textual-dark"


class BankState(Struct, frozen=True):
    """How a person left a bank: per tree the id of the node under the cursor, and the screen."""

    nodes: dict[str, str] = {}
    screen: Literal["memory", "recall", "episodes", "report"] = "memory"


def state_file(bank: Path) -> Path:
    """Return where the state of the bank in a folder is kept."""
    digest = hashlib.sha256(str(bank.resolve()).encode()).hexdigest()[:16]
    return _folder() / f"{digest}.json"


def _folder() -> Path:
    import platformdirs

    return platformdirs.user_state_path(APPLICATION, appauthor=False)


def load(bank: Path) -> BankState:
    """Return how a bank was left; a state that cannot be read is like none."""
    try:
        text = state_file(bank).read_bytes()
        return json.decode(text, type=BankState) if len(text) <= _SIZE_LIMIT else BankState()
    except (OSError, MsgspecError):
        return BankState()


def save(bank: Path, state: BankState) -> None:
    """Remember how a bank was left, if the folder can be written."""
    write_quietly(state_file(bank), json.encode(state))


def load_theme() -> str | None:
    """Return the theme that was chosen last; None if there is none to be read."""
    try:
        return (_folder() / _THEME).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return None


def save_theme(theme: str) -> None:
    """Remember a theme, if the folder can be written."""
    write_quietly(_folder() / _THEME, theme.encode())


def write_quietly(file: Path, text: bytes) -> None:
    """Write a file of the state folder whole, if that can be written."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".new")
        draft.write_bytes(text)
        draft.replace(file)


def checked_theme(name: str | None) -> str:
    """Return the theme of the settings; else the one that was chosen last; else the usual one."""
    if name is None:
        last = load_theme()
        return last if last in BUILTIN_THEMES else _USUAL_THEME
    if name in BUILTIN_THEMES:
        return name
    near = get_close_matches(name, BUILTIN_THEMES, n=1, cutoff=0.0)[0]
    raise ConfigurationError(
        f"there is no theme {clean(name)!r}",
        hint=f"did you mean {near}? There are {', '.join(BUILTIN_THEMES)}",
    )
