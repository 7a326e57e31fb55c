"""The episodes: what the bank was given, what became of each, and new ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.methods import display_of
from deltamem_tui.memory.views.filters import (
    EPISODE_ORDERS,
    EPISODES,
    EpisodeOrder,
)
from deltamem_tui.text import counted
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.core.background import Stopped, look_up
from deltamem_tui.tui.core.bank_session import OpenBank
from deltamem_tui.tui.jobs.judging import may_be_judged
from deltamem_tui.tui.models.episodes import ALL_EPISODES, EpisodeBook, episode_sections
from deltamem_tui.tui.models.evidence import steps_repeated
from deltamem_tui.tui.models.nodes import detail
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.screens import bank_actions
from deltamem_tui.tui.screens.base import BankScreen, bottom_bars
from deltamem_tui.tui.screens.filter_sort import ListFilter
from deltamem_tui.tui.screens.import_forms import ask_for_logs, ask_what_learns, ask_who_judges
from deltamem_tui.tui.screens.outcome_editing import OutcomeEditor
from deltamem_tui.tui.widgets.bars import TopBar
from deltamem_tui.tui.widgets.episode_list import EpisodeList
from deltamem_tui.tui.widgets.text_pane import TextPane

_Books = tuple[EpisodeBook, EpisodeBook]
"""All episodes, and those that are shown."""


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
    """

    def __init__(self, home: OpenBank) -> None:
        super().__init__(home)
        self._whole: EpisodeBook | None = None
        self._node_number = 0
        self._node_of: str | None = None
        self._sought: tuple[str, ...] = ()
        self._linked: tuple[str, ...] = ()  # the episode that a node led to, and the node
        self._list = EpisodeList()
        self._steps = TextPane(id="steps")
        self._node = TextPane(id="node")
        self._outcomes = OutcomeEditor(self, self._episode_in_sight)
        self.list_filter: ListFilter[EpisodeOrder, _Books] = ListFilter(
            self,
            "reading the episodes",
            EPISODES,
            EPISODE_ORDERS,
            ALL_EPISODES,
            find=self._find,
            show=self._show,
            focus=self._list.focus,
        )

    def compose(self) -> ComposeResult:
        yield TopBar("DeltaMem", "episodes")
        with Vertical():
            yield self._list
            yield self.list_filter.line
            with Horizontal():
                yield self._steps
                yield self._node
        yield from bottom_bars(self.SCOPES)

    def on_mount(self) -> None:
        self._steps.border_title, self._node.border_title = "steps", "node"
        self._list.focus()

    def bank_changed(self) -> None:
        """Read the episodes again."""
        self.list_filter.arrange()

    def _find(self) -> Callable[[Stopped], _Books]:
        """Read the episodes, unless that was done, and filters and sorts them."""
        bank, arrangement, known = self.bank, self.list_filter.arrangement, self._whole

        def work(stopped: Stopped) -> _Books:
            whole = known if known is not None and known.bank is bank else EpisodeBook.read(bank)
            return whole, whole.arranged(arrangement, stopped)

        return work

    def _show(self, books: _Books) -> None:
        """List the episodes."""
        listed = self.list_filter
        in_place = listed.shown_as is listed.arrangement
        listed.was_shown(listed.arrangement)
        for pane in (self._steps, self._node):
            pane.mark(listed.words)
        self._list.words = listed.words
        self._whole, book = books
        self._list.show(book, in_place=in_place)
        self._head()
        look_up(
            self,
            "looking for what can be judged",
            lambda stopped: may_be_judged(book.bank, book.ids, stopped),
            lambda some: self.offer("judge_by_model", when=some),
        )
        if self._sought and not listed.inquiry.has_more:
            sought, self._sought = self._sought, ()
            self._go_to(sought)

    def place(self) -> tuple[str, ...]:
        """Return the episode under the cursor, and the node beside it."""
        book, number = self._list.book, self._list.cursor
        if book is None or not len(book):
            return ()
        places = self._places(book, number)
        return book.ids[number], *(places[self._node_number % len(places)] if places else ())

    def return_to(self, place: tuple[str, ...]) -> None:
        """Show an episode, the steps in sight that a node was made of."""
        if self._list.book is None or self.list_filter.inquiry.under_way:
            self._sought = place
        else:
            self._go_to(place)

    def _go_to(self, place: tuple[str, ...]) -> None:
        """Put the cursor on an episode, without a filter if the filter hides it."""
        book, arrangement = self._list.book, self.list_filter.arrangement
        if book is not None and place[0] in book.ids:
            self._linked, self._node_of = place, None
            self._list.lines_changed(book.ids.index(place[0]))
            self._list.focus()
        elif not arrangement.wanted.empty:
            self._sought = place
            self.list_filter.arrange_by("", arrangement.order)

    def _head(self) -> None:
        """Count what fits only of the filter that the list is filtered by."""
        shown_as = self.list_filter.shown_as
        if self._whole is None or shown_as is None:
            return
        waiting = len(self._whole.bank.episodes.waiting())
        self.offer("extract", when=waiting > 0)
        self.offer("filter_episodes", when=bool(self._whole))
        title = f"{counted(len(self._whole), 'episode')} · {waiting:,} waiting"
        if shown_as.text and self.list_filter.line.text == shown_as.text:
            title += f" · {self._list.line_count():,} fit the filter"
            if not self._whole.bank.frozen and self._list.line_count():
                keys = map(self.browser.key_of, ("all_succeeded", "all_failed"))
                title += f": {', '.join(keys)} mark them all"
        if shown_as.order != "import":
            title += f" · by {shown_as.order}"
        self._list.border_title = Content(title)

    # The episode and its nodes

    def on_line_list_moved(self) -> None:
        """Show the episode, and its first node unless it is the same episode as before."""
        book, number = self._list.book, self._list.cursor
        shown = book.ids[number] if book is not None and len(book) else None
        if shown != self._node_of:
            self._linked = self._linked if self._linked[:1] == (shown,) else ()
            places = self._places(book, number) if book is not None and len(book) else ()
            linked = self._linked[1:]
            self._node_number = places.index(linked) if linked in places else 0
            self._node_of = shown
        self._show_episode()

    def _places(self, book: EpisodeBook, number: int) -> list[tuple[str, ...]]:
        """Return the nodes that an episode gave, and the one that led to it."""
        places: list[tuple[str, ...]] = [*book.nodes(number)]
        linked = self._linked[1:]
        if linked and self._linked[0] == book.ids[number] and linked not in places:
            places.append(linked)
        return places

    def _show_episode(self) -> None:
        book, number = self._list.book, self._list.cursor
        if book is None:
            return
        if not len(book):
            self._steps.show([Section("", self._why_empty())])
            self.offer("episode_node", when=False)
            self._node.border_title = "node"
            self._node.show([])
            return
        try:
            key = self.browser.key_of("read_whole")
            trajectory, why = book.trajectory(number), book.refusal(number)
            marked = self._marked(book, number, trajectory)
            sections = episode_sections(trajectory, why, read_key=key, marked=marked or ())
            first = next((place for place, each in enumerate(sections) if each.marked), None)
            self._steps.show(sections, first)
            self._steps.border_title = Content(_steps_title(marked))
        except DeltaMemError as error:
            self._steps.show([Section("This episode cannot be read", str(error), warning=True)])
        self._show_node(book, number)

    def _marked(self, book: EpisodeBook, number: int, trajectory: Trajectory) -> list[int] | None:
        """Return the steps that the node beside them repeats, if a node led here; else None."""
        if self._linked[:1] != (book.ids[number],) or not self._linked[1:]:
            return None
        places = self._places(book, number)
        tree, node_id = places[self._node_number % len(places)]
        return steps_repeated(book.bank.tree(tree).node(node_id).payload, trajectory.steps)

    def _why_empty(self) -> str:
        """Return why no episode is shown."""
        if self._whole:
            return "No episode fits the filter."
        text = "This bank has no episodes."
        if self.bank.frozen:
            return text
        return f"{text} Press {self.browser.key_of('import_logs')} to import some from logs."

    def _show_node(self, book: EpisodeBook, number: int) -> None:
        """Show a node that the episode gave, as the bank was when its episodes were read."""
        places = self._places(book, number)
        self.offer("episode_node", when=bool(places))
        if not places:
            self._node.border_title = "node"
            text = "The bank has no node from this episode."
            self._node.show([Section("", text, quiet=True)])
            return
        place = self._node_number % len(places)
        more = f" · {self.browser.key_of('next_node')} shows the next" if len(places) > 1 else ""
        self._node.border_title = Content(f"node {place + 1} of {len(places)}{more}")
        tree_name, node_id = places[place]
        try:
            tree = book.bank.tree(tree_name)
            display = display_of(book.bank, tree_name)
            self._node.show(detail(tree, tree.node(node_id), display))
        except DeltaMemError as error:
            self._node.show([Section("This node cannot be read", str(error), warning=True)])

    def readable(self) -> Sequence[Section]:
        """Return the node if its pane has the focus, else the episode with every step."""
        book, number = self._list.book, self._list.cursor
        if self._node.has_focus:
            return self._node.sections
        if book is None or not len(book):
            return ()
        try:
            return episode_sections(book.trajectory(number), book.refusal(number))
        except DeltaMemError as error:
            self.browser.notes.report(error)
            return ()

    def action_next_node(self) -> None:
        self._node_number += 1
        self._show_episode()

    def action_episode_node(self) -> None:
        book, number = self._list.book, self._list.cursor
        places = self._places(book, number) if book is not None and len(book) else ()
        if places:
            self.browser.session.show_node(*places[self._node_number % len(places)])

    def on_line_list_chosen(self) -> None:
        self.action_episode_node()

    # Filter and sort

    def action_filter(self) -> None:
        self.list_filter.open()

    def action_to_match(self, direction: int) -> None:
        self.list_filter.to_match(direction, self._steps.to_match)

    def action_sort(self) -> None:
        self.list_filter.sort()

    def on_input_changed(self) -> None:
        self.list_filter.typed()
        self._head()

    def on_input_submitted(self) -> None:
        self.list_filter.submit()

    async def action_step_back(self) -> None:
        """Leave one thing at a time: the line, the filter, the bank."""
        if not self.list_filter.step_back():
            await super().action_step_back()

    # Importing, learning, outcomes

    def action_import_logs(self) -> None:
        ask_for_logs(self)

    def action_extract(self) -> None:
        ask_what_learns(self)

    def action_relearn(self) -> None:
        bank_actions.create(self.browser, self.bank)

    def action_judge(self, success: bool) -> None:
        self._outcomes.give(success=success)

    def action_judge_all(self, success: bool) -> None:
        book, shown_as = self._list.book, self.list_filter.shown_as
        if book is None or not len(book) or shown_as is None:
            return
        if self.list_filter.inquiry.under_way or self.list_filter.line.text != shown_as.text:
            self.browser.notes.notify("the list does not show what the filter says yet")
            return
        self._outcomes.give_to_all(list(book.ids), shown_as.text, success=success)

    def action_judge_by_model(self) -> None:
        if (book := self._list.book) is not None:
            ask_who_judges(self, list(book.ids))

    def _episode_in_sight(self) -> str | None:
        """Return the id of the episode under the cursor."""
        book, number = self._list.book, self._list.cursor
        return book.ids[number] if book is not None and len(book) else None


def _steps_title(marked: Sequence[int] | None) -> str:
    """Return what is above the steps; None if none are to be marked."""
    if marked is None:
        return "steps"
    if not marked:
        return "steps · the node repeats none of them word for word"
    return f"steps · ▌ the node repeats {len(marked):,} of them"
