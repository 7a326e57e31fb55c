"""Notes to the user: one at a time, and the last ones again."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from textual.app import App
from textual.signal import Signal
from textual.timer import Timer

from deltamem_tui import paths
from deltamem_tui.errors import BankError, BankNotFoundError, DeltaMemError, Remedy
from deltamem_tui.text import clean, one_line


def remedies(key_of: Callable[[str], str]) -> Mapping[Remedy, str]:
    """Return what the browser calls each remedy."""
    return {
        Remedy.ALLOW_WRITING: f"{key_of('freeze_bank')} on the list of banks unfreezes it",
        Remedy.UNPACK: f"{key_of('install_bank')} on the list of banks installs a copy that can be",
        Remedy.REPAIR: "`deltamem bank verify` in a terminal can cut it back to its last commit",
        Remedy.MAKE_BANK: f"{key_of('look_again')} on the list of banks reloads it",
        Remedy.LIST_BANKS: "the list of banks has all names",
        Remedy.REPLACE: "submit it again to write over it",
        Remedy.NAME_LOG: "a file, a folder, or a pattern such as runs/*.jsonl",
        Remedy.PIPE_LOG: "save its output to a file, and name that",
        Remedy.NAME_FORMAT: "name the one it is under Format",
        Remedy.DECLARE_FORMAT: (
            "if you know the format, name it under Format, or a TOML file that declares it"
        ),
        Remedy.SPLIT_LOG: (
            "split the log if another format begins here; "
            "else leave it out, or name the format under Format"
        ),
        Remedy.ASK_AFRESH: "try another model",
        Remedy.KEEP_NO_ANSWERS: "free some space",
    }


def in_words(error: DeltaMemError, words: Mapping[Remedy, str]) -> DeltaMemError:
    """Return an error whose hint is a remedy, with a face's own words for it."""
    if not isinstance(error.hint, Remedy):
        return error
    return DeltaMemError(
        error.message, source=error.source, position=error.position, hint=words[error.hint]
    )


def if_gone(error: DeltaMemError, bank: Path, leave: str) -> DeltaMemError:
    """Return an error about the open bank; if the bank is gone, one that says so instead."""
    if not isinstance(error, BankError) or paths.is_bank(bank) or paths.is_archive(bank):
        return error
    return BankNotFoundError(
        "the bank is no longer there",
        source=one_line(str(bank), 200),
        hint=f"{leave} goes back to the banks",
    )


_CHARACTERS = 20_000
_SECONDS = {"information": 4.0, "warning": 4.0, "error": 15.0}
_LONGEST_SECONDS = 60.0
_READ_PER_SECOND = 12
_UNSEEN_SECONDS = 0.5
"""A user who types on when a note comes has not read it yet."""
_HISTORY = 50


@dataclass(frozen=True, slots=True)
class Note:
    """Something the program says."""

    text: str
    severity: str = "information"

    @property
    def shown(self) -> str:
        """The text, with a sign that tells its severity without colours."""
        sign = {"warning": "! ", "error": "✗ "}
        return f"{sign.get(self.severity, '')}{self.text}"


class Notes:
    """Shows notes in the bottom line, each long enough to be read."""

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
        """Show a note."""
        self._show(Note(clean(text)[:_CHARACTERS], "warning" if warning else "information"))

    def report(self, error: DeltaMemError) -> None:
        """Show an error."""
        self._show(Note(self.text_of(error), "error"))

    def keep(self, error: DeltaMemError) -> None:
        """Keep an error that is shown elsewhere among the last notes."""
        self.history.append(self.text_of(error))

    def text_of(self, error: DeltaMemError) -> str:
        """Return an error in terms that fit where the user is."""
        return clean(str(self._adapt(error)))[:_CHARACTERS]

    def seen(self) -> None:
        """Remove the note of a user who acts after reading it."""
        if self.current and time.monotonic() >= self._seen_from:
            self.clear()

    def clear(self) -> None:
        """Remove the note; the keys come back."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.current = None
        self.changed.publish(None)

    def _show(self, note: Note) -> None:
        """Replace the note before."""
        if self._timer is not None:
            self._timer.stop()
        self.current = note
        self.history.append(note.text)
        self._seen_from = time.monotonic() + _UNSEEN_SECONDS
        self.changed.publish(note)
        reading = min(len(note.text) / _READ_PER_SECOND, _LONGEST_SECONDS)
        self._timer = self._app.set_timer(max(_SECONDS[note.severity], reading), self.clear)
