"""The review queue: the most doubtful episodes, a key a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.episodes.outcomes import known_episode, verdicts_on
from deltamem_tui.memory.review import (
    Review,
    error_notes,
    node_titles,
    review_of,
    verdict_text,
    why,
)
from deltamem_tui.text import counted, one_line
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.core.background import Inquiry
from deltamem_tui.tui.core.bank_session import OpenBank
from deltamem_tui.tui.models.episodes import episode_sections
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.screens.base import BankScreen, bottom_bars
from deltamem_tui.tui.screens.outcome_editing import OutcomeEditor
from deltamem_tui.tui.widgets.bars import TopBar
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.text_pane import TextPane, columns, line_of

_LAST_STEPS = 4
"""Shown before all steps: an episode's end is what its verdict is about."""


@dataclass(frozen=True, slots=True)
class ReviewLine:
    """What the list says of an episode.

    Attributes:
        task: Its goal on one line.
        why: Why it is to be reviewed; empty if that is hidden.
        state: Whether it was learnt.
    """

    task: str
    why: str
    state: str


class ReviewBook:
    """The episodes to be reviewed in a bank at one commit.

    Attributes:
        bank: The bank.
        review: The queue.
        ids: The episodes' ids, the most urgent first.
    """

    def __init__(self, bank: Bank, review: Review) -> None:
        self.bank = bank
        self.review = review
        self.ids = [each.episode for each in review.items]

    @classmethod
    def read(cls, bank: Bank) -> ReviewBook:
        """Work out the queue."""
        return cls(bank, review_of(bank))

    def __len__(self) -> int:
        return len(self.ids)

    def trajectory(self, number: int) -> Trajectory:
        """Return an episode.

        Raises:
            BankCorruptError: Its record cannot be read.
        """
        return known_episode(self.bank, self.ids[number])

    def line(self, number: int, *, blind: bool) -> ReviewLine:
        """Return what the list says of an episode."""
        item = self.review.items[number]
        learnt = self.review.facts[item.episode].learnt
        task = one_line(self.trajectory(number).task[:2000], 300)
        return ReviewLine(task, "" if blind else why(item), "learnt" if learnt else "waits")

    def sections(self, number: int, *, blind: bool, read_key: str | None) -> list[Section]:
        """Return why an episode is here and what is said of it, then what happened.

        If `blind`, neither why nor what log and judge say: only what one can see oneself.
        """
        item, episode = self.review.items[number], self.trajectory(number)
        shown = counted(len(self.review.facts[item.episode].shown), "node")
        facts = f"{item.kind} · was shown {shown}"
        first = Section(f"Episode {item.episode}", facts)
        _, task, *rest = episode_sections(episode, read_key=read_key)
        last = [f"{each.action}\n→ {each.observation}" for each in episode.steps[-_LAST_STEPS:]]
        rest = [task, Section("How it ended", "\n".join(last)), *rest]
        if blind:
            return [first, *rest]
        words = "\n".join(map(verdict_text, verdicts_on(episode))) or "nothing says how it ended"
        reasons = "\n".join((why(item), *node_titles(self.bank, item)))
        return [first, Section("Why it is here", reasons), Section("Verdicts so far", words), *rest]

    @property
    def summary(self) -> str:
        """How many there are, and how often the judge was wrong."""
        left = f"{counted(len(self), 'episode')} to review"
        return " · ".join([left, *map(str, error_notes(self.review)[:1])])


_NARROW = 80


