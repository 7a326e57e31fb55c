"""What the program tells the user: one note at a time, and the last ones again."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from textual.app import App
from textual.signal import Signal
from textual.timer import Timer

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.text import clean

_CHARACTERS = 20_000
_NOTE_SECONDS = 4.0
_ERROR_SECONDS = 15.0
_LONGEST_SECONDS = 60.0
_READ_PER_SECOND = 12
"""Characters that anyone reads in a second, digests included."""
_UNSEEN_SECONDS = 0.5
"""A user who types on when a note comes has not read it yet."""
_HISTORY = 50


@dataclass(frozen=True, slots=True)
class Note:
    """Something the program says.

    Attributes:
        text: What it says.
        severity: `information`, `warning` or `error`.
    """

    text: str
    severity: str = "information"

    @property
    def shown(self) -> str:
        """The text, with a sign that tells its severity without colours."""
        sign = {"warning": "! ", "error": "✗ "}
        return f"{sign.get(self.severity, '')}{self.text}"


class Notes:
    """Shows notes in the bottom line, each long enough to be read.

    Args:
        app: The program.
        adapt: Puts an error into terms that fit where the user is.

    Attributes:
        changed: Published when another note, or none, is shown.
        current: The note that is shown; None if there is none.
        history: The last notes, oldest first.
    """

    def __init__(
        self, app: App[None], adapt: Callable[[DeltaMemError], DeltaMemError] = lambda error: error
    ) -> None:
        self._app = app
        self._adapt = adapt
        self.changed: Signal[Note | None] = Signal(app, "notes")
        self.current: Note | None = None
        self.history: deque[str] = deque(maxlen=_HISTORY)
        self._timer: Timer | None = None
        self._seen_from = 0.0

    def notify(self, text: str, *, warning: bool = False) -> None:
        """Shows a note.

        Args:
            text: What it says.
            warning: Whether it is bad news.
        """
        self._show(Note(clean(text)[:_CHARACTERS], "warning" if warning else "information"))

    def report(self, error: DeltaMemError) -> None:
        """Shows an error."""
        self._show(Note(self.text_of(error), "error"))

    def keep(self, error: DeltaMemError) -> None:
        """Keeps an error that is shown elsewhere among the last notes."""
        self.history.append(self.text_of(error))

    def text_of(self, error: DeltaMemError) -> str:
        """Returns an error in terms that fit where the user is."""
        return clean(str(self._adapt(error)))[:_CHARACTERS]

    def seen(self) -> None:
        """Removes the note of a user who acts after reading it."""
        if self.current and time.monotonic() >= self._seen_from:
            self.clear()

    def clear(self) -> None:
        """Removes the note; the keys come back."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.current = None
        self.changed.publish(None)

    def _show(self, note: Note) -> None:
        """Replaces the note before."""
        if self._timer is not None:
            self._timer.stop()
        self.current = note
        self.history.append(note.text)
        self._seen_from = time.monotonic() + _UNSEEN_SECONDS
        self.changed.publish(note)
        self._timer = self._app.set_timer(seconds_shown(note), self.clear)


def seconds_shown(note: Note) -> float:
    """Returns how long a note stays: some seconds, or as long as it takes to be read."""
    least = _ERROR_SECONDS if note.severity == "error" else _NOTE_SECONDS
    return max(least, min(len(note.text) / _READ_PER_SECOND, _LONGEST_SECONDS))
