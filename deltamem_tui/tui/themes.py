"""The themes there are; the terminal's own colours and light ones are among them."""

from __future__ import annotations

from difflib import get_close_matches

from textual.theme import BUILTIN_THEMES

from deltamem_tui.errors import ConfigurationError
from deltamem_tui.text import clean
from deltamem_tui.tui.core import state

USUAL = "textual-dark"


def checked_theme(name: str | None) -> str:
    """The theme of the settings; else the one that was chosen last; else the usual one.

    Raises:
        ConfigurationError: There is no such theme; names the nearest.
    """
    if name is None:
        last = state.load_theme()
        return last if last in BUILTIN_THEMES else USUAL
    if name in BUILTIN_THEMES:
        return name
    near = get_close_matches(name, BUILTIN_THEMES, n=1, cutoff=0.0)[0]
    raise ConfigurationError(
        f"there is no theme {clean(name)!r}",
        hint=f"did you mean {near}? There are {', '.join(BUILTIN_THEMES)}",
    )
