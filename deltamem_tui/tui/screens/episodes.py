"""The episodes: what the bank was given, what became of each, how it ended, and new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.filters import EPISODES
from deltamem_tui.memory.method import display_of
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.core.background import Stopped
from deltamem_tui.tui.core.bank_session import OpenBank
from deltamem_tui.tui.jobs.outcomes import plan_verdict
from deltamem_tui.tui.models.episodes import (
    ALL_EPISODES,
    LIST_ORDERS,
    EpisodeArrangement,
    EpisodeBook,
    ListOrder,
    episode_sections,
)
from deltamem_tui.tui.models.nodes import detail
from deltamem_tui.tui.models.sections import Section, title_of
from deltamem_tui.tui.screens import bank_actions, learning
from deltamem_tui.tui.screens.base import BankScreen, bottom_bars
from deltamem_tui.tui.screens.filtering import ListFilter, Place
from deltamem_tui.tui.widgets.bars import TopBar
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.text_pane import TextPane, columns, line_of

_NARROW = 64
_KEPT = 512
_MARK, _STATE, _FACTS = 3, 7, 30
"""Cells of the mark of the outcome, of the state, and of all that is said at the right."""

_OUTCOMES = {True: ("✓", "good"), False: ("✗", "warning"), None: ("?", "strong")}

_Books = tuple[EpisodeBook, EpisodeBook]
"""All episodes, and those that are shown."""


class EpisodeList(LineList):
    """One episode a line."""

    def __init__(self) -> None:
        super().__init__()
        self.book: EpisodeBook | None = None

    def show(self, book: EpisodeBook, *, in_place: bool = False, onward: bool = False) -> None:
        """Show these episodes, the cursor on the one it was on.

        If the list is arranged as before (`in_place`) and that episode has left it, the cursor is
        on the next one, or else on the one before. `onward` leads to the next doubtful one.
        """
        before, at = self.book.ids if self.book else (), self.cursor
        known = chain(before[at:], reversed(before[:at])) if in_place else before[at : at + 1]
        places = {episode_id: place for place, episode_id in enumerate(book.ids)}
        found: Iterator[int] = (places[each] for each in known if each in places)
        self.book = book
        if onward:
            others = islice(chain(before[at + 1 :], before[:at]), _KEPT)
            doubtful = (places[each] for each in others if self.is_doubtful(places.get(each)))
            found = chain(doubtful, found)
        self.lines_changed(next(found, 0))

    @property
    def episode(self) -> str | None:
        """The id of the episode under the cursor."""
        return self.book.ids[self.cursor] if self.book else None

    def is_doubtful(self, line: int | None) -> bool:
        """Return whether an episode needs a verdict: not if the user could not tell."""
        if line is None or not self.book:
            return False
        try:
            outcome = self.book.trajectory(line).outcome
        except DeltaMemError:
            return False
        unsaid = not outcome.known and outcome.source != "user"
        return unsaid or bool(self.book.why_doubtful(line))

    def line_count(self) -> int:
        """Return how many episodes there are."""
        return len(self.book) if self.book else 0

    def line_text(self, line: int, width: int) -> Text:
        """Outcome, task, and what became of it, or why it is doubtful."""
        if (book := self.book) is None:
            return Text()
        try:
            episode = book.trajectory(line)
        except DeltaMemError as error:
            return line_of((f" ✗ {error}", self.style_of("warning")))
        mark, name = _OUTCOMES[episode.outcome.success]
        state, doubt = book.state(line), book.why_doubtful(line)
        right = f"{episode.outcome.source} · {counted(len(episode.steps), 'step')} · {state:>7}"
        if width < _NARROW:
            right = state
        elif doubt:
            right = f"{doubt[: width // 2]} · {state:>7}"
        room = width - _MARK - 1 - max(len(right), _STATE if width < _NARROW else _FACTS)
        left = line_of((f" {mark} ", self.style_of(name)))
        title = one_line(episode.task[:2000], 300) or book.ids[line]
        left.append_text(self.mark(line_of((title_of(title, room), None))))
        return columns(left, line_of((right, self.style_of("quiet"))), width)


class EpisodesScreen(BankScreen):
    """The list above; below it the steps beside the node they became."""

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
    EpisodesScreen.-narrow.-no-node #node { display: none; }
    """

    def __init__(self, home: OpenBank) -> None:
        super().__init__(home)
        self._whole: EpisodeBook | None = None
        self._node_number = 0
        self._node_of: str | None = None
        self._judged: str | None = None  # the episode that is being given an outcome
        self._linked: tuple[str, ...] = ()  # the episode that a node led to, and the node
        self._list = EpisodeList()
        self.main_pane = TextPane(id="steps")
        self._node = TextPane(id="node")
        self.list_filter: ListFilter[ListOrder, _Books] = ListFilter(
            "reading the episodes",
            EPISODES,
            LIST_ORDERS,
            ALL_EPISODES,
            find=self._find,
            show=self._show,
            focus=self._list.focus,
            typed=self._head,
            seek=self._seek,
        )

    def compose(self) -> ComposeResult:
        yield TopBar("episodes")
        with Vertical():
            yield self._list
            yield self.list_filter
            with Horizontal():
                yield self.main_pane
                yield self._node
        yield from bottom_bars()

    def on_mount(self) -> None:
        self.main_pane.border_title, self._node.border_title = "steps", "node"
        self._list.focus()

    def bank_changed(self) -> None:
        """Read the episodes again."""
        self.list_filter.rearrange()

    def _find(self, arrangement: EpisodeArrangement) -> Callable[[Stopped], _Books]:
        """Read the episodes, unless that was done, and filter and sort them."""
        bank, known = self.bank, self._whole

        def work(stopped: Stopped) -> _Books:
            whole = known if known is not None and known.bank is bank else EpisodeBook.read(bank)
            return whole, whole.arranged(arrangement, stopped)

        return work

    def _show(self, books: _Books) -> None:
        """List the episodes."""
        words = self.list_filter.words
        for pane in (self.main_pane, self._node):
            pane.mark(words)
        self._list.words = words
        self._whole, book = books
        judged, self._judged = self._judged, None
        onward = judged is not None and judged == self._list.episode
        self._list.show(book, in_place=self.list_filter.in_place, onward=onward)
        self._head()
        if self.browser.session.new_bank == self.home.path:
            self.browser.session.new_bank = None
            if not len(self._whole):
                self.action_import_logs()

    def place(self) -> Place:
        """Return the episode under the cursor, and the node beside it."""
        if (name := self._list.episode) is None:
            return ()
        return name, *(self._place or ())

    def return_to(self, place: Place) -> None:
        """Show an episode, and the node beside it that led here."""
        self.list_filter.go_to(place)

    def _seek(self, place: Place) -> bool:
        """Put the cursor on an episode; False if it is not listed."""
        book = self._list.book
        if book is None or place[0] not in book.ids:
            return False
        self._linked, self._node_of = place, None
        self._list.lines_changed(book.ids.index(place[0]))
        self._list.focus()
        return True

    def _head(self) -> None:
        """Say how many there are, what fits the filter, and what comes next."""
        shown_as, whole = self.list_filter.shown_as, self._whole
        if whole is None or shown_as is None:
            return
        waiting = len(whole.bank.episodes.waiting())
        self.offer("extract", when=waiting > 0)
        self.offer("filter_episodes", when=bool(whole))
        self.offer("mark_all", when=bool(self._list.line_count()))
        title, key = f"{counted(len(whole), 'episode')} · {waiting:,} waiting", self.browser.key_of
        if waiting and not whole.bank.frozen:
            title += f" · {key('extract')} learns from them"
        elif any(map(len, whole.bank.trees.values())):
            title += f" · {key('show_recall')} asks what it knows"
        if shown_as.text and self.list_filter.is_in_force:
            title += f" · {self._list.line_count():,} fit the filter"
        if shown_as.order != "import":
            title += f" · by {shown_as.order}"
        self._list.border_title = Content(title)

    # The episode and its nodes

    def on_line_list_moved(self) -> None:
        """Show the episode, and its first node unless it is the same episode as before."""
        name = self._list.episode
        if name != self._node_of:
            self._linked = self._linked if self._linked[:1] == (name,) else ()
            linked, places = self._linked[1:], self._places
            self._node_number = places.index(linked) if linked in places else 0
            self._node_of = name
        self.offer(
            "succeeded", "failed", "cannot_tell", when=self._list.is_doubtful(self._list.cursor)
        )
        self._show_episode()

    @property
    def _places(self) -> list[tuple[str, ...]]:
        """The nodes that the episode gave."""
        book = self._list.book
        return [*book.nodes(self._list.cursor)] if book else []

    @property
    def _place(self) -> tuple[str, ...] | None:
        """The node that is shown."""
        places = self._places
        return places[self._node_number % len(places)] if places else None

    def _show_episode(self) -> None:
        book, number = self._list.book, self._list.cursor
        if book is None:
            return
        if not book:
            self.main_pane.show([Section("", self._why_empty())])
            self.offer("episode_node", when=False)
            self._node.border_title = "node"
            self._node.show([])
            return
        try:
            episode, doubt = book.trajectory(number), book.why_doubtful(number)
            self.main_pane.show(episode_sections(episode, book.refusal(number), doubt))
        except DeltaMemError as error:
            self.main_pane.show([Section("This episode cannot be read", str(error), warning=True)])
        self._show_node(book)

    def _why_empty(self) -> str:
        """Return why no episode is shown."""
        if self._whole:
            return "No episode fits the filter."
        text = "This bank has no episodes."
        if self.bank.frozen:
            return text
        return f"{text} Press {self.browser.key_of('import_logs')} to import some from logs."

    def _show_node(self, book: EpisodeBook) -> None:
        """Show a node that the episode gave, as the bank was when its episodes were read."""
        place, count = self._place, len(self._places)
        self.offer("episode_node", when=place is not None)
        self.set_class(place is None, "-no-node")
        if place is None:
            self._node.border_title = "node"
            self._node.show([Section("", "Nothing was learnt from this episode.", quiet=True)])
            return
        more = f" · {self.browser.key_of('next_node')} shows the next" if count > 1 else ""
        number = self._node_number % count + 1
        self._node.border_title = Content(f"node {number} of {count}{more}")
        tree_name, node_id = place
        try:
            tree = book.bank.tree(tree_name)
            display = display_of(book.bank, tree_name)
            self._node.show(detail(tree, tree.node(node_id), display))
        except DeltaMemError as error:
            self._node.show([Section("This node cannot be read", str(error), warning=True)])

    def action_next_node(self) -> None:
        self._node_number += 1
        self._show_episode()

    def action_episode_node(self) -> None:
        if self._place:
            self.browser.session.follow_link("memory", *self._place)

    def on_line_list_chosen(self) -> None:
        self.action_episode_node()

    # Filter and sort

    def action_filter(self) -> None:
        self.list_filter.open()

    def action_sort(self) -> None:
        self.list_filter.sort()

    async def action_step_back(self) -> None:
        """Leave one thing at a time: the line, the filter, the bank."""
        if not self.list_filter.step_back():
            await super().action_step_back()

    # Importing, learning, outcomes

    def action_import_logs(self) -> None:
        learning.ask_for_logs(self)

    def action_extract(self) -> None:
        learning.ask_what_learns(self, self.judge_one_by_one)

    def action_relearn(self) -> None:
        bank_actions.create(self.browser, self.bank)

    def action_judge(self, success: bool | None) -> None:
        """Write how the episode under the cursor ended; ask first if it was learnt."""
        if (name := self._list.episode) is not None and self.writable():
            path = self.home.path
            started = self.browser.work.start(
                "writing the outcome",
                lambda progress: plan_verdict(path, [name], progress, success=success),
            )
            self._judged = name if started else self._judged

    def action_mark_all(self) -> None:
        """Ask how all episodes that are shown ended."""
        book, shown_as = self._list.book, self.list_filter.shown_as
        if not book or shown_as is None:
            return
        if self.list_filter.inquiry.under_way or not self.list_filter.is_in_force:
            self.browser.notes.notify("the filter is still at work; try again in a moment")
            return
        title = f"How did all {counted(len(book), 'shown episode')} end?"
        learning.ask_how_ended(self, list(book.ids), title, shown_as.text, self.judge_one_by_one)

    def judge_one_by_one(self) -> None:
        """Show what has no outcome, and say which keys give it one."""
        self.list_filter.arrange_by("outcome:unknown", "import")
        self._list.focus()
        yes, no, neither = map(self.browser.key_of, ("succeeded", "failed", "cannot_tell"))
        said = f"press {yes} for success, {no} for failure, {neither} if you cannot tell"
        self.browser.notes.notify(said)
