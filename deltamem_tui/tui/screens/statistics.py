"""The bank in numbers: plots at the left, the numbers at the right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.methods import display_of, has_thresholds
from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.core.background import Inquiry
from deltamem_tui.tui.core.bank_session import OpenBank
from deltamem_tui.tui.core.work import Progress
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.models.statistics import (
    Overview,
    overview,
    overview_sections,
    proposal_sections,
)
from deltamem_tui.tui.screens.base import BankScreen, bottom_bars
from deltamem_tui.tui.widgets.bars import TopBar
from deltamem_tui.tui.widgets.plots import Plot, Plots
from deltamem_tui.tui.widgets.text_pane import TextPane

if TYPE_CHECKING:
    from deltamem_tui.memory.plan import Proposal


class StatisticsScreen(BankScreen):
    """Plots and numbers."""

    SCOPES = ("statistics", "list", "bank", "app")
    AUTO_FOCUS = "#numbers"
    BINDINGS: ClassVar = [*bindings("statistics")]
    DEFAULT_CSS = """
    StatisticsScreen #both { height: 1fr; }
    StatisticsScreen #plots { width: 1fr; }
    StatisticsScreen #numbers { width: 1fr; padding: 0 1; }
    StatisticsScreen #plots, StatisticsScreen #numbers { border-top: solid $primary; }
    StatisticsScreen #plots:focus, StatisticsScreen #numbers:focus { border-top: heavy $accent; }
    StatisticsScreen.-narrow #both { layout: vertical; }
    StatisticsScreen.-narrow #plots, StatisticsScreen.-narrow #numbers { height: 1fr; }
    """

    def __init__(self, home: OpenBank) -> None:
        super().__init__(home)
        self._counting = Inquiry(self, "counting")
        self._overview: Overview | None = None
        self._proposals: Sequence[Proposal] = ()
        self._grounds: object = None

    def compose(self) -> ComposeResult:
        names = tuple(self.home.bank.trees)
        yield TopBar("DeltaMem", "statistics")
        with Horizontal(id="both"):
            with Plots(id="plots"):
                yield Plot("best scores, thresholds", names, id="scores")
                yield Plot("nodes over episodes", names, id="growth")
            yield TextPane(id="numbers")
        yield from bottom_bars(self.SCOPES)

    def on_mount(self) -> None:
        for name in ("scores", "growth"):
            self._plot(name).display = False
        self.query_one("#plots").border_title = "plots"
        pane = self.query_one("#numbers", TextPane)
        pane.border_title = "numbers"
        pane.show([Section("", "counting …", quiet=True)])
        pane.focus()

    def bank_changed(self) -> None:
        """Count again; scores of trees and nodes that are gone are dropped."""
        bank = self.bank
        if self._proposals and self._grounds != grounds_of(bank):
            self._proposals = ()
            self._plot("scores").display = False
        self._counting.ask(lambda _: overview(bank), self._counted)

    def _counted(self, found: Overview) -> None:
        """Show the counts."""
        self._overview = found
        trees = found.statistics.trees
        points = found.growth
        self._plot("growth").display = len(points) > 1  # a bank without its journal has none
        self._plot("growth").lines(
            [point.episodes for point in points],
            {name: [point.nodes.get(name, 0) for point in points] for name in trees},
        )
        self._show_numbers()

    def _plot(self, name: str) -> Plot:
        return self.query_one(f"#{name}", Plot)

    def _show_numbers(self) -> None:
        proposed = any(each.proposed is not None for each in self._proposals)
        self.offer("apply_proposal", when=proposed)
        sections = proposal_sections(self._proposals)
        if not self._proposals and has_thresholds(self.bank):
            words = (
                f"Press {self.browser.key_of('calibrate')} to score every episode "
                "and have thresholds proposed: this loads the embedding "
                "model."
            )
            sections = [Section("Scores", words, quiet=True)]
        self.query_one("#plots").display = any(each.display for each in self.query(Plot))
        shown = overview_sections(self._overview) if self._overview else []
        asked = bool(self._proposals)  # what was asked for last stands first
        in_order = [*sections, *shown] if asked else [*shown, *sections]
        self.query_one("#numbers", TextPane).show(in_order)

    def readable(self) -> Sequence[Section]:
        """Return the numbers."""
        return self.query_one("#numbers", TextPane).sections

    def action_calibrate(self) -> None:
        bank = self.bank

        def work(progress: Progress) -> Callable[[], None]:
            from deltamem_tui.memory.engine import calibrate

            proposals = calibrate(bank, between=progress.go_on)
            return lambda: self._proposed(proposals, grounds_of(bank))

        self.browser.work.start("scoring every episode", work, can_stop=True)

    def _proposed(self, proposals: Sequence[Proposal], grounds: object) -> None:
        """Show the scores and the thresholds they suggest, if they are of the bank as it is."""
        notify, key = self.browser.notes.notify, self.browser.key_of
        if self.home.is_closed:
            notify(f"{self.home.path.name} was closed before its episodes were scored")
            return
        if grounds != grounds_of(self.home.bank):
            notify("the trees changed meanwhile: propose again")
            return
        self._proposals, self._grounds = proposals, grounds
        plot = self._plot("scores")
        plot.display = True
        plot.histogram(
            {each.tree: (each.bin_edges, each.bin_counts) for each in proposals},
            {each.tree: each.current for each in proposals},
        )
        self._show_numbers()
        if any(each.proposed is not None for each in proposals):
            notify(f"thresholds are proposed; {key('apply_proposal')} saves them")

    def action_apply_proposal(self) -> None:
        proposals = self._proposals
        if not proposals:
            key = self.browser.key_of("calibrate")
            self.browser.notes.notify(f"no thresholds were proposed yet: {key} proposes some")
            return
        if not any(each.proposed is not None for each in proposals):
            reasons = "; ".join(f"{each.tree} tree: {each.reason}" for each in proposals)
            self.browser.notes.notify(f"nothing to save, no threshold is proposed ({reasons})")
            return
        if not self.writable():
            return
        self.change("saving the thresholds", lambda bank: _apply(bank, proposals))


def grounds_of(bank: Bank) -> object:
    """Return what proposed thresholds rest on: they are worth nothing once this is another.

    It is what the trees hold, vectors included; counters and parameters may change.
    """
    return bank.manifest.embedder, *(tree.snapshot.extent for tree in bank.trees.values())


def _apply(bank: Bank, proposals: Sequence[Proposal]) -> str:
    from deltamem_tui.memory.engine import apply_proposals

    applied = apply_proposals(bank, proposals)
    named = (
        f"{display_of(bank, each.tree).title} threshold "
        f"{getattr(applied.of(each.tree), each.number):g}"
        for each in proposals
    )
    return f"saved: {', '.join(named)}"
