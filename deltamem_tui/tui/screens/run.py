"""A run of an evaluation: contestants, games, curves, and one contestant's numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

from deltamem_tui.lab.runs.kept_run import read_run
from deltamem_tui.text import one_line
from deltamem_tui.tui.core.actions import Scope, bindings
from deltamem_tui.tui.core.background import look_up
from deltamem_tui.tui.core.browser import Browser, browser_of
from deltamem_tui.tui.models.run import RunRow, RunTable, contestant_sections, curves
from deltamem_tui.tui.models.sections import plain
from deltamem_tui.tui.screens.base import bottom_bars
from deltamem_tui.tui.screens.run_episode import RunEpisodeScreen
from deltamem_tui.tui.widgets.bars import TopBar
from deltamem_tui.tui.widgets.bottom_bar import KeyBar
from deltamem_tui.tui.widgets.contestants import ContestantHeading, ContestantList
from deltamem_tui.tui.widgets.game_list import GameColumns, GameHeading, GameList
from deltamem_tui.tui.widgets.plots import Plot, Plots
from deltamem_tui.tui.widgets.text_pane import TextPane


class RunScreen(Screen[None]):
    """The table above; the games below, beside the curves or one contestant's numbers.

    Args:
        table: The run.
        contestant: The number of the contestant that is looked at first.
        game: That of the game.
    """

    SCOPES: ClassVar[tuple[Scope, ...]] = ("run", "list", "app")
    BINDINGS: ClassVar = [*bindings("run")]
    DEFAULT_CSS = """
    RunScreen ContestantList { height: auto; max-height: 30%; }
    RunScreen #both { height: 1fr; }
    RunScreen #games { width: 1fr; border-top: solid $primary; }
    RunScreen #games:focus-within { border-top: heavy $accent; }
    RunScreen GameList { height: 1fr; }
    RunScreen Plots, RunScreen TextPane { width: 1fr; border-top: solid $primary; }
    RunScreen TextPane { padding: 0 1; display: none; }
    RunScreen Plots:focus, RunScreen TextPane:focus { border-top: heavy $accent; }
    RunScreen.-numbers Plots { display: none; }
    RunScreen.-numbers TextPane { display: block; }
    RunScreen.-wide Plots, RunScreen.-wide TextPane { display: block; }
    """

    def __init__(self, table: RunTable, contestant: int = 0, game: int = 0) -> None:
        super().__init__()
        self._table = table
        self._begins_at = contestant, game
        self._list = ContestantList(table)
        self._columns = GameColumns(table, lambda: self._list.cursor)
        self._games = GameList(self._columns)
        self._pane = TextPane()
        self._places, self._curves = curves(table)
        if not self._curves:
            self.add_class("-numbers")

    def compose(self) -> ComposeResult:
        """Table, games, curves, numbers."""
        folder = self._table.run.folder
        yield TopBar(f"evaluation {one_line(folder.resolve().name, 60)}")
        yield ContestantHeading(self._table)
        yield self._list
        with Horizontal(id="both"):
            with Vertical(id="games"):
                yield GameHeading(self._columns)
                yield self._games
            if self._curves:
                with Plots():
                    for number, (title, lines) in enumerate(self._curves.items()):
                        yield Plot(title, [*lines], id=f"curve-{number}")
            yield self._pane
        yield from bottom_bars(self.SCOPES)

    def on_mount(self) -> None:
        """Draws the curves, and goes to the games."""
        self.query_one(ContestantHeading).border_title = Content(self._table.title)
        self.query_one("#games").border_title = "games"
        self._pane.border_title = "contestant"
        for number, lines in enumerate(self._curves.values()):
            top = None if number else 1.0
            self.query_one(f"#curve-{number}", Plot).lines(self._places, lines, top)
        if self._curves:
            self.query_one(Plots).border_title = "curves"
        self._keys.offer("read_run_again", when=not self._table.run.finished)
        contestant, game = self._begins_at
        self._list.lines_changed(contestant)
        self._games.lines_changed(game)
        self._games.focus()

    @property
    def browser(self) -> Browser:
        """The program."""
        return browser_of(self)

    def panes(self) -> Iterable[Widget]:
        """The panes that actions are about while none of them has the focus, the first first."""
        return [self._games, *self.focus_chain]

    @property
    def _keys(self) -> KeyBar:
        return self.query_one(KeyBar)

    @property
    def _row(self) -> RunRow:
        return self._table.rows[self._list.cursor]

    def on_line_list_moved(self) -> None:
        """Shows the contestant under the cursor, and offers its steps if it has played the game."""
        cell = self._games.game.cells[self._list.cursor]
        self._keys.offer("show_run_episode", when=bool(cell.score))
        self._pane.show(contestant_sections(self._table, self._row))
        self.query_one(GameHeading).refresh()
        self._games.refresh()

    def on_line_list_chosen(self) -> None:
        """Shows the episode after a second click."""
        self.action_show_run_episode()

    def action_leave_run(self) -> None:
        """Goes back."""
        self.dismiss()

    def action_show_run_episode(self) -> None:
        """Shows the contestant's episode of the game."""
        contestant, game = self._list.cursor, self._games.game
        if game.cells[contestant].score:
            self.app.push_screen(RunEpisodeScreen(self._table, contestant, game))
        else:
            self.browser.notes.notify(f"{self._row.name} has not played this game yet")

    def action_choose_contestant(self, lines: int) -> None:
        """Goes to the next contestant, or the one before."""
        self._list.cursor += lines

    def action_toggle_curves(self) -> None:
        """Shows the numbers in place of the curves, or the curves again."""
        self.toggle_class("-numbers")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is nothing to be changed where both are shown, or where there are no curves."""
        if action == "toggle_curves" and (not self._curves or self.has_class("-wide")):
            return False
        return super().check_action(action, parameters)

    def action_read_run_again(self) -> None:
        """Reads the run again: it may have gone on."""
        folder = self._table.run.folder
        look_up(self, "reading the run", lambda _: RunTable.of(read_run(folder)), self._renew)

    def _renew(self, table: RunTable) -> None:
        if self.is_current:
            self.app.switch_screen(RunScreen(table, self._list.cursor, self._games.cursor))

    def action_copy_run(self) -> None:
        """Copies the contestant's numbers."""
        self.browser.texts.copy(plain(self._pane.sections))
