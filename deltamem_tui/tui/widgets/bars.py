"""The line at the top that says where one is, and the line that says what is going on."""

from __future__ import annotations

import time

from rich.text import Text
from textual import events
from textual.widget import Widget
from textual.widgets import Input

from deltamem_tui.bank.bank import Bank
from deltamem_tui.tui.core.browser import browser_of
from deltamem_tui.tui.core.job import WorkState
from deltamem_tui.tui.widgets.painting import columns, line_of

TABS = (
    ("trees", "1 Trees"),
    ("recall", "2 Recall"),
    ("episodes", "3 Episodes"),
    ("statistics", "4 Statistics"),
    ("review", "5 Review"),
    ("map", "6 Map"),
    ("growth", "7 Growth"),
)
_NARROW = 70
_WIDE = 110


class TopBar(Widget):
    """Which bank, what it is, and its screens; a click on one shows it."""

    DEFAULT_CSS = """
    TopBar { dock: top; height: 1; background: $panel; color: $text; }
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
            left.append_text(line_of((f" · {manifest.method} · {manifest.domain} · {model}", None)))
        return columns(left, self._tabs(), self.size.width)

    def _tabs(self) -> Text:
        text = Text(end="", no_wrap=True)
        for name, label in self._labels():
            text.append(label, "reverse bold" if name == self._tab else None)
        return text

    def _labels(self) -> tuple[tuple[str, str], ...]:
        """The screens, each as its tab says it: all that there is room for beside the bank."""
        if not self._tab:
            return ()
        width, found = self.size.width, []
        for name, label in TABS:
            here = name == self._tab
            said = label if here or width >= _NARROW else label[:1]
            if width < _WIDE:
                said = said.replace("Statistics", "Stats")
            found.append(
                (name, f" {said} " if here or not _NARROW <= width < _WIDE else f" {said}")
            )
        return tuple(found)

    async def on_click(self, event: events.Click) -> None:
        """Show the screen whose name was clicked."""
        left = self.size.width
        for name, label in reversed(self._labels()):
            left -= len(label)
            if event.x >= left:
                await self.screen.run_action(f"show('{name}')")
                return


class WorkBar(Widget):
    """What is going on, how far it is, and how to stop it; or a plan that waits.

    It is not there when nothing goes on and nothing waits.
    """

    DEFAULT_CSS = """
    WorkBar { height: 1; display: none; background: $boost; color: $text; }
    WorkBar.-busy { display: block; }
    WorkBar:ansi { background: ansi_default; color: ansi_default; }
    """

    def on_mount(self) -> None:
        """Follows the work, and the focus: in a line the key that cancels is a letter."""
        work = browser_of(self).work
        work.changed.subscribe(self, self._come_or_go)
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.refresh())
        self._come_or_go(work.state)

    def _come_or_go(self, state: WorkState | None) -> None:
        self.set_class(state is not None or browser_of(self).work.plan is not None, "-busy")
        self.refresh()

    def render(self) -> Text:
        """The line."""
        work = browser_of(self).work
        if (state := work.state) is not None:
            text, todo = self._how_far(state), self._how_it_ends(state)
        elif work.plan is not None:
            text, todo = f"the {work.plan.kind} is ready", f"{self._key('plan')} opens it"
        else:
            return Text()
        return columns(line_of((f" {text}", None)), line_of((f"{todo} ", None)), self.size.width)

    def _how_it_ends(self, state: WorkState) -> str:
        if not state.can_stop:
            return "cannot be cancelled"
        if state.stopping:
            return "stopping …"
        return f"{self._key('cancel')} cancels"

    def _key(self, action: str) -> str:
        """What to press; a line one types in has to be left first."""
        key = browser_of(self).key_of(action)
        typing = isinstance(self.screen.focused, Input) and len(key) == 1
        return f"escape, then {key}" if typing else key

    def _how_far(self, state: WorkState) -> str:
        text = state.name
        if state.total:
            text += f" {state.done:,} of {state.total:,}"
            cells = 20 if self.size.width >= _NARROW else 5
            filled = round(cells * min(state.done / state.total, 1))
            text += f" {'━' * filled}{'╌' * (cells - filled)}{_left(state, state.total)}"
        elif state.done:
            text += f" {state.done:,}"
        return f"{text} · {state.note}" if state.note else text


def _left(state: WorkState, total: int) -> str:
    """How long it will still take, whichever screen one comes to meanwhile."""
    passed = time.monotonic() - state.began
    if not state.done or passed < 1:
        return ""
    seconds = round(passed / state.done * (total - state.done))
    return f" {seconds // 60}:{seconds % 60:02} left"
