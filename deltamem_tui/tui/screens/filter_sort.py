"""A screen whose list is filtered by a line that one types in, and sorted by a key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from textual.widgets import Input

from deltamem_tui.errors import UsageError
from deltamem_tui.memory.views.language import Language
from deltamem_tui.tui.background import Inquiry
from deltamem_tui.tui.messages import Failed
from deltamem_tui.tui.models.arrangement import Arrangement
from deltamem_tui.tui.screens.base import BankScreen
from deltamem_tui.tui.widgets.filter_line import FilterLine
from deltamem_tui.tui.widgets.line_list import LineList


class ArrangingScreen(BankScreen):
    """A screen that shows a part of what a bank holds, in an order. A worker finds it out.

    Attributes:
        LANGUAGE: The conditions that can be typed.
        ORDERS: The orders, one after another.
        ARRANGING: What the worker does.
        arrangement: What is to be shown, and in which order.
    """

    LANGUAGE: ClassVar[Language[Any]]
    ORDERS: ClassVar[Sequence[str]]
    ARRANGING: ClassVar[str]
    arrangement: Arrangement[Any, Any]

    def __init__(self) -> None:
        super().__init__()
        self._line = FilterLine(self.LANGUAGE)
        self._arranged = Inquiry(self, self.ARRANGING)
        self._keys_go: Callable[[], None] | None = None
        self._settled = ""  # the filter that was in force before one began to type

    # What a kind of screen says

    @property
    def shown(self) -> LineList:
        """The list that is looked at."""
        raise NotImplementedError

    @property
    def shown_as(self) -> Arrangement[Any, Any] | None:
        """How it is arranged, as one sees it; None until it was shown."""
        raise NotImplementedError

    def rearrange(self, *, keys_wait: bool, at_once: bool) -> None:
        """Let a worker arrange it.

        Args:
            keys_wait: Whether keys that are typed meanwhile are meant for what comes of it.
            at_once: Whether what is under way is given up.
        """
        raise NotImplementedError

    def filter_typed(self) -> None:
        """The line says something else: what is shown may have to be told of otherwise."""

    def filter_begins(self) -> None:
        """All was shown so far, and will not be any more."""

    def step_out(self) -> bool:
        """Leave what was entered after the filter. Returns whether there was anything."""
        return False

    # Filter and sort

    def on_failed(self, message: Failed) -> None:
        """The list stays as it is; the app says why."""
        if message.name == self.ARRANGING:
            self.is_arranged()

    def is_arranged(self) -> None:
        """Keys that were typed for the list go their way."""
        if self._keys_go is not None:
            self.call_later(self._keys_go)
            self._keys_go = None

    def action_filter(self) -> None:
        """Type a filter."""
        if self._line.text == self.arrangement.text:
            self._settled = self.arrangement.text
        self._line.open()

    def on_input_changed(self) -> None:
        """Filter while it is typed; a filter that is not finished waits.

        Who types fast is ahead of the messages: what the line says now counts, not what it
        said when the message was sent.
        """
        if self._line.text != self.arrangement.text:
            self._filter_by(self._line.text, say=False)
        self.filter_typed()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go back to the list."""
        if self._filter_by(event.value, say=True):
            self._close_filter()

    def _filter_by(self, text: str, *, say: bool) -> bool:
        """Filter by what was typed. Returns whether it is a filter."""
        if text == self.arrangement.text:
            if say:
                if not (self._is_as_arranged or self._arranged.under_way):  # it failed before
                    self.rearrange(keys_wait=False, at_once=True)
                self._let_keys_wait()
            return True
        try:
            self.arrange_by(text, self.arrangement.order, keys_wait=say)
        except UsageError as error:
            if say:
                self.browser.tell_error(error)
            return False
        return True

    def _let_keys_wait(self) -> None:
        """What is typed from now on is meant for the list that is being arranged."""
        awaited = self._arranged.under_way and not self._is_as_arranged
        if awaited and self._keys_go is None:
            self._keys_go = self.browser.hold_keys()

    @property
    def _is_as_arranged(self) -> bool:
        """Whether the list is shown as it is to be arranged."""
        return self.shown_as is self.arrangement

    def _leave_line(self) -> None:
        """Leave the filter's line; if it says none, the list is as before one typed.

        A filter that is typed is in force as far as it can be read. What can be read of one
        that cannot be read to its end is a filter that nobody meant.
        """
        if self._filter_by(self._line.text, say=False):
            self._let_keys_wait()
        elif self._settled != self.arrangement.text:
            self.arrange_by(self._settled, self.arrangement.order, keys_wait=True)
        self._close_filter()

    def _close_filter(self) -> None:
        """Leave the filter's line, which says what the list is filtered by."""
        self._settled = self.arrangement.text
        self._line.show(self.arrangement.text)
        self.shown.focus()

    def arrange_by(self, text: str, order: str, *, keys_wait: bool) -> None:
        """Filter and sort.

        Raises:
            UsageError: The filter cannot be read; nothing is done.
        """
        known, self.arrangement = self.arrangement, Arrangement.of(self.LANGUAGE, text, order)
        if known.wanted.empty and not self.arrangement.wanted.empty:
            self.filter_begins()
        self._line.show(text, open=self._line.is_typed_in)
        self.rearrange(keys_wait=keys_wait, at_once=True)

    def action_sort(self) -> None:
        """Sort it another way."""
        place = self.ORDERS.index(self.arrangement.order) + 1
        order = self.ORDERS[place % len(self.ORDERS)]
        self.arrange_by(self.arrangement.text, order, keys_wait=True)

    async def action_step_back(self) -> None:
        """Leave one thing at a time: the line, what was entered since, the filter, the bank."""
        if self._line.is_typed_in:
            self._leave_line()
        elif self.step_out():
            return
        elif self._line.text != self.arrangement.text:  # what could not be read is left there
            self._leave_line()
        elif self.arrangement.text:
            self.arrange_by("", self.arrangement.order, keys_wait=True)
        else:
            await super().action_step_back()