class ReviewList(LineList):
    """One episode a line.

    Attributes:
        book: The episodes; None until they were read.
        blind: Whether why they are here is hidden.
    """

    def __init__(self) -> None:
        super().__init__()
        self.book: ReviewBook | None = None
        self.blind = False
        self._lines: dict[int, ReviewLine] = {}

    def show(self, book: ReviewBook) -> None:
        """Show these episodes; the cursor stays where it was."""
        self.book = book
        self._lines.clear()
        self.lines_changed(self.cursor)

    def hide(self, *, blind: bool) -> None:
        """Hide why they are here, or show it."""
        self.blind = blind
        self._lines.clear()
        self.lines_changed()

    def line_count(self) -> int:
        """Return how many episodes there are."""
        return len(self.book) if self.book else 0

    def line_text(self, line: int, width: int) -> Text:
        """Return the task, and why it is here."""
        if self.book is None:
            raise RuntimeError("an episode was drawn before it was there")
        try:
            if line not in self._lines:
                self._lines[line] = self.book.line(line, blind=self.blind)
        except DeltaMemError as error:
            return line_of((f" ✗ {error}", self.style_of("warning")))
        shown = self._lines[line]
        quiet = self.style_of("quiet")
        left = line_of((f" {shown.task}", None))
        if width < _NARROW or not shown.why:
            return columns(left, line_of((shown.state, quiet)), width)
        return columns(left, line_of((f"{shown.why} · {shown.state:>6}", quiet)), width)


class ReviewScreen(BankScreen):
    """The queue above, the episode under the cursor below."""

    SCOPES = ("review", "list", "bank", "app")
    BINDINGS: ClassVar = [*bindings("review")]
    DEFAULT_CSS = """
    ReviewScreen ReviewList { height: 1fr; border-top: solid $primary; }
    ReviewScreen TextPane { height: 2fr; border-top: solid $primary; padding: 0 1; }
    ReviewScreen ReviewList:focus, ReviewScreen TextPane:focus { border-top: heavy $accent; }
    """

    def __init__(self, home: OpenBank) -> None:
        super().__init__(home)
        self._reading = Inquiry(self, "making the review queue")
        self._list = ReviewList()
        self._episode = TextPane(id="episode")
        self._outcomes = OutcomeEditor(self, self._in_sight)

    def compose(self) -> ComposeResult:
        yield TopBar("DeltaMem", "review")
        with Vertical():
            yield self._list
            yield self._episode
        yield from bottom_bars(self.SCOPES)

    def on_mount(self) -> None:
        self._episode.border_title = "episode"
        self._list.focus()

    def bank_changed(self) -> None:
        """Make the queue again."""
        bank = self.bank
        self._reading.ask(lambda _: ReviewBook.read(bank), self._show)

    def _show(self, book: ReviewBook) -> None:
        self._list.show(book)
        self._list.border_title = Content(book.summary)
        self.offer(
            "verdict_success", "verdict_failure", "verdict_unclear", "blind", when=len(book) > 0
        )

    def on_line_list_moved(self) -> None:
        book, number = self._list.book, self._list.cursor
        if book is None:
            return
        if not len(book):
            self._episode.show([Section("", "Nothing to review.")])
            return
        key = self.browser.key_of("read_whole")
        try:
            self._episode.show(book.sections(number, blind=self._list.blind, read_key=key))
        except DeltaMemError as error:
            self._episode.show([Section("This episode cannot be read", str(error), warning=True)])

    def readable(self) -> Sequence[Section]:
        """Return the episode with every step."""
        book, number = self._list.book, self._list.cursor
        if book is None or not len(book):
            return ()
        try:
            return book.sections(number, blind=self._list.blind, read_key=None)
        except DeltaMemError as error:
            self.browser.notes.report(error)
            return ()

    def _in_sight(self) -> str | None:
        """Return the id of the episode under the cursor."""
        book, number = self._list.book, self._list.cursor
        return book.ids[number] if book is not None and len(book) else None

    def action_give_verdict(self, success: bool | None) -> None:
        book, number = self._list.book, self._list.cursor
        if book is None or not len(book):
            return
        hidden = ""
        if self._list.blind:
            words = (book.trajectory(number).outcome, *book.trajectory(number).verdicts)
            hidden = ", ".join(verdict_text(each) for each in words if each.source != "unknown")
        self._outcomes.give(success=success, beside=hidden)

    def action_blind(self) -> None:
        self._list.hide(blind=not self._list.blind)
