"""The line at the top that says where one is, and the line that says what is going on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from rich.text import Text
from textual import events
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input

from deltamem_tui.bank.bank import Bank
from deltamem_tui.tui.messages import Planned, WorkAdvanced
from deltamem_tui.tui.widgets.painting import columns, line_of

if TYPE_CHECKING:
    from deltamem_tui.tui.app import DeltaMemApp

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
    """What is going on, how far it is, and how to stop it; or a plan that waits.

    It is not there when nothing goes on and nothing waits.
    """

    DEFAULT_CSS = """
    WorkBar { height: 1; display: none; background: $boost; color: $text; }
    WorkBar.-busy { display: block; }
    WorkBar:ansi { background: ansi_default; color: ansi_default; }
    """

    state: reactive[WorkAdvanced | None] = reactive(None)
    plan: reactive[Planned | None] = reactive(None)

    def watch_state(self) -> None:
        """Come and go with the work."""
        self._come_or_go()

    def watch_plan(self) -> None:
        """Come and go with the plan."""
        self._come_or_go()

    def _come_or_go(self) -> None:
        self.set_class(self.state is not None or self.plan is not None, "-busy")

    def on_mount(self) -> None:
        """Follow the focus: in a line the key that cancels is a letter."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.refresh())

    def render(self) -> Text:
        """The line."""
        if (state := self.state) is not None:
            said, todo = self._how_far(state), self._how_it_ends(state)
        elif self.plan is not None:
            said, todo = f"the {self.plan.called} is ready", f"{self._key('plan')} opens it"
        else:
            return Text()
        return columns(line_of((f" {said}", None)), line_of((f"{todo} ", None)), self.size.width)

    def _how_it_ends(self, state: WorkAdvanced) -> str:
        if not state.can_stop:
            return "cannot be cancelled"
        if state.stopping:
            return "stopping …"
        return f"{self._key('cancel')} cancels"

    def _key(self, action: str) -> str:
        """What to press; a line one types in has to be left first."""
        key = cast("DeltaMemApp", self.app).key_of(action)
        typing = isinstance(self.screen.focused, Input) and len(key) == 1
        return f"escape, then {key}" if typing else key

    def _how_far(self, state: WorkAdvanced) -> str:
        said = state.name
        if state.total:
            said += f" {state.done:,} of {state.total:,}"
            cells = 20 if self.size.width >= _NARROW else 5
            filled = round(cells * min(state.done / state.total, 1))
            said += f" {'━' * filled}{'╌' * (cells - filled)}{_left(state, state.total)}"
        elif state.done:
            said += f" {state.done:,}"
        return f"{said} · {state.note}" if state.note else said


def _left(state: WorkAdvanced, total: int) -> str:
    """How long it will still take, whichever screen one comes to meanwhile."""
    passed = time.monotonic() - state.began
    if not state.done or passed < 1:
        return ""
    seconds = round(passed / state.done * (total - state.done))
    return f" {seconds // 60}:{seconds % 60:02} left"
