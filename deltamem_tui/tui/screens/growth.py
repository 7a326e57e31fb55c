"""Learning replayed: the trees as they were after each commit, and what the commit brought."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.timer import Timer

from deltamem_tui.bank.past import Past
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.core.background import Inquiry, Stopped
from deltamem_tui.tui.core.open_bank import OpenBank
from deltamem_tui.tui.models.growth import Growth, beginning, growth_at, sizes
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.screens.base import BankScreen, bottom_bars
from deltamem_tui.tui.widgets.bars import TopBar
from deltamem_tui.tui.widgets.growth import GrowthSlider
from deltamem_tui.tui.widgets.outline_view import OutlineView
from deltamem_tui.tui.widgets.text_pane import TextPane

_SECONDS_A_COMMIT = 0.5


class GrowthScreen(BankScreen):
    """A slider above, the trees of then below it, and what the commit says.

    Attributes:
        playing: Whether it goes on to the next commit by itself.
    """

    SCOPES = ("growth", "list", "bank", "app")
    BINDINGS: ClassVar = [*bindings("growth")]
    DEFAULT_CSS = """
    GrowthScreen #then { height: 1fr; }
    GrowthScreen #grown { height: 2fr; }
    GrowthScreen TextPane { height: 1fr; border-top: solid $primary; padding: 0 1; }
    GrowthScreen TextPane:focus { border-top: heavy $accent; }
    GrowthScreen.-narrow #grown { layout: vertical; }
    GrowthScreen.-wide #then { layout: horizontal; }
    GrowthScreen.-wide #grown { width: 2fr; height: 1fr; }
    GrowthScreen.-wide TextPane { width: 1fr; }
    GrowthScreen OutlineView { width: 1fr; height: 1fr; border-top: solid $primary; }
    GrowthScreen OutlineView:focus { border-top: heavy $accent; }
    GrowthScreen OutlineView.-unused { display: none; }
    """

    def __init__(self, home: OpenBank) -> None:
        super().__init__(home)
        self._reading = Inquiry(self, "reading the journal")
        self._looking = Inquiry(self, "looking back")
        self._past: Past | None = None
        self._timer: Timer | None = None
        self._slider = GrowthSlider()
        self._pane = TextPane()
        self._outlines = {name: OutlineView(name, past=True) for name in home.bank.trees}

    def compose(self) -> ComposeResult:
        """Slider, outlines, commit."""
        yield TopBar("DeltaMem", "growth")
        yield self._slider
        with Vertical(id="then"):
            with Horizontal(id="grown"):
                yield from self._outlines.values()
            yield self._pane
        yield from bottom_bars(self.SCOPES)

    def on_mount(self) -> None:
        """Goes to the slider."""
        self._slider.border_title = "reading the journal …"
        self._pane.border_title = "commit"
        self.offer("earlier", "later", "play", when=False)
        self._slider.focus()

    def on_lookup_failed(self) -> None:
        """Says that nothing is read any more; what is wrong is reported by the program."""
        if self._past is None:
            self._slider.border_title = "the journal cannot be read"

    @property
    def playing(self) -> bool:
        """Whether it goes on to the next commit by itself."""
        return self._timer is not None

    def bank_changed(self) -> None:
        """Reads the journal again."""
        bank = self.bank

        def read(_: Stopped) -> tuple[Past, list[int]]:
            past = Past.read(bank)
            return past, sizes(past)

        self._reading.ask(read, lambda found: self._show_past(*found))

    def _show_past(self, past: Past, nodes: Sequence[int]) -> None:
        """Shows the last commit, or the one that was looked at, if it is still there."""
        before, at = self._past, self._slider.number
        self._past, last = past, len(past.moments) - 1
        number = last
        if before is not None and at < len(before.moments) - 1:
            sequence = before.moments[at].sequence
            places = {each.sequence: place for place, each in enumerate(past.moments)}
            number = places.get(sequence, last)
        self.query_one("#grown").display = bool(past.moments)
        self.offer("earlier", "later", "play", when=len(past.moments) > 1)
        if not past.moments:
            self._slider.border_title = "no commits"
            self._pane.show([Section("Nothing can be shown", beginning(past))])
        self._slider.show(nodes, number)

    def on_growth_slider_went(self) -> None:
        """Looks at the commit that the slider is on."""
        past, number = self._past, self._slider.number
        if past is None or not past.moments:
            return
        moment = past.moments[number]
        words = f"commit {number + 1:,} of {len(past.moments):,} · {one_line(moment.event, 40)}"
        self._slider.border_title = Content(words)
        self._looking.ask(lambda _: growth_at(past, number), self._show, at_once=True)

    def _show(self, growth: Growth) -> None:
        """Shows the trees of then, unless the slider has gone on."""
        if growth.number != self._slider.number:
            return
        for name, view in self._outlines.items():
            grown = growth.trees.get(name)
            view.set_class(grown is None, "-unused")
            if grown is not None:
                view.show_past(grown.outline, grown.display, grown.marks, grown.first)
                nodes = counted(len(grown.outline.family.tree), "node")
                view.border_title = Content(f"{grown.display.title} · {nodes}")
        self._pane.show(growth.sections)

    def readable(self) -> Sequence[Section]:
        """What the commit says."""
        return self._pane.sections

    def action_go(self, commits: int) -> None:
        """Goes on by some commits."""
        self._stop()
        self._slider.number += commits

    def action_play(self) -> None:
        """Goes on by itself, from the first commit if this is the last; or stops."""
        if self.playing or self._past is None or not self._past.moments:
            self._stop()
            return
        if self._slider.number == len(self._past.moments) - 1:
            self._slider.number = 0
        self._timer = self.set_interval(_SECONDS_A_COMMIT, self._go_on)

    def _go_on(self) -> None:
        """Goes to the next commit once this one is shown; stops at the last."""
        if self._looking.under_way or self._past is None:
            return
        self._slider.number += 1
        if self._slider.number >= len(self._past.moments) - 1:
            self._stop()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def on_screen_suspend(self) -> None:
        """Stops while another screen is looked at."""
        self._stop()
