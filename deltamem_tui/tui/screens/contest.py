"""A contest of the lab: contestants, games, and beside them numbers or what was played."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import Any, ClassVar

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from deltamem_tui.lab.contest import KeptContest, read_contest
from deltamem_tui.lab.plan import TrialResult
from deltamem_tui.lab.report import interval, signed, tables, title_of, value_of, warnings_of
from deltamem_tui.lab.result import MEASURES, ContestantResult
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.core.actions import Scope, bindings
from deltamem_tui.tui.core.background import look_up
from deltamem_tui.tui.core.browser import Browser, browser_of
from deltamem_tui.tui.core.forms import FormAnswer, FormLine
from deltamem_tui.tui.core.work import Retry
from deltamem_tui.tui.models.episodes import episode_sections
from deltamem_tui.tui.models.sections import Section, cuttable, plain
from deltamem_tui.tui.screens.base import bottom_bars
from deltamem_tui.tui.widgets.bars import KeyBar, TopBar
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.plots import colours
from deltamem_tui.tui.widgets.text_pane import TextPane, columns, line_of

_NAME = 28
_LEAST_TITLE = 14


class ContestView:
    """A contest in words: contestants with their numbers, games with what each made of them."""

    def __init__(self, contest: KeptContest) -> None:
        self.contest = contest
        self.names = [each.name for each in contest.plan.contestants]
        self.letters = [
            (ascii_lowercase + "·" * len(self.names))[at] for at in range(len(self.names))
        ]
        tasks: dict[str, str] = {}
        for each in contest.folders:
            tasks = {**each.tasks(), **tasks}
        games = [each.name for each in contest.plan.games]
        self.games = [(name, tasks.get(name) or one_line(name[:2000], 300)) for name in games]
        self.results: dict[str, ContestantResult] = {}
        self._head: Sequence[str] = ()
        self._cells: dict[str, list[str]] = {}
        if result := contest.result:
            self.results = {each.contestant.name: each for each in result.contestants}
            table = next(tables(result))
            self._head = table.head[1:]
            for name, row in zip(self.results, table.rows, strict=True):
                self._cells[name] = [
                    "–" if each is None else f"{each:,}"
                    for each in row[1:]
                    if not isinstance(each, str)
                ]

    @property
    def title(self) -> str:
        """Return what is played, and how far it has come."""
        plan, result = self.contest.plan, self.contest.result
        told = title_of(result) if result else f"{plan.environment} {plan.split}, {plan.protocol}"
        if not self.contest.finished:
            told = f"UNFINISHED, {counted(len(self.contest.compared), 'game')} compared · {told}"
        return one_line(told, 200)

    def line(self, contestant: int | None, width: int) -> str:
        """Return a contestant's line, or the heading, with the columns that fit."""
        name = "contestant" if contestant is None else self.names[contestant]
        cells = self._head if contestant is None else self._cells.get(name, [])
        text = f"{one_line(cuttable(name), _NAME):<{_NAME}}"
        for title, cell in zip(self._head, cells, strict=False):
            wide = max(len(title), 7) + 2
            if len(text) + wide > width:
                break
            text += f"{cell:>{wide}}"
        return text

    def trial(self, contestant: int, game: int) -> TrialResult | None:
        """Return what a contestant made of a game; None if it has not played it."""
        return self.contest.folders[contestant].results.get(self.games[game][0])

    def numbers(self, contestant: int) -> list[Section]:
        """Return all that is known of a contestant."""
        who, result = self.contest.plan.contestants[contestant], self.contest.result
        played = len(self.contest.folders[contestant].results)
        what = who.bank or " ".join((who.method, *who.parameters))
        facts = f"{what}\n{played:,} of {counted(len(self.games), 'game')} played"
        sections = [Section(f"{self.letters[contestant]} · {who.name}", facts)]
        each = self.results.get(who.name)
        if each is None or result is None:
            return sections
        told = "\n".join(warnings_of(each, result)) if self.contest.finished else ""
        if told:
            sections.append(Section("Before you believe it", told, warning=True))
        lines = []
        for name, measure in each.measures.items():
            low, high = measure.estimate.low or 0, measure.estimate.high or 0
            value = f"{value_of(each, name):,}"
            lines.append(f"{name.replace('_', ' '):<14}{value} ({low:,.3g} {high:,.3g})")
            if each is not result.contestants[0]:
                lines.append(f"{'  less a':<14}{signed(measure.difference)}")
            lines.append(f"  {MEASURES.get(name, '')}")
        sections.append(Section("Measures with 95 % intervals", "\n".join(lines)))
        kinds = []
        for kind, some in each.by_kind.items():
            main = next(iter(some.measures.values()))
            kinds.append(f"{one_line(kind, 60)}, {some.games:,}: {interval(main.estimate)}")
        return [*sections, Section("By kind of task", "\n".join(kinds))]

    def played(self, contestant: int, game: int) -> list[Section]:
        """Return what the memory handed over for a game, and what was done in it."""
        trial, name = self.trial(contestant, game), self.names[contestant]
        if trial is None:
            return [Section("", f"{name} has not played this game yet.", quiet=True)]
        measures = (f"{key.replace('_', ' ')} {value:g}" for key, value in trial.measures.items())
        episode = self.contest.folders[contestant].episodes().get(trial.game)
        done = [Section("", "Nothing was done in this game.", quiet=True)]
        return [
            Section(f"{self.letters[contestant]} · {name}", "  ".join(measures)),
            Section("What the memory handed over", trial.memory or "Nothing."),
            *(episode_sections(episode) if episode else done),
        ]


