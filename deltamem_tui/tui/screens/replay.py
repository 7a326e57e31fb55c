"""A finished replay: the contestants in a table, their curves, and one of them in full."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.core.actions import Scope, bindings
from deltamem_tui.tui.core.background import look_up
from deltamem_tui.tui.core.browser import Browser, browser_of
from deltamem_tui.tui.core.forms import FormAnswer, FormLine
from deltamem_tui.tui.core.job import Retry
from deltamem_tui.tui.models.replay import ReplayRow, ReplayTable, contestant_sections, curves
from deltamem_tui.tui.models.sections import plain
from deltamem_tui.tui.screens.base import bottom_bars
from deltamem_tui.tui.widgets.bars import TopBar
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.painting import line_of
from deltamem_tui.tui.widgets.plots import Plot, Plots, colours
from deltamem_tui.tui.widgets.text_pane import TextPane


class ContestantList(LineList):
    """One contestant a line, in the colour of its curves.

    Args:
        table: The contestants.
    """

    def __init__(self, table: ReplayTable) -> None:
        super().__init__()
        self.table = table

    def line_count(self) -> int:
        """How many contestants there are."""
        return len(self.table.rows)

    def line_text(self, line: int, width: int) -> Text:
        """A contestant in columns."""
        row = self.table.rows[line]
        colour = colours(each.letter for each in self.table.beside(row))[row.letter]
        mark, rest = self.table.lines(width)[1][line]
        return line_of((mark, Style.parse(colour)), (rest, None))

    @property
    def row(self) -> ReplayRow | None:
        """The contestant under the cursor."""
        return self.table.rows[self.cursor] if self.table.rows else None


class ReplayHeading(Static):
    """What the columns are called.

    Args:
        table: What is headed.
    """

    DEFAULT_CSS = "ReplayHeading { height: 2; border-top: solid $primary; text-style: dim; }"

    def __init__(self, table: ReplayTable) -> None:
        super().__init__()
        self._table = table

    def render(self) -> Text:
        """The line."""
        return Text(self._table.lines(self.size.width)[0], no_wrap=True, overflow="ellipsis")


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
        yield ReplayHeading(self._table)
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
        self.query_one(ReplayHeading).border_title = Content(
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

    def _curves(self) -> dict[str, dict[str, Sequence[float | None]]]:
        row = self._list.row
        found = {} if row is None else curves(self._table.beside(row))
        return {title: dict(lines) for title, lines in found.items()}

    def on_line_list_moved(self) -> None:
        """Shows the contestant under the cursor, and the curves of its order."""
        if (row := self._list.row) is None:
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


def ask_for_replay(browser: Browser, screen: Screen[Any]) -> None:
    """Asks for the file of a finished replay, and opens it."""
    lines = (FormLine("file", "File", hint="what deltamem replay LOG --json printed"),)

    def begin(answer: FormAnswer, retry: Retry) -> None:
        open_replay(screen, Path(answer["file"]).expanduser())
        retry.forget()

    browser.forms.ask("Open a finished replay", lines, begin)


def open_replay(screen: Screen[Any], path: Path) -> None:
    """Reads the file of a finished replay beside the screen, and shows it."""
    from deltamem_tui.memory.reports.replay import read_result

    look_up(
        screen,
        "reading the replay",
        lambda _: ReplayTable.of(read_result(path)),
        lambda table: screen.app.push_screen(ReplayScreen(path, table)),
    )
