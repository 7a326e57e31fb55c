"""One try at a game of a run: its steps, beside what was recalled for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

from deltamem_tui.lab.runs.game_result import GameResult
from deltamem_tui.text import counted, one_line
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.tui.core.actions import Scope, bindings
from deltamem_tui.tui.core.background import look_up
from deltamem_tui.tui.core.browser import Browser, browser_of
from deltamem_tui.tui.models.episodes import episode_sections
from deltamem_tui.tui.models.evidence import steps_repeated
from deltamem_tui.tui.models.recalled import Recalled, recalled
from deltamem_tui.tui.models.run import GameLine, RunRow, RunTable
from deltamem_tui.tui.models.sections import Section, plain
from deltamem_tui.tui.screens.base import bottom_bars
from deltamem_tui.tui.widgets.bars import TopBar
from deltamem_tui.tui.widgets.bottom_bar import KeyBar
from deltamem_tui.tui.widgets.text_pane import TextPane

_Shown = tuple[Trajectory | None, Recalled]


class RunEpisodeScreen(Screen[None]):
    """The steps at the left, what was recalled at the right.

    Args:
        table: The run.
        contestant: The number of the contestant whose try is shown first; it has played the game.
        game: The game.

    Attributes:
        tries: The tries at the game that were finished, contestant by contestant.
    """

    SCOPES: ClassVar[tuple[Scope, ...]] = ("game", "list", "app")
    BINDINGS: ClassVar = [*bindings("game")]
    DEFAULT_CSS = """
    RunEpisodeScreen Horizontal { height: 1fr; }
    RunEpisodeScreen TextPane { width: 1fr; border-top: solid $primary; padding: 0 1; }
    RunEpisodeScreen TextPane:focus { border-top: heavy $accent; }
    RunEpisodeScreen.-narrow Horizontal { layout: vertical; }
    RunEpisodeScreen.-narrow TextPane { height: 1fr; }
    """

    def __init__(self, table: RunTable, contestant: int, game: GameLine) -> None:
        super().__init__()
        self._game = game
        self.tries: Sequence[tuple[RunRow, GameResult]] = [
            (row, each)
            for row in table.rows
            for each in row.course.tried(game.info.name, table.run.plan.tries)
        ]
        self._try = [row for row, _ in self.tries].index(table.rows[contestant])
        self._steps, self._pane = TextPane(id="steps"), TextPane(id="recalled")
        self._episode: Trajectory | None = None
        self._recalled = Recalled(())
        self._node = 0

    def compose(self) -> ComposeResult:
        """Steps and nodes."""
        yield TopBar(f"{one_line(self._game.title, 80)} · {one_line(self._game.info.name, 120)}")
        with Horizontal():
            yield self._steps
            yield self._pane
        yield from bottom_bars(self.SCOPES)

    def on_mount(self) -> None:
        """Reads the episode."""
        self._steps.focus()
        self._read()

    @property
    def browser(self) -> Browser:
        """The program."""
        return browser_of(self)

    def panes(self) -> Iterable[Widget]:
        """The panes that actions are about while none of them has the focus, the first first."""
        return self.focus_chain

    def _read(self) -> None:
        row, result = self.tries[self._try]
        self._steps.border_title = Content(_title(row, result))
        self._pane.border_title = "recalled"

        def read() -> _Shown:
            episode = row.course.episode((result.game, result.attempt))
            return episode, recalled(row.course, episode)

        look_up(self, "reading the episode", lambda _: read(), self._show)

    def _show(self, shown: _Shown) -> None:
        self._episode, self._recalled = shown
        self._node = 0
        keys = self.query_one(KeyBar)
        keys.offer("next_recalled", when=len(self._recalled.nodes) > 1)
        keys.offer("show_recalled", when=bool(self._recalled.nodes and self._recalled.bank))
        self._show_node()

    def _show_node(self) -> None:
        """Shows what was recalled, one node the current one, and marks the steps it speaks of."""
        nodes = self._recalled.nodes
        node = nodes[self._node] if nodes else None
        self._pane.show(self._recalled.sections, node.place if node else None)
        if node:
            key = self.browser.key_of("next_recalled")
            self._pane.border_title = Content(
                f"recalled · {self._node + 1} of {counted(len(nodes), 'node')} · {key} next"
            )
        self._steps.show(*self._sections(node.payload if node else {}))

    def _sections(self, payload: Mapping[str, str]) -> tuple[list[Section], int | None]:
        """The steps, and the first of those that a node speaks of."""
        if self._episode is None:
            told = "The agent did nothing in this game: there is a result, but no episode."
            return [Section("", told, quiet=True)], None
        marked = steps_repeated(payload, self._episode.steps) if payload else []
        key = self.browser.key_of("read_run_episode")
        sections = episode_sections(self._episode, read_key=key, marked=marked)
        return sections, next((at for at, each in enumerate(sections) if each.marked), None)

    def action_leave_run_episode(self) -> None:
        """Goes back."""
        self.dismiss()

    def action_go_on(self, tries: int) -> None:
        """Shows the next try at the game, or the one before; it goes round."""
        self._try = (self._try + tries) % len(self.tries)
        self._read()

    def action_next_recalled(self) -> None:
        """Goes to the next node that was recalled."""
        if nodes := self._recalled.nodes:
            self._node = (self._node + 1) % len(nodes)
            self._show_node()

    def action_show_recalled(self) -> None:
        """Shows the node in its bank."""
        found = self._recalled
        node = found.nodes[self._node] if found.nodes else None
        if node is None or found.bank is None:
            self.browser.notes.notify("there is no node to go to")
        elif node.node is None:
            self.browser.notes.notify(f"{node.node_id} is not in the bank any more")
        else:
            self.browser.session.open_node(found.bank, node.collection, node.node_id)

    def _readable(self) -> str:
        pane = self._pane if self._pane.has_focus else self._steps
        if pane is self._steps and self._episode is not None:
            return plain(episode_sections(self._episode))
        return plain(pane.sections)

    def action_copy_run_episode(self) -> None:
        """Copies what is shown in the pane in focus, all of it."""
        self.browser.texts.copy(self._readable())

    def action_read_run_episode(self) -> None:
        """Opens what is shown in the pane in focus in the pager."""
        self.browser.texts.read(self._readable())


def _title(row: RunRow, result: GameResult) -> str:
    ended = "solved" if result.success else "not solved"
    parts = [row.letter, row.name, f"score {result.score:g}", ended]
    if result.attempt > 1:
        parts.insert(2, f"try {result.attempt}")
    return " · ".join(parts)
