"""The list of episodes."""

from __future__ import annotations

from itertools import chain

from rich.text import Text

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.text import counted
from deltamem_tui.tui.models.episodes import EpisodeBook, EpisodeLine
from deltamem_tui.tui.models.sections import title_of
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.text_pane import columns, line_of

_NARROW = 64
_KEPT = 512
_MARK, _STATE, _FACTS = 3, 7, 30
"""Cells of the mark of the outcome, of the state, and of all that is said at the right."""


class EpisodeList(LineList):
    """One episode a line.

    Attributes:
        book: The episodes; None until they were read.
    """

    def __init__(self) -> None:
        super().__init__()
        self.book: EpisodeBook | None = None
        self._lines: dict[int, EpisodeLine] = {}

    def show(self, book: EpisodeBook, sought: str = "", *, in_place: bool = False) -> None:
        """Show these episodes, the cursor on the one it was on.

        Args:
            book: The episodes.
            sought: The id of an episode that the cursor shall go to instead, if it is there.
            in_place: Whether the list is arranged as before: the cursor is then, if its episode
                has left the list, on the next one, or else on the one before.
        """
        before, at = self.book.ids if self.book else (), self.cursor
        known = chain(before[at:], reversed(before[:at])) if in_place else before[at : at + 1]
        places = {episode_id: place for place, episode_id in enumerate(book.ids)}
        wanted = (places[each] for each in chain((sought,), known) if each in places)
        self.book = book
        self._lines.clear()
        self.lines_changed(next(wanted, 0))

    def line_count(self) -> int:
        """Return how many episodes there are."""
        return len(self.book) if self.book else 0

    def line_text(self, line: int, width: int) -> Text:
        """Outcome, task, and what became of it."""
        try:
            episode = self._line(line)
        except DeltaMemError as error:
            return line_of((f" ✗ {error}", self.style_of("warning")))
        mark, name = {
            "success": ("✓", "good"),
            "failure": ("✗", "warning"),
            "unknown": ("?", "strong"),
        }[episode.outcome]
        quiet = self.style_of("quiet")
        room = width - _MARK - 1 - (_STATE if width < _NARROW else _FACTS)
        left = line_of((f" {mark} ", self.style_of(name)))
        entry = episode.task, self.book.ids[line] if self.book else ""
        left.append_text(self.mark(line_of((title_of(entry, room), None))))
        if width < _NARROW:
            return columns(left, line_of((episode.state, quiet)), width)
        right = f"{episode.source} · {counted(episode.steps, 'step')} · {episode.state:>7}"
        return columns(left, line_of((right, quiet)), width)

    def _line(self, line: int) -> EpisodeLine:
        if self.book is None:
            raise RuntimeError("an episode was drawn before it was there")
        if line not in self._lines:
            if len(self._lines) > _KEPT:
                self._lines.clear()
            self._lines[line] = self.book.line(line)
        return self._lines[line]
