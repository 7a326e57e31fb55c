"""Filtering a screen's list by a line that one types in, and sorting it by a key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from deltamem_tui.errors import UsageError
from deltamem_tui.memory.views.filters import LONGEST_FILTER, Language
from deltamem_tui.tui.core.background import Inquiry, Stopped
from deltamem_tui.tui.models.outline import Arrangement, OrderT
from deltamem_tui.tui.screens.base import BankScreen
from deltamem_tui.tui.widgets.bars import KeyBar
from deltamem_tui.tui.widgets.inputs import LineInput
from deltamem_tui.tui.widgets.text_pane import TextPane


class FilterLine(Vertical):
    """A filter as it is typed. It is there while one types, and while it filters."""

    DEFAULT_CSS = """
    FilterLine { height: auto; }
    FilterLine > LineInput { display: none; }
    FilterLine.-open > LineInput { display: block; }
    FilterLine > Static {
        display: none; height: auto; padding: 0 1;
        &.-shown { display: block; }
        &.-help { text-style: dim; }
        &.-warning { color: $text-warning; }
        &:ansi.-warning { color: ansi_red; }
    }
    """

    def __init__(self, language: Language) -> None:
        super().__init__()
        self._language = language
        self._line = LineInput(
            placeholder="words or conditions", id="filter", compact=True, max_length=LONGEST_FILTER
        )
        self._remark = Static()

    def compose(self) -> ComposeResult:
        yield self._line
        yield self._remark

    @property
    def text(self) -> str:
        """What was typed."""
        return self._line.value

    @property
    def is_typed_in(self) -> bool:
        """True if it has the focus."""
        return self._line.has_focus

    def open(self) -> None:
        """Let the user type."""
        self.add_class("-open")
        self.screen.set_focus(self._line)  # at once: what is typed now is for this line

    def show(self, text: str, *, open: bool = False) -> None:  # noqa: A002 - the opposite of shut
        """Show this filter; an empty one is put away, unless it is to be open."""
        if self._line.value != text:
            self._line.value = text
        self.set_class(bool(text) or open, "-open")
        self._show_remark()

    def on_input_changed(self) -> None:
        self._show_remark()

    def on_descendant_focus(self) -> None:
        self._show_remark()

    def on_descendant_blur(self) -> None:
        self._show_remark()

    def _show_remark(self) -> None:
        text, kind = self._remark_on(self.text)
        self._remark.update(Text(text))
        self._remark.set_class(bool(text), "-shown")
        for each in ("-help", "-warning"):
            self._remark.set_class(kind == each, each)

    def _remark_on(self, text: str) -> tuple[str, str]:
        """Return the remark on a filter, and whether it is help or a warning."""
        if not text:
            return (self._language.help if self.is_typed_in else ""), "-help"
        try:
            self._language.parse(text)
        except UsageError as error:
            return f"✗ {error}", "-warning"
        return "", "-warning"


FoundT = TypeVar("FoundT")


class ListFilter(Generic[OrderT, FoundT]):
    """What a list of a screen shows, and in which order. A thread finds it out.

    Args:
        screen: The screen.
        name: What the thread does.
        language: The conditions that can be typed.
        orders: The orders, one after another.
        arrangement: What is shown at first.
        find: Returns what the thread does for `arrangement`.
        show: Shows what was found.
        focus: Gives the list the focus.
        begins: Called when all was shown so far, and will not be any more.

    Attributes:
        line: The line that one types in.
        inquiry: What the thread finds out.
        arrangement: What is to be shown, and in which order.
        shown_as: How the list is arranged, as one sees it; None until it was shown.
    """

    def __init__(
        self,
        screen: BankScreen,
        name: str,
        language: Language,
        orders: Sequence[OrderT],
        arrangement: Arrangement[OrderT],
        *,
        find: Callable[[], Callable[[Stopped], FoundT]],
        show: Callable[[FoundT], None],
        focus: Callable[[], object],
        begins: Callable[[], None] = lambda: None,
    ) -> None:
        self._screen = screen
        self._language = language
        self._orders = orders
        self._find = find
        self._show = show
        self._focus = focus
        self._begins = begins
        self._before = ""  # the filter that was in force before one began to type
        self.line = FilterLine(language)
        self.inquiry = Inquiry(screen, name)
        self.arrangement = arrangement
        self.shown_as: Arrangement[OrderT] | None = None

    def was_shown(self, arrangement: Arrangement[OrderT]) -> None:
        """Remembers how the list is arranged that one sees, and offers the keys that go with it."""
        self.shown_as = arrangement
        self._screen.query_one(KeyBar).filtered = not arrangement.wanted.empty

    @property
    def words(self) -> tuple[str, ...]:
        """What the list that one sees is filtered by, but for the conditions."""
        return self.shown_as.wanted.words if self.shown_as else ()

    def to_match(self, direction: int, among: Callable[[int], object]) -> None:
        """Go to the next match: in the text in focus, else where `among` looks for it."""
        notes, pane = self._screen.browser.notes, self._screen.focused
        if self.shown_as is None or self.shown_as.wanted.empty:
            notes.notify("no active filter")
        elif not isinstance(pane, TextPane):
            among(direction)
        elif not pane.to_match(direction):
            notes.notify("no filter match in this text")

    def arrange(self, *, at_once: bool = False) -> None:
        """Let a thread arrange the list."""
        arrangement = self.arrangement

        def show(found: FoundT) -> None:
            if not self._screen.home.is_closed and arrangement is self.arrangement:
                self._show(found)

        self.inquiry.ask(self._find(), show, at_once=at_once)

    def arrange_by(self, text: str, order: OrderT) -> None:
        """Filter and sort.

        Raises:
            UsageError: The filter cannot be read; nothing is done.
        """
        before = self.arrangement
        self.arrangement = Arrangement.of(self._language, text, order)
        if before.wanted.empty and not self.arrangement.wanted.empty:
            self._begins()
        self.line.show(text, open=self.line.is_typed_in)
        self.arrange(at_once=True)

    def open(self) -> None:
        """Let the user type a filter."""
        if self.line.text == self.arrangement.text:
            self._before = self.arrangement.text
        self.line.open()

    def typed(self) -> None:
        """Filter while one types; a filter that is not finished waits.

        What the line says now counts, not what it said when the message was sent.
        """
        if self.line.text != self.arrangement.text:
            self._filter_by(self.line.text)

    def submit(self) -> None:
        """Filter, and go back to the list; asks again for what failed before."""
        if (error := self._filter_by(self.line.text)) is not None:
            self._screen.browser.notes.report(error)
            return
        if self.shown_as is not self.arrangement and not self.inquiry.under_way:
            self.arrange(at_once=True)
        self._close()

    def _filter_by(self, text: str) -> UsageError | None:
        """Filter by what was typed. Returns why it is not a filter, if so."""
        if text == self.arrangement.text:
            return None
        try:
            self.arrange_by(text, self.arrangement.order)
        except UsageError as error:
            return error
        return None

    def _leave(self) -> None:
        """Leave the line; if it is not a filter, the list is as before one typed.

        While one types, the filter is in force as far as it can be read, which may be a filter
        that was not meant.
        """
        if self._filter_by(self.line.text) and self._before != self.arrangement.text:
            self.arrange_by(self._before, self.arrangement.order)
        self._close()

    def _close(self) -> None:
        self._before = self.arrangement.text
        self.line.show(self.arrangement.text)
        self._focus()

    def sort(self) -> None:
        """Sorts the list another way."""
        place = self._orders.index(self.arrangement.order) + 1
        self.arrange_by(self.arrangement.text, self._orders[place % len(self._orders)])

    def step_back(self, leave_inner: Callable[[], bool] = lambda: False) -> bool:
        """Leave one thing at a time: the line, what was entered since, the filter.

        Args:
            leave_inner: Leaves what was entered after the filter. Returns whether there was any.

        Returns:
            Whether there was anything to leave.
        """
        if self.line.is_typed_in:
            self._leave()
        elif leave_inner():
            pass
        elif self.line.text != self.arrangement.text:  # what could not be read is left there
            self._leave()
        elif self.arrangement.text:
            self.arrange_by("", self.arrangement.order)
        else:
            return False
        return True
