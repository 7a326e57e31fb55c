"""A tree's answer: candidates with their numbers, and the threshold drawn among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.widget import Widget

from deltamem_tui.bank.node import Node
from deltamem_tui.tui.models.recall_lab import MatchLine
from deltamem_tui.tui.models.words import distinguished
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.painting import line_of

if TYPE_CHECKING:
    from deltamem_tui.memory.vectors.search import Candidate

_NARROW = 56
_SCORE = " score "
_SUM, _ALONE = "= similarity − penalty ", "similarity "


class MatchHeading(Widget):
    """What the columns of a match list are.

    Args:
        penalised: Whether a score is a similarity less a penalty.
    """

    DEFAULT_CSS = "MatchHeading { height: 1; text-style: dim; }"

    def __init__(self, *, penalised: bool) -> None:
        super().__init__()
        self._parts = _SUM if penalised else _ALONE

    def render(self) -> Text:
        """The line, as wide as the list below."""
        return line_of((f"{_SCORE}{self._parts if self.size.width > _NARROW else ''}node", None))


class MatchList(LineList):
    """The candidates of one collection.

    Attributes:
        lines: What is shown.
    """

    def __init__(self, *, penalised: bool, id: str) -> None:  # noqa: A002 - textual's word
        super().__init__(id=id)
        self._parts = _sum if penalised else _similarity
        self.lines: Sequence[MatchLine] = ()

    def show(self, lines: Sequence[MatchLine]) -> None:
        """Show these candidates, the cursor on the best."""
        self.lines = lines
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
        """Score, what it is made of, and the trigger; or the threshold."""
        shown = self.lines[line]
        quiet, strong = self.style_of("quiet"), self.style_of("strong")
        if shown.candidate is None:
            rule = f"──── {shown.text} "
            return line_of((rule + "─" * max(width - len(rule), 0), strong))
        candidate = shown.candidate
        failure = candidate.node.label == "failure"
        style = self.style_of("warning") if failure else None
        mark = "▶" if shown.kind == "match" else " "
        left = line_of(
            (f"{mark}{candidate.score:.3f} ", self.style_of("good") if mark == "▶" else quiet),
            (self._parts(candidate) if width >= _NARROW else "", quiet),
            ("✗ " if failure else "", style),
        )
        before = self.lines[line - 1].text if line else ""
        left.append_text(line_of((distinguished(shown.text, before, width - left.cell_len), style)))
        return left


def _similarity(candidate: Candidate) -> str:
    return f"{candidate.similarity:<{len(_ALONE)}.3f}"


def _sum(candidate: Candidate) -> str:
    """What the score is made of, each number below its heading."""
    penalty = f"− {candidate.penalty:<8.2f}" if candidate.penalty else " " * 10
    return f"= {candidate.similarity:<11.3f}{penalty}"
