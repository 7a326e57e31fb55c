"""The list of episodes to be reviewed."""

from __future__ import annotations

from rich.text import Text

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.tui.models.review import ReviewBook, ReviewLine
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.painting import columns, line_of

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
        """How many episodes there are."""
        return len(self.book) if self.book else 0

    def line_text(self, line: int, width: int) -> Text:
        """The task, and why it is here."""
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
