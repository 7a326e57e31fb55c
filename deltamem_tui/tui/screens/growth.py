"""Learning replayed: the trees as they were after each commit, and what the commit brought."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from deltamem_tui.bank.table import Rows
from deltamem_tui.bank.tree import NO_PARENT, Tree
from deltamem_tui.bank.undo import Past, TreeChange
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.methods import display_of, is_shown
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.core.background import Inquiry, Stopped
from deltamem_tui.tui.core.bank_session import OpenBank
from deltamem_tui.tui.models.nodes import entry_of
from deltamem_tui.tui.models.outline import Family, Novelty, Outline
from deltamem_tui.tui.models.sections import Section, local_time
from deltamem_tui.tui.screens.base import BankScreen, bottom_bars
from deltamem_tui.tui.widgets.bars import TopBar
from deltamem_tui.tui.widgets.outline_view import OutlineView
from deltamem_tui.tui.widgets.text_pane import TextPane, line_of

MOST_REVEALED = 500
"""Of a commit that brought more nodes than this, so many are made visible."""

_MOST_LISTED = 20
_MOST_FACTS = 20
_FACT_WIDTH = 300


@dataclass(frozen=True, slots=True)
class GrownTree:
    """A tree as it was after a commit.

    Attributes:
        outline: Its lines, all expanded that holds what the commit brought.
        display: How it is shown.
        marks: Per row that the commit brought, whether the node was added or changed.
        first: The line of the first of them; None if there is none.
    """

    outline: Outline
    display: Display
    marks: Mapping[int, Novelty]
    first: int | None


@dataclass(frozen=True, slots=True)
class Growth:
    """A bank after one of its commits.

    Attributes:
        number: Which of the commits that can be looked at.
        trees: Per tree that is shown, what it was.
        sections: What the commit says, and what it did.
    """

    number: int
    trees: Mapping[str, GrownTree]
    sections: list[Section]


def growth_at(past: Past, number: int) -> Growth:
    """Look at a bank as it was after a commit.

    Raises:
        BankError: The bank was rewritten since, or cannot be read.
    """
    names = _shown(past)
    changes = {name: past.change(number, name) for name in names}
    grown = {name: _grown(past, number, name, changes[name]) for name in names}
    return Growth(number, grown, list(_sections(past, number, grown, changes)))


def sizes(past: Past) -> list[int]:
    """Return how many nodes the trees that are shown had after each commit."""
    per_tree = [past.sizes(name).tolist() for name in _shown(past)]
    return [sum(each) for each in zip(*per_tree, strict=True)]


def _shown(past: Past) -> list[str]:
    return [name for name in past.bank.trees if is_shown(past.bank, name)]


def _grown(past: Past, number: int, name: str, change: TreeChange) -> GrownTree:
    family = Family(past.tree(number, name))
    marks: dict[int, Novelty] = dict.fromkeys(change.changed.tolist(), "changed")
    marks |= dict.fromkeys(change.added.tolist(), "added")
    brought = np.concatenate((change.added, change.changed))[:MOST_REVEALED]
    outline = Outline(family, _above(family, brought))
    lines = np.flatnonzero(np.isin(outline.rows, brought))
    first = int(lines[0]) if len(lines) else None
    return GrownTree(outline, display_of(past.bank, name), marks, first)


def _above(family: Family, rows: Rows) -> list[int]:
    """Return all nodes above some, level by level."""
    found = np.zeros(len(family.parent), dtype=np.bool_)
    while len(rows):
        rows = np.unique(family.parent[rows])
        rows = rows[rows != NO_PARENT]
        rows = rows[~found[rows]]
        found[rows] = True
    above: list[int] = np.flatnonzero(found).tolist()
    return above


def _sections(
    past: Past,
    number: int,
    grown: Mapping[str, GrownTree],
    changes: Mapping[str, TreeChange],
) -> Iterator[Section]:
    moment = commit = past.moments[number]
    detail = dict(commit.detail)
    reasons = detail.pop("trees", None)
    reasons = reasons if isinstance(reasons, dict) else {}
    task = _task(past, detail.get("trajectory"))
    lines = [task] if task is not None else []
    lines += [
        f"{tree.display.title}: {_what(changes[name])}{_why(reasons.get(name))}"
        f" · {counted(len(tree.outline.family.tree), 'node')} in all"
        for name, tree in grown.items()
    ]
    yield Section(f"{one_line(moment.event, 40)} · {local_time(moment.time)}", "\n".join(lines))
    if not number and (why := beginning(past)):
        yield Section("Nothing earlier can be shown", why, warning=True)
    for name, change in changes.items():
        if len(change.deleted):
            deleted = "\n".join(_titles(past.bank.tree(name), change.deleted, grown[name].display))
            yield Section(f"Deleted from the {grown[name].display.title}", deleted)
    if facts := "\n".join(_facts(detail)):
        yield Section("The journal says", facts, quiet=True)


def beginning(past: Past) -> str:
    """Return why nothing is known from before the first commit; empty if there was nothing."""
    if past.begins_empty:
        return ""
    if not past.moments:
        return "This bank came without its journal: how it grew is not known."
    first = past.moments[0]
    if first.replaces:
        return (
            f"`{one_line(first.event, 40)}` wrote the bank's files anew on "
            f"{local_time(first.time)}: earlier states were compacted away."
        )
    return "The journal of this bank begins here: how it came to this is not known."


def _what(change: TreeChange) -> str:
    counts = {"added": change.added, "changed": change.changed, "deleted": change.deleted}
    told = [f"{counted(len(rows), 'node')} {done}" for done, rows in counts.items() if len(rows)]
    return ", ".join(told) or "nothing new"


def _why(reason: object) -> str:
    """Return what was decided on a tree, and why, if the commit states that."""
    if not isinstance(reason, dict):
        return ""
    words = [reason.get("decision"), reason.get("reason")]
    told = ": ".join(one_line(each, 200) for each in words if isinstance(each, str) and each)
    return f" ({told})" if told else ""


def _task(past: Past, episode: object) -> str | None:
    """Return the task of the episode that a commit is about, if the bank has it."""
    record = past.bank.episodes.record(episode) if isinstance(episode, str) else None
    task = (record or {}).get("task")
    return one_line(task, 600) if isinstance(task, str) else None


def _titles(tree: Tree, rows: Rows, display: Display) -> Iterator[str]:
    for row in rows[:_MOST_LISTED].tolist():
        yield f"- {one_line(entry_of(tree, tree.node_at(row), display)[0], 200)}"
    if len(rows) > _MOST_LISTED:
        yield f"… and {len(rows) - _MOST_LISTED:,} more"


def _facts(detail: Mapping[str, Any]) -> Iterator[str]:
    """Return what else a commit states, a line each."""
    for name, value in list(detail.items())[:_MOST_FACTS]:
        if isinstance(value, list) and len(value) > 1:
            told = f"{len(value):,}: {', '.join(map(str, value[:5]))}"
        else:
            told = str(value)
        yield one_line(f"{name} {told}", _FACT_WIDTH)


_HEIGHTS = "▁▂▃▄▅▆▇█"
_PAGE = 10


class GrowthSlider(Widget, can_focus=True):
    """How many nodes there were after each commit, and which commit is looked at.

    Attributes:
        sizes: Per commit, how many nodes there were.
        number: The commit that is looked at.
    """

    COMPONENT_CLASSES = {"slider--past", "slider--here"}  # noqa: RUF012 - textual reads it so
    DEFAULT_CSS = """
    GrowthSlider {
        height: 2; border-top: solid $primary; border-title-color: $foreground;
        color: $foreground 60%;
        &:focus { border-top: heavy $accent; border-title-style: bold; }
        & > .slider--past { color: $text-primary; }
        & > .slider--here { color: $text; background: $primary; text-style: bold; }
        &:ansi { color: ansi_default; border-title-color: ansi_default; }
        &:ansi > .slider--past { color: ansi_cyan; }
        &:ansi > .slider--here {
            color: ansi_default; background: ansi_default; text-style: bold reverse;
        }
    }
    """
    BINDINGS = [*bindings("list")]  # noqa: RUF012 - textual reads it so

    number: reactive[int] = reactive(0, init=False)

    class Went(Message):
        """Another commit is looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: Sequence[int] = ()

    def show(self, sizes: Sequence[int], number: int) -> None:
        """Show other commits; one of them is looked at."""
        self.sizes = sizes
        self.set_reactive(GrowthSlider.number, self.validate_number(number))
        self.refresh()
        self.post_message(self.Went())

    def validate_number(self, number: int) -> int:
        return max(0, min(number, len(self.sizes) - 1))

    def watch_number(self) -> None:
        self.post_message(self.Went())

    def render(self) -> Text:
        """Return a column a commit, or a commit in some columns: as high as there were nodes."""
        width, count = self.content_size.width, len(self.sizes)
        if not count or not width:
            return Text()
        past, here = (
            self.get_component_rich_style(f"slider--{name}", partial=True)
            for name in ("past", "here")
        )
        most = max(self.sizes) or 1
        line = line_of()
        at = min(range(width), key=lambda column: abs(self._commit_at(column) - self.number))
        for column in range(width):
            size = self.sizes[self._commit_at(column)]
            style = here if column == at else past if column < at else Style.null()
            line.append(_HEIGHTS[(len(_HEIGHTS) - 1) * size // most], style)
        return line

    def _commit_at(self, column: int) -> int:
        """Return which commit a column stands for."""
        return round(column * (len(self.sizes) - 1) / max(self.content_size.width - 1, 1))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset_capture(self)
        if self.sizes and offset.y >= 0:
            self.number = self._commit_at(offset.x)

    def action_move_cursor(self, commits: int) -> None:
        self.number += commits

    def action_move_page(self, pages: int) -> None:
        self.number += pages * max(len(self.sizes) // _PAGE, 1)

    def action_move_to_end(self, direction: int) -> None:
        self.number = 0 if direction < 0 else len(self.sizes) - 1


_SECONDS_A_COMMIT = 0.5


class GrowthScreen(BankScreen):
    """A slider above, the trees of then below it, and what the commit says.

    Attributes:
        playing: Whether it goes on to the next commit by itself.
    """

    SCOPES = ("growth", "list", "bank", "app")
    BINDINGS: ClassVar = [*bindings("growth")]
    DEFAULT_CSS = """
    GrowthScreen #then { height: 1fr; }
    GrowthScreen #grown { height: 2fr; }
    GrowthScreen TextPane { height: 1fr; border-top: solid $primary; padding: 0 1; }
    GrowthScreen TextPane:focus { border-top: heavy $accent; }
    GrowthScreen.-narrow #grown { layout: vertical; }
    GrowthScreen.-wide #then { layout: horizontal; }
    GrowthScreen.-wide #grown { width: 2fr; height: 1fr; }
    GrowthScreen.-wide TextPane { width: 1fr; }
    GrowthScreen OutlineView { width: 1fr; height: 1fr; border-top: solid $primary; }
    GrowthScreen OutlineView:focus { border-top: heavy $accent; }
    GrowthScreen OutlineView.-unused { display: none; }
    """

    def __init__(self, home: OpenBank) -> None:
        super().__init__(home)
        self._reading = Inquiry(self, "reading the journal")
        self._looking = Inquiry(self, "looking back")
        self._past: Past | None = None
        self._timer: Timer | None = None
        self._slider = GrowthSlider()
        self._pane = TextPane()
        self._outlines = {name: OutlineView(name, past=True) for name in home.bank.trees}

    def compose(self) -> ComposeResult:
        yield TopBar("DeltaMem", "growth")
        yield self._slider
        with Vertical(id="then"):
            with Horizontal(id="grown"):
                yield from self._outlines.values()
            yield self._pane
        yield from bottom_bars(self.SCOPES)

    def on_mount(self) -> None:
        self._slider.border_title = "reading the journal …"
        self._pane.border_title = "commit"
        self.offer("earlier", "later", "play", when=False)
        self._slider.focus()

    def on_lookup_failed(self) -> None:
        """Say that nothing is read any more; what is wrong is reported by the program."""
        if self._past is None:
            self._slider.border_title = "the journal cannot be read"

    @property
    def playing(self) -> bool:
        """True if it goes on to the next commit by itself."""
        return self._timer is not None

    def bank_changed(self) -> None:
        """Read the journal again."""
        bank = self.bank

        def read(_: Stopped) -> tuple[Past, list[int]]:
            past = Past.read(bank)
            return past, sizes(past)

        self._reading.ask(read, lambda found: self._show_past(*found))

    def _show_past(self, past: Past, nodes: Sequence[int]) -> None:
        """Show the last commit, or the one that was looked at, if it is still there."""
        before, at = self._past, self._slider.number
        self._past, last = past, len(past.moments) - 1
        number = last
        if before is not None and at < len(before.moments) - 1:
            sequence = before.moments[at].sequence
            places = {each.sequence: place for place, each in enumerate(past.moments)}
            number = places.get(sequence, last)
        self.query_one("#grown").display = bool(past.moments)
        self.offer("earlier", "later", "play", when=len(past.moments) > 1)
        if not past.moments:
            self._slider.border_title = "no commits"
            self._pane.show([Section("Nothing can be shown", beginning(past))])
        self._slider.show(nodes, number)

    def on_growth_slider_went(self) -> None:
        past, number = self._past, self._slider.number
        if past is None or not past.moments:
            return
        moment = past.moments[number]
        words = f"commit {number + 1:,} of {len(past.moments):,} · {one_line(moment.event, 40)}"
        self._slider.border_title = Content(words)
        self._looking.ask(lambda _: growth_at(past, number), self._show, at_once=True)

    def _show(self, growth: Growth) -> None:
        """Show the trees of then, unless the slider has gone on."""
        if growth.number != self._slider.number:
            return
        for name, view in self._outlines.items():
            grown = growth.trees.get(name)
            view.set_class(grown is None, "-unused")
            if grown is not None:
                view.show_past(grown.outline, grown.display, grown.marks, grown.first)
                nodes = counted(len(grown.outline.family.tree), "node")
                view.border_title = Content(f"{grown.display.title} · {nodes}")
        self._pane.show(growth.sections)

    def readable(self) -> Sequence[Section]:
        """Return what the commit says."""
        return self._pane.sections

    def action_go(self, commits: int) -> None:
        self._stop()
        self._slider.number += commits

    def action_play(self) -> None:
        """Go on by itself, from the first commit if this is the last; or stops."""
        if self.playing or self._past is None or not self._past.moments:
            self._stop()
            return
        if self._slider.number == len(self._past.moments) - 1:
            self._slider.number = 0
        self._timer = self.set_interval(_SECONDS_A_COMMIT, self._go_on)

    def _go_on(self) -> None:
        """Go to the next commit once this one is shown; stops at the last."""
        if self._looking.under_way or self._past is None:
            return
        self._slider.number += 1
        if self._slider.number >= len(self._past.moments) - 1:
            self._stop()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def on_screen_suspend(self) -> None:
        self._stop()
