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
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.tui.core.actions import Scope, bindings
from deltamem_tui.tui.core.background import look_up
from deltamem_tui.tui.core.browser import Browser, browser_of
from deltamem_tui.tui.core.forms import FormAnswer, FormLine
from deltamem_tui.tui.core.work import Retry
from deltamem_tui.tui.models.episodes import episode_sections
from deltamem_tui.tui.models.sections import Section, plain
from deltamem_tui.tui.screens.base import bottom_bars
from deltamem_tui.tui.widgets.bars import KeyBar, TopBar
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.plots import colours
from deltamem_tui.tui.widgets.text_pane import TextPane, columns, line_of

_NAME = 28
_LEAST_TITLE = 14


class ContestView:
    """A contest in rows: contestants with their numbers, games with what each made of them."""

    def __init__(self, contest: KeptContest) -> None:
        self.contest = contest
        plan, self.result = contest.plan, contest.result
        self.letters = [
            ascii_lowercase[at] if at < 26 else str(at) for at in range(len(plan.contestants))
        ]
        self.results: dict[str, ContestantResult] = {}
        if self.result:
            self.results = {each.contestant.name: each for each in self.result.contestants}
        tasks: dict[str, str] = {}
        for each in contest.folders:
            tasks = {**each.tasks(), **tasks}
        self.games = [
            (each.name, tasks.get(each.name) or one_line(each.name[:2000], 300))
            for each in plan.games
        ]
        self.head, self._cells = self._table()

    @property
    def title(self) -> str:
        """What is played, and how far it has come."""
        plan = self.contest.plan
        games = counted(len(plan.games), "game")
        told = f"{plan.environment} {plan.split} · {plan.protocol} · {games}"
        if self.result:
            told = title_of(self.result)
        compared = counted(len(self.contest.compared), "game")
        return one_line(
            told if self.contest.finished else f"UNFINISHED, {compared} compared · {told}", 200
        )

    def _table(self) -> tuple[Sequence[str], dict[str, Sequence[str]]]:
        if self.result is None:
            return (), {}
        table = next(tables(self.result))
        return table.head[1:], {
            each.contestant.name: [
                "" if cell is None else f"{cell:,}" for cell in row[1:] if not isinstance(cell, str)
            ]
            for each, row in zip(self.result.contestants, table.rows, strict=True)
        }

    def line(self, contestant: int, width: int) -> str:
        """A contestant's line; columns that do not fit are left out."""
        name = one_line(self.contest.plan.contestants[contestant].name, _NAME)
        return self._line(
            name, self._cells.get(self.contest.plan.contestants[contestant].name, ()), width
        )

    def heading(self, width: int) -> str:
        """What the columns are called."""
        return "  " + self._line("contestant", self.head, width - 2)

    def _line(self, name: str, cells: Sequence[str], width: int) -> str:
        text = f"{name:<{_NAME}}"
        for title, cell in zip(self.head, cells, strict=False):
            if len(text) + len(title) + 9 > width:
                break
            text += f"{cell:>{max(len(title), 7) + 2}}"
        return text

    def trial(self, contestant: int, game: int) -> TrialResult | None:
        """What a contestant made of a game; None if it has not played it."""
        return self.contest.folders[contestant].results.get(self.games[game][0])

    def numbers(self, contestant: int) -> list[Section]:
        """All that is known of a contestant."""
        who = self.contest.plan.contestants[contestant]
        folder = self.contest.folders[contestant]
        facts = [who.bank or f"{who.method} {' '.join(who.parameters)}"]
        facts.append(f"{len(folder.results):,} of {counted(len(self.games), 'game')} played")
        head = Section(f"{self.letters[contestant]} · {who.name}", one_line("\n".join(facts), 400))
        each = self.results.get(who.name)
        if each is None or self.result is None:
            return [head]
        sections = [head]
        if told := "\n".join(warnings_of(each, self.result)):
            sections.append(Section("Before you believe it", told, warning=True))
        lines = []
        for name, measure in each.measures.items():
            value = value_of(each, name)
            found = measure.estimate
            lines.append(
                f"{name.replace('_', ' '):<14}{value:,}  {_between(found.low, found.high)}"
            )
            if each is not self.result.contestants[0]:
                lines.append(f"{'  less a':<14}{signed(measure.difference)}")
            lines.append(f"  {MEASURES.get(name, '')}")
        sections.append(Section("Measures with 95 % intervals", "\n".join(lines)))
        kinds = []
        for kind, of_kind in each.by_kind.items():
            main = next(iter(of_kind.measures.values()))
            kinds.append(f"{one_line(kind, 60)}, {of_kind.games:,}: {interval(main.estimate)}")
        sections.append(Section("By kind of task", "\n".join(kinds)))
        return [each for each in sections if each.body]

    def played(self, contestant: int, game: int) -> list[Section]:
        """What the memory handed over for a game, and what was done in it."""
        trial = self.trial(contestant, game)
        who, name = self.contest.plan.contestants[contestant], self.games[game][0]
        if trial is None:
            return [Section("", f"{who.name} has not played this game yet.", quiet=True)]
        measures = "  ".join(
            f"{key.replace('_', ' ')} {value:g}" for key, value in trial.measures.items()
        )
        memory = trial.memory or "Nothing."
        sections = [
            Section(f"{self.letters[contestant]} · {who.name}", measures),
            Section("What the memory handed over", memory, quiet=not trial.memory),
        ]
        episode: Trajectory | None = self.contest.folders[contestant].episodes().get(name)
        if episode is None:
            return [*sections, Section("", "Nothing was done in this game.", quiet=True)]
        return sections + episode_sections(episode)


def _between(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"({low:,.3g} {high:,.3g})"


class _Contestants(LineList):
    """One contestant a line."""

    def __init__(self, view: ContestView) -> None:
        super().__init__()
        self.view = view

    def line_count(self) -> int:
        """How many there are."""
        return len(self.view.letters)

    def line_text(self, line: int, width: int) -> Text:
        """A contestant in columns, behind its letter in its colour."""
        letter = self.view.letters[line]
        colour = Style.parse(colours(self.view.letters)[letter])
        return line_of((f"{letter} ", colour), (self.view.line(line, width - 2), None))


class _Games(LineList):
    """One game a line, with what every contestant made of it."""

    def __init__(self, view: ContestView, chosen: Callable[[], int]) -> None:
        super().__init__()
        self.view, self._chosen = view, chosen

    def line_count(self) -> int:
        """How many there are."""
        return len(self.view.games)

    def line_text(self, line: int, width: int) -> Text:
        """A game; the chosen contestant's column is always among those that fit."""
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
        self.query_one(".heading", Static).update(Text(self.view.heading(self.size.width)))

    @property
    def browser(self) -> Browser:
        """The program."""
        return browser_of(self)

    def panes(self) -> Iterable[Widget]:
        """The panes that actions are about while none of them has the focus, the first first."""
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
