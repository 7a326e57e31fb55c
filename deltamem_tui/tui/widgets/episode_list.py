"""The list of episodes."""

from __future__ import annotations

from rich.text import Text

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.text import counted
from deltamem_tui.tui.models.episodes import EpisodeBook, EpisodeLine
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.painting import columns, line_of

_NARROW = 64


class EpisodeList(LineList):
    """One episode a line.

    Attributes:
        book: The episodes; None until they were read.
    """

    def __init__(self) -> None:
        super().__init__()
        self.book: EpisodeBook | None = None
        self._lines: dict[int, EpisodeLine] = {}

    def show(self, book: EpisodeBook) -> None:
        """Show these episodes, the cursor on the one it was on."""
        before = self.book.ids[self.cursor] if self.book and len(self.book) else None
        self.book = book
        self._lines.clear()
        place = book.ids.index(before) if before in book.ids else 0
        self.lines_changed(place)

    def line_count(self) -> int:
        """How many episodes there are."""
        return len(self.book) if self.book else 0

    def line_text(self, line: int, width: int) -> Text:
        """Outcome, task, and what became of it."""
        try:
            said = self._line(line)
        except DeltaMemError as error:
            return line_of((f" ✗ {error}", self.style_of("warning")))
        mark, name = {
            "success": ("✓", "good"),
            "failure": ("✗", "warning"),
            "unknown": ("?", "strong"),
        }[said.outcome]
        left = line_of((f" {mark} ", self.style_of(name)), (said.task, None))
        if width < _NARROW:
            return columns(left, line_of((said.state, self.style_of("quiet"))), width)
        right = f"{said.source} · {counted(said.steps, 'step')} · {said.state:>7}"
        return columns(left, line_of((right, self.style_of("quiet"))), width)

    def _line(self, line: int) -> EpisodeLine:
        if self.book is None:
            raise RuntimeError("an episode was drawn before it was there")
        if line not in self._lines:
            if len(self._lines) > 512:
                self._lines.clear()
            self._lines[line] = self.book.line(line)
        return self._lines[line]
