"""The places where the browser reaches behind textual's public face."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.worker import WorkerFailed


def pop_result_callback(screen: Screen[Any]) -> None:
    """Let a screen be switched although it is the first of all, and so was never pushed."""
    if screen._result_callbacks:  # noqa: SLF001 - what this module is for
        Screen._pop_result_callback(screen)  # noqa: SLF001


class FailureKeeper(App[None]):
    """The part of the program that ends it on a defect."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.failure: BaseException | None = None

    def _handle_exception(self, error: Exception) -> None:
        """Leave, and keep the error for who started the browser, where textual would print it."""
        if self._exit and isinstance(error, NoMatches):
            return  # a screen that comes up while the program ends is given no widgets
        if self.failure is None:
            self.failure = error.error if isinstance(error, WorkerFailed) else error
            self._exception = error  # as textual does it, for who drives the browser in a test
            self._exception_event.set()
        self._return_code = 1
        self._close_messages_no_wait()
