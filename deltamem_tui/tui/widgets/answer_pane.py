"""What one collection answers in the recall lab: candidates, and what would be written."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from deltamem_tui.memory.display import Display
from deltamem_tui.tui.models.lab_numbers import number_label
from deltamem_tui.tui.models.recall_lab import MatchLine
from deltamem_tui.tui.widgets.match_list import MatchHeading, MatchList
from deltamem_tui.tui.widgets.number_input import NumberInput


class AnswerPane(Vertical):
    """The answer of a collection.

    Args:
        tree: The collection.
        display: How it is shown.
        numbers: The lines for its numbers.
        below: Whether these stand below each other, however much room there is.

    Attributes:
        collection: The same.
        shown_as: How it is shown.
        numbers: The lines for its numbers.
        matches: Its candidates.
    """

    DEFAULT_CSS = """
    AnswerPane { width: 1fr; border-top: solid $primary; }
    AnswerPane:focus-within { border-top: heavy $accent; }
    AnswerPane .numbers, AnswerPane .number { height: 1; }
    AnswerPane .number { width: auto; margin-right: 1; }
    AnswerPane .number > Static { width: auto; padding: 0 1; }
    AnswerPane .numbers.-folded { layout: grid; grid-size: 2; grid-columns: auto; height: auto; }
    AnswerPane .number > Input.-invalid { color: $text-error; text-style: bold reverse; }
    .-narrow AnswerPane .numbers, AnswerPane .numbers.-below { layout: vertical; height: auto; }
    AnswerPane MatchList { height: 1fr; }
    AnswerPane .placement { height: auto; max-height: 2; padding: 0 1; color: $text-muted; }
    """

    def __init__(
        self, tree: str, display: Display, numbers: Sequence[NumberInput], *, below: bool
    ) -> None:
        super().__init__(id=f"{tree}-answer")
        self.collection = tree
        self.shown_as = display
        self.numbers = numbers
        self.matches = MatchList(id=f"{tree}-matches", penalised=display.penalised)
        self._below = below
        self._placement = Static(id=f"{tree}-placement", classes="placement", markup=False)

    def compose(self) -> ComposeResult:
        """The numbers, the candidates, and where an episode would be written."""
        with Horizontal(classes="numbers -below" if self._below else "numbers"):
            for line in self.numbers:
                with Horizontal(classes="number"):
                    yield Static(Text(number_label(line.number.name)))
                    yield line
        yield MatchHeading(penalised=self.shown_as.penalised)
        yield self.matches
        yield self._placement

    def on_resize(self) -> None:
        """Folds numbers that one line has no room for."""
        numbers = self.query_one(".numbers")
        parts = numbers.children
        wanted = sum(each.outer_size.width + each.styles.margin.width for each in parts)
        numbers.set_class(wanted > self.size.width, "-folded")

    def show(self, lines: Sequence[MatchLine], placement: str = "") -> None:
        """Shows candidates, and where an episode with this question would be written."""
        self.matches.show(lines)
        self._placement.update(Text(placement))

    def head(self, *parts: str) -> None:
        """Says in the title what the collection is and has; empty parts are left out."""
        self.border_title = Content(" · ".join(filter(None, (self.shown_as.title, *parts))))
