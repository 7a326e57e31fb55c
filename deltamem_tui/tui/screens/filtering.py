"""Filtering a screen's list by a line that one types in, and sorting it by a key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Generic, TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Static

from deltamem_tui.errors import UsageError
from deltamem_tui.memory.filters import LONGEST_FILTER, Language
from deltamem_tui.tui.core.background import Inquiry, Stopped
from deltamem_tui.tui.models.outline import Arrangement, OrderT
from deltamem_tui.tui.models.sections import cuttable
from deltamem_tui.tui.widgets.line_input import LineInput

FoundT = TypeVar("FoundT")
Place = tuple[str, ...]
"""A row of the list: a node of a tree, or an episode."""


class ListFilter(Vertical, Generic[OrderT, FoundT]):
    """The line of a filter, there while one types and while it filters, and what it keeps."""

    DEFAULT_CSS = """
    ListFilter { height: auto; }
    ListFilter > LineInput { display: none; }
    ListFilter.-open > LineInput { display: block; }
    ListFilter > Static { display: none; height: auto; padding: 0 1; text-style: dim; }
    ListFilter > Static.-shown { display: block; }
    ListFilter > Static.-warning { color: $text-warning; text-style: none; }
    ListFilter > Static.-warning:ansi { color: ansi_red; }
    """

    def __init__(
        self,
        work: str,
        language: Language,
        orders: Sequence[OrderT],
        arrangement: Arrangement[OrderT],
        *,
        find: Callable[[Arrangement[OrderT]], Callable[[Stopped], FoundT]],
        show: Callable[[FoundT], None],
        focus: Callable[[], object],
        typed: Callable[[], object],
        seek: Callable[[Place], bool],
    ) -> None:
        super().__init__()
        self._work = work
        self._language = language
        self._orders = orders
        self._find = find
        self._found = show
        self._focus = focus
        self._typed = typed
        self._seek = seek
        self._sought: Place = ()
        self._line = LineInput(
            placeholder="words or conditions", id="filter", compact=True, max_length=LONGEST_FILTER
        )
        self._remark = Static(markup=False)
        self.arrangement = arrangement
        self.shown_as: Arrangement[OrderT] | None = None
        self.in_place = False

    def compose(self) -> ComposeResult:
        yield self._line
        yield self._remark

    def on_mount(self) -> None:
        self._put(self.arrangement.text)

    @cached_property
    def inquiry(self) -> Inquiry:
        """The findings of the thread."""
        return Inquiry(self.screen, self._work)

    @property
    def is_in_force(self) -> bool:
        """True if the list shows what the line says."""
        return self.shown_as is not None and self.shown_as.text == self._line.value

    @property
    def words(self) -> tuple[str, ...]:
        """The filter of the visible list, but for the conditions."""
        return self.shown_as.wanted.words if self.shown_as else ()

    # What is shown

    def rearrange(self, *, at_once: bool = False) -> None:
        """Let a thread arrange the list."""
        arrangement = self.arrangement

        def show(found: FoundT) -> None:
            if self.is_attached and arrangement is self.arrangement:
                self.show(found)

        self.inquiry.ask(self._find(arrangement), show, at_once=at_once)

    def show(self, found: FoundT) -> None:
        """Show what was found."""
        self.in_place = self.shown_as is self.arrangement
        self.shown_as = self.arrangement
        self._found(found)
        if self._sought and not self.inquiry.has_more:
            self._bring(self._sought)

    def go_to(self, place: Place) -> None:
        """Put the cursor on a place, once the list shows the bank as it is."""
        if self.shown_as is None or self.inquiry.under_way:
            self._sought = place
        else:
            self._bring(place)

    def _bring(self, place: Place) -> None:
        """Put the cursor on a place, without a filter if the filter hides it."""
        self._sought = ()
        if not self._seek(place) and self.arrangement.text:
            self._sought = place
            self.arrange_by("", self.arrangement.order)

    def arrange_by(self, text: str, order: OrderT) -> None:
        """Filter and sort."""
        self.arrangement = Arrangement(text, self._language.parse(text), order)
        self._put(text, is_open=self._line.has_focus)
        self.rearrange(at_once=True)

    def sort(self) -> None:
        """Sort the list another way."""
        place = self._orders.index(self.arrangement.order) + 1
        self.arrange_by(self.arrangement.text, self._orders[place % len(self._orders)])

    # The line

    def open(self) -> None:
        """Let the user type."""
        self.add_class("-open")
        self.screen.set_focus(self._line)  # at once: what is typed now is for this line

    def step_back(self, leave_inner: Callable[[], bool] = lambda: False) -> bool:
        """Leave one thing at a time: the line, what `leave_inner` leaves, the filter."""
        if self._line.has_focus or self._line.value != self.arrangement.text:
            self._close()
        elif leave_inner():
            pass
        elif self.arrangement.text:
            self.arrange_by("", self.arrangement.order)
        else:
            return False
        return True

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter while one types; a filter that is not finished waits."""
        event.stop()
        if self._line.value != self.arrangement.text and not self._problem():
            self.arrange_by(self._line.value, self.arrangement.order)
        self._show_remark()
        self._typed()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go back to the list; ask again for what failed before."""
        event.stop()
        if self._line.value != self.arrangement.text:  # the line says what is wrong with it
            return
        if not self.is_in_force and not self.inquiry.under_way:
            self.rearrange(at_once=True)
        self._close()

    def _close(self) -> None:
        """Go back to the list; what could not be read is left."""
        self._put(self.arrangement.text)
        self._focus()

    def _put(self, text: str, *, is_open: bool = False) -> None:
        """Show this filter; an empty one is put away, unless it is to be open."""
        if self._line.value != text:
            self._line.value = text
        self.set_class(bool(text) or is_open, "-open")
        self._show_remark()

    def on_descendant_focus(self) -> None:
        self._show_remark()

    on_descendant_blur = on_descendant_focus

    def _problem(self) -> str:
        """Return why the line is not a filter; empty if it is one."""
        try:
            self._language.parse(self._line.value)
        except UsageError as error:
            return str(error)
        return ""

    def _show_remark(self) -> None:
        text = self._line.value
        problem = self._problem()
        help_text = self._language.help if self._line.has_focus and not text else ""
        remark = f"✗ {problem}" if problem else help_text
        self._remark.update(Text(cuttable(remark)))
        self._remark.set_class(bool(remark), "-shown")
        self._remark.set_class(bool(problem), "-warning")
