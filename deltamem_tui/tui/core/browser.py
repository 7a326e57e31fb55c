"""The browser as screens and widgets see it; the app fulfils it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from textual.app import App
from textual.dom import DOMNode
from textual.screen import Screen

from deltamem_tui.config import Configuration
from deltamem_tui.tui.core.actions import Scope, key_of
from deltamem_tui.tui.core.bank_session import BankSession
from deltamem_tui.tui.core.forms import Forms
from deltamem_tui.tui.core.notes import Notes
from deltamem_tui.tui.core.texts import Texts
from deltamem_tui.tui.core.work import Attention, Work


class Browser(App[None]):
    """The program, as a screen may use it."""

    folder: Path
    configuration: Configuration
    attention: Attention
    notes: Notes
    work: Work
    session: BankSession
    forms: Forms
    texts: Texts

    def key_of(self, action: str) -> str:
        """Return the first key of an action, for people."""
        return key_of(action, self.configuration.keys)


def scopes_of(screen: Screen[Any]) -> Sequence[Scope]:
    """Return the scopes of a screen of the program, its own first; none of a dialog."""
    return getattr(screen, "SCOPES", ())


def browser_of(node: DOMNode) -> Browser:
    """Return the program that a screen or widget belongs to."""
    return cast("Browser", node.app)
