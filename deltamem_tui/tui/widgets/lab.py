"""A tree's answer: candidates with their numbers, and the threshold drawn among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.display import Display
from deltamem_tui.text import count_tokens, counted
from deltamem_tui.tui.models.recall_lab import (
    NOTHING_RECALLED,
    LabAnswer,
    MatchLine,
    near_misses,
    number_label,
)
from deltamem_tui.tui.models.sections import Section, title_of
from deltamem_tui.tui.widgets.inputs import NumberInput
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.text_pane import TextPane, line_of

if TYPE_CHECKING:
    from deltamem_tui.memory.vectors.search import Candidate


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
        with Horizontal(classes="numbers -below" if self._below else "numbers"):
            for line in self.numbers:
                with Horizontal(classes="number"):
                    yield Static(Text(number_label(line.number.name)))
                    yield line
        yield MatchHeading(penalised=self.shown_as.penalised)
        yield self.matches
        yield self._placement

    def on_resize(self) -> None:
        numbers = self.query_one(".numbers")
        parts = numbers.children
        wanted = sum(each.outer_size.width + each.styles.margin.width for each in parts)
        numbers.set_class(wanted > self.size.width, "-folded")

    def show(self, lines: Sequence[MatchLine], placement: str = "") -> None:
        """Show candidates, and where an episode with this question would be written."""
        self.matches.show(lines)
        self._placement.update(Text(placement))

    def head(self, *parts: str) -> None:
        """Say in the title what the collection is and has; empty parts are left out."""
        self.border_title = Content(" · ".join(filter(None, (self.shown_as.title, *parts))))


class ContextPane(TextPane):
    """The context of an answer in the lab."""

    def on_mount(self) -> None:
        self.border_title = "context"

    def explain(self, words: str) -> None:
        """Say what can be asked."""
        self.border_title = "context"
        self.show([Section("", words, quiet=True)])

    def asking(self) -> None:
        """Say that another answer is on its way."""
        self.border_title = "context · asking …"

    def waiting(self) -> None:
        """Say what the first answer waits for."""
        words = "The embedding model is being loaded. The answer comes once it is there."
        self.show([Section("", words, quiet=True)])

    def failed(self, error: DeltaMemError) -> None:
        """Say why there is no answer."""
        self.border_title = "context"
        self.show([Section("No answer", str(error), warning=True)])

    def answered(self, bank: Bank, given: LabAnswer) -> None:
        """Show the context; where nothing is recalled, the nodes that came nearest."""
        context = given.found.context if given.found else ""
        self.border_title = Content(f"context · {counted(count_tokens(context), 'token')}")
        nearest = [] if context else near_misses(bank, given)
        self.show([Section("", context or NOTHING_RECALLED), *nearest])


_SCORE = " score "
_FAILURE = "✗ "
_PENALTY, _SIMILARITY = "penalty ", "similarity "
_CHANGES = {"gained": "+", "lost": "−"}
_MARKS = {"▶": "good", "+": "good", "−": "warning", " ": "quiet"}
"""Before a match, one that only the numbers that are tried find, and one that they lose."""


def _parts_width(width: int, name: str) -> int:
    """Return the cells that say more of a score; with it they take less than half of a line."""
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
        """Return how many lines there are."""
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
        left.append_text(line_of((title_of(told.entry, room), style)))
        return left

    def _more(self, candidate: Candidate) -> str:
        """Return what else is to be said of a score."""
        if self._part is _SIMILARITY:
            return f"{candidate.similarity:.3f}"
        return f"−{candidate.penalty:.2f}" if candidate.penalty else ""