def _number(cell: str | float) -> str:
    return cell if isinstance(cell, str) else f"{cell:,}"


class _Contestants(LineList):
    """One contestant a line."""

    def __init__(self, view: ContestView) -> None:
        super().__init__()
        self.view = view

    def line_count(self) -> int:
        """Count them."""
        return len(self.view.letters)

    def line_text(self, line: int, width: int) -> Text:
        """Draw a contestant in columns, behind its letter in its colour."""
        letter = self.view.letters[line]
        colour = Style.parse(colours(self.view.letters)[letter])
        return line_of((f"{letter} ", colour), (self.view.line(line, width - 2), None))


class _Games(LineList):
    """One game a line, with what every contestant made of it."""

    def __init__(self, view: ContestView, chosen: Callable[[], int]) -> None:
        super().__init__()
        self.view, self._chosen = view, chosen

    def line_count(self) -> int:
        """Count them."""
        return len(self.view.games)

    def line_text(self, line: int, width: int) -> Text:
        """Draw a game; the chosen contestant's column is always among those that fit."""
        width = min(width, self.size.width - 1)
        count, chosen = len(self.view.letters), self._chosen()
        most = max((width - _LEAST_TITLE) // 7, 1)
        first = min(max(chosen - most + 1, 0), max(count - most, 0))
        right = Text(end="", no_wrap=True)
        for at in range(first, min(first + most, count)):
            trial = self.view.trial(at, line)
            mark = "›" if at == chosen else " "
            value = "–" if trial is None else f"{next(iter(trial.measures.values())):.2f}"
            style = self.style_of("good" if trial and trial.success else "quiet")
            right.append_text(line_of((f"{mark}{self.view.letters[at]} {value:<4}", style)))
        return columns(line_of((self.view.games[line][1], None)), right, width)


class ContestScreen(Screen[None]):
    """The contestants above; the games below, beside numbers or what was played.

    Args:
        contest: The contest.
        contestant: The number of the contestant that is looked at first.
        game: That of the game.
    """

    SCOPES: ClassVar[tuple[Scope, ...]] = ("contest", "list", "app")
    BINDINGS: ClassVar = [*bindings("contest")]
    DEFAULT_CSS = """
    ContestScreen _Contestants { height: auto; max-height: 30%; }
    ContestScreen Static.heading { height: 2; border-top: solid $primary; text-style: dim; }
    ContestScreen Horizontal { height: 1fr; }
    ContestScreen _Games, ContestScreen TextPane { width: 1fr; border-top: solid $primary; }
    ContestScreen _Games:focus, ContestScreen TextPane:focus { border-top: heavy $accent; }
    ContestScreen TextPane { padding: 0 1; }
    ContestScreen.-narrow Horizontal { layout: vertical; }
    ContestScreen.-narrow _Games, ContestScreen.-narrow TextPane { height: 1fr; }
    """

    def __init__(self, contest: KeptContest, contestant: int = 0, game: int = 0) -> None:
        super().__init__()
        self.view = ContestView(contest)
        self._begins_at = contestant, game
        self.contestants = _Contestants(self.view)
        self.games = _Games(self.view, lambda: self.contestants.cursor)
        self._pane = TextPane()
        self._steps = False

    def compose(self) -> ComposeResult:
        """Contestants, games, numbers."""
        yield TopBar(f"contest {one_line(self.view.contest.folder.resolve().name, 60)}")
        yield Static(classes="heading", markup=False)
        yield self.contestants
        with Horizontal():
            yield self.games
            yield self._pane
        yield from bottom_bars(self.SCOPES)

    def on_mount(self) -> None:
        """Go to the games."""
        self.query_one(".heading", Static).border_title = Content(self.view.title)
        self.games.border_title = "games"
        self.query_one(KeyBar).offer("read_contest_again", when=not self.view.contest.finished)
        contestant, game = self._begins_at
        self.contestants.lines_changed(contestant)
        self.games.lines_changed(game)
        self.games.focus()

    def on_resize(self) -> None:
        """Write as many columns as fit."""
        self.query_one(".heading", Static).update(
            Text("  " + self.view.line(None, self.size.width - 2))
        )

    @property
    def browser(self) -> Browser:
        """The program."""
        return browser_of(self)

    def panes(self) -> Iterable[Widget]:
        """Return the panes that actions are about while none of them has the focus."""
        return [self.games, *self.focus_chain]

    def on_line_list_moved(self) -> None:
        """Show the contestant, or what it did in the game, under the cursors."""
        at, game = self.contestants.cursor, self.games.cursor
        self._pane.border_title = "game" if self._steps else "contestant"
        shown = self.view.played(at, game) if self._steps else self.view.numbers(at)
        self._pane.show(shown)
        self.games.refresh()

    def on_line_list_chosen(self) -> None:
        """Show the steps after a second click."""
        self._steps = False
        self.action_toggle_steps()

    def action_leave_contest(self) -> None:
        """Go back."""
        self.dismiss()

    def action_toggle_steps(self) -> None:
        """Show what was played in the game, or the contestant's numbers again."""
        self._steps = not self._steps
        self.on_line_list_moved()

    def action_choose_contestant(self, lines: int) -> None:
        """Go to the next contestant, or the one before."""
        self.contestants.cursor += lines

    def action_read_contest_again(self) -> None:
        """Read the contest again: it may have gone on."""
        folder = self.view.contest.folder
        look_up(self, "reading the contest", lambda _: read_contest(folder), self._renew)

    def _renew(self, contest: KeptContest) -> None:
        if self.is_current:
            again = ContestScreen(contest, self.contestants.cursor, self.games.cursor)
            self.app.switch_screen(again)

    def action_copy_contest(self) -> None:
        """Copy what the pane shows."""
        self.browser.texts.copy(plain(self._pane.sections))

    def action_read_contest(self) -> None:
        """Open what the pane shows in the pager."""
        self.browser.texts.read(plain(self._pane.sections))


def ask_for_contest(browser: Browser, screen: Screen[Any]) -> None:
    """Ask for a contest's folder, and open it."""
    line = FormLine("file", "Folder", hint="the folder that deltamem lab names", path=True)

    def begin(answer: FormAnswer, retry: Retry) -> None:
        open_contest(screen, Path(answer["file"]).expanduser())
        retry.forget()

    browser.forms.ask("Open a contest", (line,), begin)


def open_contest(screen: Screen[Any], folder: Path) -> None:
    """Read a contest beside the screen, and show it."""
    browser = browser_of(screen)
    position = browser.attention.position()

    def show(contest: KeptContest) -> None:
        if browser.attention.is_at(position):
            screen.app.push_screen(ContestScreen(contest))
        else:
            key = browser.key_of("open_contest")
            browser.notes.notify(f"{one_line(folder.name)} has been read; {key} opens it")

    look_up(screen, "reading the contest", lambda _: read_contest(folder), show)
