"""A tree's answer: candidates with their numbers, and the threshold drawn among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.widget import Widget

from deltamem_tui.bank.node import Node
from deltamem_tui.tui.models.recall_lab import MatchLine
from deltamem_tui.tui.models.titles import Title, titles
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.painting import line_of, told_apart

if TYPE_CHECKING:
    from deltamem_tui.memory.vectors.search import Candidate

_SCORE = " score "
_FAILURE = "✗ "
_PENALTY, _SIMILARITY = "penalty ", "similarity "
_CHANGES = {"gained": "+", "lost": "−"}
_MARKS = {"▶": "good", "+": "good", "−": "warning", " ": "quiet"}
"""Before a match, one that only the numbers that are tried find, and one that they lose."""


def _parts_width(width: int, name: str) -> int:
    """The cells that say more of a score; with it they take less than half of a line."""
    return len(name) if 2 * len(_SCORE + name) < width else 0


class MatchHeading(Widget):
    """What the columns of a match list are.

    Args:
        penalised: Whether a score is a similarity less a penalty.
    """

    DEFAULT_CSS = "MatchHeading { height: 1; text-style: dim; }"

    def __init__(self, *, penalised: bool) -> None:
        super().__init__()
        self._part = _PENALTY if penalised else _SIMILARITY

    def render(self) -> Text:
        """The line, as wide as the list below."""
        part = self._part[: _parts_width(self.size.width, self._part)]
        return line_of((f"{_SCORE}{part}node", None))


class MatchList(LineList):
    """The candidates of one collection.

    Attributes:
        lines: What is shown.
    """

    def __init__(self, *, penalised: bool, id: str) -> None:  # noqa: A002 - textual's word
        super().__init__(id=id)
        self._part = _PENALTY if penalised else _SIMILARITY
        self.lines: Sequence[MatchLine] = ()
        self._titles: dict[str, Title] = {}
        self._titles_room = 0

    def show(self, lines: Sequence[MatchLine]) -> None:
        """Show these candidates, the cursor on the best."""
        self.lines = lines
        self._titles = {}
        self.lines_changed(0)

    @property
    def node(self) -> Node | None:
        """The node under the cursor."""
        if not self.lines:
            return None
        candidate = self.lines[self.cursor].candidate
        return candidate.node if candidate else None

    def line_count(self) -> int:
        """How many lines there are."""
        return len(self.lines)

    def line_text(self, line: int, width: int) -> Text:
        """Score, what it is made of, and the title; or the threshold."""
        told = self.lines[line]
        quiet, strong = self.style_of("quiet"), self.style_of("strong")
        if told.candidate is None:
            rule = f"──── {told.text} "
            return line_of((rule + "─" * max(width - len(rule), 0), strong))
        candidate = told.candidate
        failure = candidate.node.label == "failure"
        style = self.style_of("warning") if failure else None
        mark = _CHANGES.get(told.change) or ("▶" if told.kind == "match" else " ")
        parts = _parts_width(width, self._part)
        left = line_of(
            (f"{mark}{candidate.score:.3f} ", self.style_of(_MARKS[mark])),
            (f"{self._more(candidate):<{parts}}" if parts else "", quiet),
        )
        room = width - left.cell_len - len(_FAILURE)
        left.append_text(line_of((_FAILURE if failure else "", style)))
        left.append_text(told_apart(self._title(candidate.node.id, room), style, quiet))
        return left

    def _title(self, node_id: str, room: int) -> Title:
        """What tells a candidate from the others."""
        if not self._titles or room != self._titles_room:
            nodes = [each for each in self.lines if each.candidate]
            found = titles([each.entry for each in nodes], room)
            self._titles = {each.entry[-1]: title for each, title in zip(nodes, found, strict=True)}
            self._titles_room = room
        return self._titles[node_id]

    def _more(self, candidate: Candidate) -> str:
        """What else is to be said of a score."""
        if self._part is _SIMILARITY:
            return f"{candidate.similarity:.3f}"
        return f"−{candidate.penalty:.2f}" if candidate.penalty else ""
