"""All keys of the screen one comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen

from deltamem_tui.tui.actions import SCOPE_TITLES, Scope, key_names, of_scopes
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.widgets.text_pane import TextPane

_SIGNS = """● a root        ○ a residual     ✗ a failure: a warning, never to be carried out
▸ collapsed     ▾ expanded       ≡ its chain was fused into a new root
d3 depth        7× hits: successful episodes whose match it was
…   at the beginning of a line: it begins like the line above"""


def help_sections(scopes: Iterable[Scope], keys: Mapping[str, str]) -> list[Section]:
    """The keys of some scopes, as they are with the person's own."""
    sections = []
    for scope in scopes:
        named = [(key_names(action, keys), action.title) for action in of_scopes([scope])]
        room = max((len(names) for names, _ in named), default=0)
        lines = [f"{names:<{room}}  {title}" for names, title in named]
        if lines:
            sections.append(Section(SCOPE_TITLES[scope], "\n".join(lines)))
    return [*sections, Section("Signs", _SIGNS)]


class HelpScreen(ModalScreen[None]):
    """The keys, in a pane over the screen."""

    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    HelpScreen TextPane {
        width: 84; max-width: 96%; height: 90%;
        border: round $primary; padding: 0 1; background: $surface;
    }
    HelpScreen:ansi TextPane { background: ansi_default; border: round ansi_blue; }
    """
    BINDINGS: ClassVar = [Binding("escape,q,question_mark,f1", "dismiss(None)", "Close")]

    def __init__(self, scopes: Iterable[Scope], keys: Mapping[str, str]) -> None:
        super().__init__()
        self._sections = help_sections(scopes, keys)

    def compose(self) -> ComposeResult:
        """One pane."""
        yield TextPane()

    def on_mount(self) -> None:
        """Show the keys."""
        pane = self.query_one(TextPane)
        pane.border_title = "Keys"
        pane.border_subtitle = "escape closes"
        pane.show(self._sections)
        pane.focus()
