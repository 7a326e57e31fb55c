"""What the browser remembers between two runs, in the user's state folder."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

import orjson
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
    """Return how a bank was left. A state that cannot be read is like none: it is only a
    convenience.
    """
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


Place = tuple[str, str]
"""A tree and the id of a node: what a text is of."""


class Drafts:
    """The texts of one bank that could not be saved, or not yet."""

    def __init__(self, bank: Path) -> None:
        self._file = drafts_file(bank)
        self._mine: dict[str, str] = {}  # for when the folder cannot be written

    def of(self, place: Place) -> str | None:
        """Return the text that was written for a node, if there is one."""
        return self._all().get("/".join(place))

    def keep(self, place: Place, text: str) -> None:
        """Keep a text until it is saved, or its author discards it."""
        self._mine["/".join(place)] = text
        self._write(self._all())

    def drop(self, place: Place) -> None:
        """Let a text go."""
        self._mine.pop("/".join(place), None)
        left = self._all()
        if left.pop("/".join(place), None) is not None:
            self._write(left)

    def _all(self) -> dict[str, str]:
        """Return the texts, those of another browser too; a file that cannot be read has none."""
        try:
            record = orjson.loads(self._file.read_bytes())
        except (OSError, ValueError):
            record = {}
        texts = record.items() if isinstance(record, dict) else ()
        return {name: text for name, text in texts if isinstance(text, str)} | self._mine

    def _write(self, texts: Mapping[str, str]) -> None:
        if texts:
            write_quietly(self._file, orjson.dumps(texts))
            return
        with contextlib.suppress(OSError):
            self._file.unlink(missing_ok=True)


def drafts_file(bank: Path) -> Path:
    """Return where the texts of the bank in a folder are kept."""
    return state_file(bank).with_suffix(".drafts.json")


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
