"""The line at the top that says where one is, and the line that says what is going on."""

from __future__ import annotations

import time

from rich.text import Text
from textual import events
from textual.reactive import reactive
from textual.widget import Widget

from deltamem_tui.bank.bank import Bank
from deltamem_tui.tui.messages import WorkAdvanced
from deltamem_tui.tui.widgets.painting import columns, line_of

TABS = (
    ("trees", "1 Trees"),
    ("recall", "2 Recall"),
    ("episodes", "3 Episodes"),
    ("statistics", "4 Statistics"),
)
_NARROW = 70


class TopBar(Widget):
    """Which bank, what it is, and its screens; a click on one shows it."""

    DEFAULT_CSS = """
    TopBar { height: 1; background: $panel; color: $text; }
    TopBar:ansi { background: ansi_default; color: ansi_default; text-style: bold; }
    """

    def __init__(self, title: str, tab: str = "") -> None:
        super().__init__()
        self._title = title
        self._tab = tab
        self._bank: Bank | None = None

    def show(self, bank: Bank) -> None:
        """Say what this bank is."""
        self._bank = bank
        self.refresh()

    def render(self) -> Text:
        """The line."""
        left = line_of((f" {self._title}", None))
        if self._bank is not None:
            manifest = self._bank.manifest
            left = line_of((f" {self._bank.name}", None))
            if self._bank.frozen:
                left.append_text(line_of((" FROZEN", None)))
            model = manifest.embedder.get("model", "")
            left.append_text(line_of((f" · {manifest.domain} · {model}", None)))
        return columns(left, self._tabs(), self.size.width)

    def _tabs(self) -> Text:
        text = Text(end="", no_wrap=True)
        for name, label in self._labels():
            text.append(f" {label} ", "reverse bold" if name == self._tab else None)
        return text

    def _labels(self) -> tuple[tuple[str, str], ...]:
        if not self._tab:
            return ()
        if self.size.width >= _NARROW:
            return TABS
        return tuple((name, label if name == self._tab else label[:1]) for name, label in TABS)

    async def on_click(self, event: events.Click) -> None:
        """Show the screen whose name was clicked."""
        left = self.size.width
        for name, label in reversed(self._labels()):
            left -= len(label) + 2
            if event.x >= left:
                await self.screen.run_action(f"show('{name}')")
                return


class WorkBar(Widget):
    """What is going on, how far it is, and how to stop it; not there when nothing is."""

    DEFAULT_CSS = """
    WorkBar { height: 1; display: none; background: $boost; color: $text; }
    WorkBar.-busy { display: block; }
    WorkBar:ansi { background: ansi_default; color: ansi_default; }
    """

    state: reactive[WorkAdvanced | None] = reactive(None)

    def __init__(self) -> None:
        super().__init__()
        self._began = 0.0

    def watch_state(self, before: WorkAdvanced | None, after: WorkAdvanced | None) -> None:
        """Come and go with the work."""
        if after is not None and (before is None or before.name != after.name):
            self._began = time.monotonic()
        self.set_class(after is not None, "-busy")

    def render(self) -> Text:
        """The line."""
        state = self.state
        if state is None:
            return Text()
        left = f" {state.name}"
        if state.total:
            left += f" {state.done:,} of {state.total:,}"
            cells = 20 if self.size.width >= _NARROW else 5
            filled = round(cells * min(state.done / state.total, 1))
            left += f" {'━' * filled}{'╌' * (cells - filled)}{self._left(state.done, state.total)}"
        elif state.done:
            left += f" {state.done:,}"
        if state.note:
            left += f" · {state.note}"
        return columns(line_of((left, None)), line_of(("x cancels ", None)), self.size.width)

    def _left(self, done: int, total: int) -> str:
        passed = time.monotonic() - self._began
        if not done or passed < 1:
            return ""
        seconds = round(passed / done * (total - done))
        return f" {seconds // 60}:{seconds % 60:02} left"
