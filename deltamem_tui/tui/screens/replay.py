"""A finished replay: the contestants in a table, their curves, and one of them in full."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.core.actions import Scope, bindings
from deltamem_tui.tui.core.browser import Browser, browser_of
from deltamem_tui.tui.models.replay import ReplayRow, ReplayTable, contestant_sections, curves
from deltamem_tui.tui.models.sections import plain
from deltamem_tui.tui.screens.base import bottom_bars
from deltamem_tui.tui.widgets.bars import TopBar
from deltamem_tui.tui.widgets.contestants import ContestantHeading, ContestantList
from deltamem_tui.tui.widgets.plots import Plot, Plots
from deltamem_tui.tui.widgets.text_pane import TextPane


class ReplayScreen(Screen[None]):
    """The table above; plots and one contestant's numbers below.

    Args:
        path: The file that the replay was read from.
        table: What it holds.
    """

    SCOPES: ClassVar[tuple[Scope, ...]] = ("replay", "list", "app")
    BINDINGS: ClassVar = [*bindings("replay")]
    DEFAULT_CSS = """
    ReplayScreen ContestantList { height: auto; max-height: 30%; }
    ReplayScreen #both { height: 1fr; }
    ReplayScreen Plots, ReplayScreen TextPane { width: 1fr; border-top: solid $primary; }
    ReplayScreen TextPane { padding: 0 1; }
    ReplayScreen Plots:focus, ReplayScreen TextPane:focus { border-top: heavy $accent; }
    ReplayScreen.-narrow #both { layout: vertical; }
    ReplayScreen.-narrow Plots, ReplayScreen.-narrow TextPane { height: 1fr; }
    """

    def __init__(self, path: Path, table: ReplayTable) -> None:
        super().__init__()
        self._path = path
        self._table = table
        self._list = ContestantList(table)
        self._pane = TextPane()
        self._drawn = ""

    def compose(self) -> ComposeResult:
        """Table, plots, numbers."""
        yield TopBar(f"replay {one_line(self._path.name, 60)}")
        yield ContestantHeading(self._table)
        yield self._list
        with Horizontal(id="both"):
            with Plots():
                for number, (title, lines) in enumerate(self._curves().items()):
                    yield Plot(title, [*lines], id=f"curve-{number}")
            yield self._pane
        yield from bottom_bars(self.SCOPES)

    def on_mount(self) -> None:
        """Goes to the table."""
        replay = self._table.replay
        self.query_one(ContestantHeading).border_title = Content(
            f"{counted(replay.episodes, 'episode')}, {counted(replay.kinds, 'kind')} of task · "
            f"{replay.domain} · {replay.embedder} · {replay.writer}"
        )
        self.query_one(Plots).border_title = "curves"
        self._pane.border_title = "contestant"
        self._list.lines_changed(0)
        self._list.focus()

    @property
    def browser(self) -> Browser:
        """The program."""
        return browser_of(self)

    def panes(self) -> Iterable[Widget]:
        """The panes that actions are about while none of them has the focus, the first first."""
        return self.focus_chain

    @property
    def _row(self) -> ReplayRow | None:
        """The contestant under the cursor."""
        return self._table.rows[self._list.cursor] if self._table.rows else None

    def _curves(self) -> dict[str, dict[str, Sequence[float | None]]]:
        row = self._row
        found = {} if row is None else curves(self._table.beside(row))
        return {title: dict(lines) for title, lines in found.items()}

    def on_line_list_moved(self) -> None:
        """Shows the contestant under the cursor, and the curves of its order."""
        if (row := self._row) is None:
            return
        first = self._table.beside(row)[0]
        self._pane.show([*contestant_sections(row, first), self._table.limits])
        if row.result.order != self._drawn:
            self._drawn = row.result.order
            self.query_one(Plots).border_title = Content(f"curves, {row.result.order} order")
            for number, lines in enumerate(self._curves().values()):
                plot, top = self.query_one(f"#curve-{number}", Plot), 1.0 if number else None
                plot.lines(row.result.curves.episodes, lines, top)

    def action_leave_replay(self) -> None:
        """Goes back."""
        self.dismiss()

    def action_copy_replay(self) -> None:
        """Copies the contestant's numbers."""
        self.browser.texts.copy(plain(self._pane.sections))
