"""The episodes: what the bank was given, what became of each, and new ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.views.episode_filters import EPISODE_ORDERS, EPISODES
from deltamem_tui.text import counted
from deltamem_tui.tui.actions import bindings
from deltamem_tui.tui.background import Stopped
from deltamem_tui.tui.messages import EpisodesRead
from deltamem_tui.tui.models.arrangement import ALL_EPISODES, EpisodeArrangement
from deltamem_tui.tui.models.episodes import EpisodeBook, episode_sections
from deltamem_tui.tui.models.nodes import detail
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.screens.filter_sort import ArrangingScreen
from deltamem_tui.tui.screens.import_forms import TakingInScreen
from deltamem_tui.tui.screens.outcome_actions import EpisodeInSight, JudgingScreen
from deltamem_tui.tui.widgets.bars import TopBar, WorkBar
from deltamem_tui.tui.widgets.episode_list import EpisodeList
from deltamem_tui.tui.widgets.key_bar import KeyBar
from deltamem_tui.tui.widgets.text_pane import TextPane


class EpisodesScreen(ArrangingScreen, TakingInScreen, JudgingScreen):
    """The list above; below it the steps beside the node they became."""

    LANGUAGE = EPISODES
    ORDERS = EPISODE_ORDERS
    ARRANGING = "reading the episodes"
    SCOPES = ("episodes", "list", "bank", "app")
    BINDINGS: ClassVar = [*bindings("episodes")]
    DEFAULT_CSS = """
    EpisodesScreen EpisodeList { height: 1fr; border-top: solid $primary; }
    EpisodesScreen EpisodeList:focus { border-top: heavy $accent; }
    EpisodesScreen Horizontal { height: 1fr; }
    EpisodesScreen TextPane { width: 1fr; border-top: solid $primary; padding: 0 1; }
    EpisodesScreen TextPane:focus { border-top: heavy $accent; }
    EpisodesScreen.-narrow Horizontal { layout: vertical; }
    EpisodesScreen.-narrow TextPane { height: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.arrangement: EpisodeArrangement = ALL_EPISODES
        self._whole: EpisodeBook | None = None
        self._shown_as: EpisodeArrangement | None = None
        self._node_number = 0
        self._node_of: str | None = None

    def compose(self) -> ComposeResult:
        """List, steps, node."""
        yield TopBar("DeltaMem", "episodes")
        with Vertical():
            yield EpisodeList()
            yield self._line
            with Horizontal():
                yield TextPane(id="steps")
                yield TextPane(id="node")
        yield WorkBar()
        yield KeyBar(self.SCOPES)

    def on_mount(self) -> None:
        """Read the episodes."""
        self.query_one("#steps", TextPane).border_title = "steps"
        self.query_one("#node", TextPane).border_title = "node"
        self.query_one(EpisodeList).focus()

    def bank_changed(self) -> None:
        """Read the episodes again."""
        self.rearrange(keys_wait=self.shown.book is None, at_once=False)

    @property
    def shown(self) -> EpisodeList:
        """The list."""
        return self.query_one(EpisodeList)

    @property
    def shown_as(self) -> EpisodeArrangement | None:
        """How the list is arranged, as one sees it."""
        return self._shown_as

    def rearrange(self, *, keys_wait: bool, at_once: bool) -> None:
        """Let a worker read the episodes, unless it did, and filter and sort them."""
        bank, arrangement, known = self.bank, self.arrangement, self._whole

        def work(stopped: Stopped) -> EpisodesRead:
            whole = known if known is not None and known.bank is bank else EpisodeBook.read(bank)
            return EpisodesRead(arrangement, whole, whole.arranged(arrangement, stopped))

        self._arranged.ask(work, keys_wait=keys_wait, at_once=at_once)

    def on_episodes_read(self, message: EpisodesRead) -> None:
        """List them."""
        if not self.home.is_read or message.arrangement is not self.arrangement:
            return
        in_place = self._shown_as is message.arrangement
        self._whole, self._shown_as = message.whole, message.arrangement
        self.shown.show(message.book, self.sought_in(message.book.ids), in_place=in_place)
        self.filter_typed()
        self.is_arranged()

    def filter_typed(self) -> None:
        """Count what fits only of the filter that the list is filtered by."""
        if self._whole is None or self._shown_as is None:
            return
        waiting = len(self._whole.bank.episodes.waiting())
        title = f"{counted(len(self._whole), 'episode')} · {waiting:,} waiting"
        if self._shown_as.text and self._line.text == self._shown_as.text:
            title += f" · {self.shown.line_count():,} fit the filter"
        if self._shown_as.order != "import":
            title += f" · by {self._shown_as.order}"
        self.shown.border_title = Content(title)

    def _nothing(self) -> str:
        """Why there is no episode to be seen."""
        if self._whole:
            return "No episode fits the filter."
        words = "This bank has no episodes."
        if self.bank.frozen:
            return words
        return f"{words} Press {self.browser.key_of('import_logs')} to import some from logs."

    def on_line_list_moved(self) -> None:
        """Show the episode and its first node; of the same one the node that was shown."""
        episodes = self.query_one(EpisodeList)
        shown = (
            episodes.book.ids[episodes.cursor] if episodes.line_count() and episodes.book else None
        )
        if shown != self._node_of:
            self._node_of, self._node_number = shown, 0
        self._show_episode()

    def _show_episode(self) -> None:
        episodes = self.query_one(EpisodeList)
        if episodes.book is None:
            return
        if not len(episodes.book):
            self.query_one("#steps", TextPane).show([Section("", self._nothing())])
            self.query_one("#node", TextPane).border_title = "node"
            self.query_one("#node", TextPane).show([])
            return
        try:
            trajectory = episodes.book.trajectory(episodes.cursor)
            why = episodes.book.refusal(episodes.cursor)
            key = self.browser.key_of("read_whole")
            shown = episode_sections(trajectory, why, read_key=key)
            self.query_one("#steps", TextPane).show(shown)
        except DeltaMemError as error:
            words = [Section("This episode cannot be read", str(error), warning=True)]
            self.query_one("#steps", TextPane).show(words)
        self._show_node(episodes.book, episodes.cursor)

    def _show_node(self, book: EpisodeBook, episode: int) -> None:
        """Show a node that the episode gave, as the bank was when its episodes were read."""
        pane = self.query_one("#node", TextPane)
        places = book.nodes(episode)
        if not places:
            pane.border_title = "node"
            pane.show([Section("", "No living node was learnt from this episode.", quiet=True)])
            return
        number = self._node_number % len(places)
        tree_name, node_id = places[number]
        key = self.browser.key_of("next_node")
        pane.border_title = Content(f"node {number + 1} of {len(places)} · {key} shows the next")
        try:
            tree = book.bank.tree(tree_name)
            pane.show(detail(tree, tree.node(node_id)))
        except DeltaMemError as error:
            pane.show([Section("This node cannot be read", str(error), warning=True)])

    def readable(self) -> Sequence[Section]:
        """The node if its pane has the focus, else the episode with every step."""
        node, episodes = self.query_one("#node", TextPane), self.query_one(EpisodeList)
        if node.has_focus:
            return node.sections
        if episodes.book is None or not len(episodes.book):
            return ()
        try:
            trajectory = episodes.book.trajectory(episodes.cursor)
            return episode_sections(trajectory, episodes.book.refusal(episodes.cursor))
        except DeltaMemError as error:
            self.browser.tell_error(error)
            return ()

    def action_next_node(self) -> None:
        """Show the next node that the episode gave."""
        self._node_number += 1
        self._show_episode()

    def action_episode_node(self) -> None:
        """Show the node in its tree."""
        episodes = self.query_one(EpisodeList)
        places = (
            episodes.book.nodes(episodes.cursor) if episodes.book and len(episodes.book) else ()
        )
        if places:
            self.browser.show_node(*places[self._node_number % len(places)])

    def on_line_list_chosen(self) -> None:
        """A second click shows the node in its tree."""
        self.action_episode_node()

    # Judging

    def episode_in_sight(self) -> EpisodeInSight | None:
        """The episode under the cursor."""
        book, number = self.shown.book, self.shown.cursor
        if book is None or not len(book):
            return None
        return EpisodeInSight(
            book.ids[number], len(book.nodes(number)), lambda: book.trajectory(number).outcome
        )
