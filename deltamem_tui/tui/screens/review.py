"""The review queue: the most doubtful episodes, a key a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.review import verdict_text
from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.core.background import Inquiry
from deltamem_tui.tui.core.open_bank import OpenBank
from deltamem_tui.tui.models.review import ReviewBook
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.screens.base import BankScreen, bottom_bars
from deltamem_tui.tui.screens.outcome_editing import OutcomeEditor
from deltamem_tui.tui.widgets.bars import TopBar
from deltamem_tui.tui.widgets.review_list import ReviewList
from deltamem_tui.tui.widgets.text_pane import TextPane


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
        """List, episode."""
        yield TopBar("DeltaMem", "review")
        with Vertical():
            yield self._list
            yield self._episode
        yield from bottom_bars(self.SCOPES)

    def on_mount(self) -> None:
        """Goes to the list."""
        self._episode.border_title = "episode"
        self._list.focus()

    def bank_changed(self) -> None:
        """Makes the queue again."""
        bank = self.bank
        self._reading.ask(lambda _: ReviewBook.read(bank), self._show)

    def _show(self, book: ReviewBook) -> None:
        self._list.show(book)
        self._list.border_title = Content(book.summary)
        self.offer(
            "verdict_success", "verdict_failure", "verdict_unclear", "blind", when=len(book) > 0
        )

    def on_line_list_moved(self) -> None:
        """Shows the episode under the cursor."""
        book, number = self._list.book, self._list.cursor
        if book is None:
            return
        if not len(book):
            self._episode.show([Section("", "Nothing is to be reviewed.")])
            return
        key = self.browser.key_of("read_whole")
        try:
            self._episode.show(book.sections(number, blind=self._list.blind, read_key=key))
        except DeltaMemError as error:
            self._episode.show([Section("This episode cannot be read", str(error), warning=True)])

    def readable(self) -> Sequence[Section]:
        """The episode with every step."""
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
        """Write how the episode ended."""
        book, number = self._list.book, self._list.cursor
        if book is None or not len(book):
            return
        hidden = ""
        if self._list.blind:
            words = (book.trajectory(number).outcome, *book.trajectory(number).verdicts)
            hidden = ", ".join(verdict_text(each) for each in words if each.source != "unknown")
        self._outcomes.give(success=success, beside=hidden)

    def action_blind(self) -> None:
        """Hides what log and judge say, or shows it again."""
        self._list.hide(blind=not self._list.blind)
