"""The outline of one tree: parses and draws only the lines one sees."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Literal

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.reactive import reactive

from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import NO_PARENT, Tree
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.display import Display
from deltamem_tui.text import counted
from deltamem_tui.tui.core.actions import bindings, of_scopes
from deltamem_tui.tui.core.browser import browser_of
from deltamem_tui.tui.core.state import EXPANDED_LIMIT, BankState
from deltamem_tui.tui.models.nodes import NodeLine, node_line
from deltamem_tui.tui.models.outline import (
    ArrangedNodes,
    DueRows,
    Family,
    Mask,
    NodeArrangement,
    Novelty,
    Outline,
)
from deltamem_tui.tui.models.sections import title_of
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.text_pane import columns, line_of


class Outlines(Horizontal):
    """An outline a tree, side by side; where there is no room, the one that is looked at.

    Attributes:
        views: Per tree, its outline.
        tree_name: The tree that is looked at.
    """

    SCOPED_CSS = False  # how much room there is, the screen above knows
    DEFAULT_CSS = """
    Outlines { height: 1fr; }
    Outlines OutlineView { width: 1fr; height: 1fr; border-top: solid $primary; }
    Outlines OutlineView:focus { border-top: heavy $accent; }
    .-narrow Outlines OutlineView.-aside { display: none; }
    .-wide Outlines { layout: vertical; }
    Outlines OutlineView.-unused { display: none; }
    """

    def __init__(self, names: Sequence[str], left: BankState, *, filtered: bool) -> None:
        super().__init__(id="outlines")
        self.views = {name: OutlineView(name) for name in names}
        self.tree_name = names[0]
        self._left = left
        self._folds: Mapping[str, Sequence[str]] | None = left.expanded if filtered else None
        self._shown_as: NodeArrangement | None = None

    def compose(self) -> ComposeResult:
        yield from self.views.values()

    def on_mount(self) -> None:
        self._mark_shown()
        self.shown.focus()

    def view(self, name: str) -> OutlineView:
        """Return the outline of a tree."""
        return self.views[name]

    @property
    def shown(self) -> OutlineView:
        """The outline that is looked at."""
        return self.views[self.tree_name]

    @property
    def next_tree(self) -> str:
        """The name of the tree behind the one that is looked at; behind the last, the first."""
        names = [name for name, view in self.views.items() if not view.has_class("-unused")]
        return names[(names.index(self.tree_name) + 1) % len(names)]

    def bring(self, name: str) -> None:
        """Look at a tree."""
        if name != self.tree_name:
            self._look_at(name)
        self.views[name].focus()

    def on_descendant_focus(self) -> None:
        focused = self.screen.focused
        if isinstance(focused, OutlineView) and focused.tree_name != self.tree_name:
            self._look_at(focused.tree_name)

    def _look_at(self, name: str) -> None:
        self.tree_name = name
        self._mark_shown()
        self.post_message(OutlineView.Moved(self.shown))

    def _mark_shown(self) -> None:
        for view in self.views.values():
            view.set_class(view is not self.shown, "-aside")

    # What is expanded

    def remembered(self, arrangement: NodeArrangement) -> BankState:
        """Return how they are left, arranged like this."""
        ids = {name: view.node_id for name, view in self.views.items()}
        return BankState(
            nodes={name: node_id for name, node_id in ids.items() if node_id},
            expanded=self._folds_of(EXPANDED_LIMIT),
            filter=arrangement.text,
            order=arrangement.order,
        )

    def keep_folds(self) -> None:
        """Keep what is expanded before a filter, which expands all that it finds."""
        if self._folds is None:
            nodes = sum(len(view.shown_tree or ()) for view in self.views.values())
            self._folds = self._folds_of(nodes)

    def show(self, arranged: ArrangedNodes) -> None:
        """Show the trees as they were arranged, cursors and what was expanded as they were."""
        before, self._shown_as = self._shown_as, arranged.arrangement
        same = before is not None and before.text == arranged.arrangement.text
        for name, view in self.views.items():
            if (family := arranged.families.get(name)) is None:
                continue  # another bank has taken the place of this one
            expanded = self._expanded(view, family, same_filter=same)
            node_id = view.node_id or self._left.nodes.get(name)
            display = arranged.displays.get(name)
            view.set_class(display is None, "-unused")
            shown = display or Display(name, name)
            words = arranged.arrangement.wanted.words
            view.show(Outline(family, expanded), arranged.due, node_id, shown, words)
        if arranged.arrangement.wanted.empty:
            self._folds = None

    def _expanded(self, view: OutlineView, family: Family, *, same_filter: bool) -> set[int]:
        """Return what is expanded: all that a filter found, but for what was collapsed since.

        Without a filter it is what was, also before one.
        """
        if family.kept is not None:
            collapsed = view.collapsed_ids() if same_filter else ()
            return family.parents() - family.rows_of(collapsed)
        if self._folds is not None:
            ids = self._folds.get(view.tree_name, ())
        elif view.outline is None:
            ids = self._left.expanded.get(view.tree_name, ())
        else:
            ids = view.expanded_ids(len(family.parent))
        return family.rows_of(ids)

    def _folds_of(self, limit: int) -> dict[str, list[str]]:
        """Return the ids of expanded nodes; under a filter, of those that were expanded before."""
        if self._folds is not None:
            return {name: list(self._folds.get(name, ()))[:limit] for name in self.views}
        return {name: view.expanded_ids(limit) for name, view in self.views.items()}

    # Their titles

    def head(self, filtered_by: str) -> None:
        """Show in the titles what they show.

        Args:
            filtered_by: The filter that the user sees. How many nodes fit is shown only if it
                is the one that the outlines are filtered by: not for one that is still being
                looked up, nor for one that cannot be read.
        """
        if self._shown_as is None:
            return
        counts = filtered_by == self._shown_as.text
        for view in self.views.values():
            if view.outline is not None:
                title = _title(view.shown_as.title, view.outline.family, counts=counts)
                if self._shown_as.order != "birth":
                    title += f" · by {self._shown_as.order}"
                view.border_title = Content(title)


def _title(name: str, family: Family, *, counts: bool) -> str:
    title = f"{name} · {counted(len(family.tree), 'node')}"
    if family.kept is not None and counts:
        title += f" · {int(family.kept.sum()):,} fit the filter"
    return title


_NOVELTIES: Mapping[Novelty, str] = {"added": "+ new", "changed": "~ changed"}
_OWN = frozenset(action.method.partition("(")[0] for action in of_scopes(["tree"]))
_KEPT_LINES = 512
_INDENT = 2
_NARROW = 34


class OutlineView(LineList):
    """One tree as an outline.

    Args:
        tree_name: The tree.
        past: Whether it shows what the tree was: then its keys belong to the screen, but for those
            that move the cursor.

    Attributes:
        tree_name: The tree.
        outline: What is shown; None until the bank was read.
        shown_as: How the tree is shown.
        parsed: How many nodes were parsed to draw lines, since the widget was made.
        moving: The id of the node that is being moved; empty if none is.
    """

    BINDINGS = [*bindings("tree")]  # noqa: RUF012 - textual reads it so

    moving: reactive[str] = reactive("", init=False)

    def __init__(self, tree_name: str, *, past: bool = False) -> None:
        super().__init__(id=tree_name if tree_name.isidentifier() else None)
        self.tree_name = tree_name
        self.outline: Outline | None = None
        self.parsed = 0
        self._past = past
        self._marks: Mapping[int, Novelty] = {}
        self._due: DueRows | None = None
        self.shown_as = Display(tree_name, tree_name)
        self._lines: OrderedDict[int, NodeLine] = OrderedDict()

    def show(
        self,
        outline: Outline,
        due: DueRows,
        node_id: str | None,
        display: Display,
        words: tuple[str, ...] = (),
    ) -> None:
        """Show an outline, the cursor on a node if it is there, else where it was.

        `words` are marked: those that the nodes are filtered by.
        """
        self.outline = outline
        self.words = words
        self._due = due
        self.shown_as = display
        self._lines.clear()
        line = None
        if node_id is not None and (row := self._row_of(node_id)) is not None:
            line = outline.reveal(row)
        self.lines_changed(line)

    def show_past(
        self, outline: Outline, display: Display, marks: Mapping[int, Novelty], line: int | None
    ) -> None:
        """Show what the tree was, the rows marked that were new, the cursor on a line."""
        self._marks = marks
        self.show(outline, lambda tree: tree.failure, None, display)
        if line is not None:
            self.lines_changed(line)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keep keys from folding what was."""
        if self._past and action in _OWN:
            return False
        return super().check_action(action, parameters)

    @property
    def shown_tree(self) -> Tree | None:
        """The tree as it is shown."""
        return self.outline.family.tree if self.outline else None

    @property
    def node(self) -> Node | None:
        """The node under the cursor."""
        if self.outline is None or not len(self.outline):
            return None
        return self.outline.family.tree.node_at(int(self.outline.rows[self.cursor]))

    @property
    def node_id(self) -> str | None:
        """The id of the node under the cursor, which is not read for it."""
        if self.outline is None or not len(self.outline):
            return None
        return self._ids([int(self.outline.rows[self.cursor])])[0]

    def expanded_ids(self, limit: int) -> list[str]:
        """Return the ids of nodes that are expanded."""
        return self._ids(sorted(self.outline.expanded)[:limit]) if self.outline else []

    def collapsed_ids(self) -> list[str]:
        """Return the ids of nodes that could be expanded and are not."""
        if self.outline is None:
            return []
        return self._ids(sorted(self.outline.family.parents() - self.outline.expanded))

    def _ids(self, rows: Sequence[int]) -> list[str]:
        ids: list[str] = (
            self._shown.family.tree.snapshot.index["id"][list(rows)].astype(str).tolist()
        )
        return ids

    def go_to(self, node_id: str) -> bool:
        """Put the cursor on a node. Returns whether it is shown."""
        row = self._row_of(node_id)
        line = self.outline.reveal(row) if self.outline and row is not None else None
        if line is None:
            return False
        self.lines_changed(line)
        return True

    def _row_of(self, node_id: str) -> int | None:
        tree = self.shown_tree
        if tree is None:
            return None
        birth = tree.snapshot.first_row(node_id)
        return None if birth is None else int(tree.snapshot.current[birth])

    def line_count(self) -> int:
        """Return how many lines there are."""
        return len(self.outline) if self.outline else 0

    def line_text(self, line: int, width: int) -> Text:
        """Return a node: its place, label and trigger at the left, its numbers at the right."""
        node = self._line(line)
        outline = self._shown
        strong = self.style_of("strong")
        row = int(outline.rows[line])
        label = self.ink(row, node)
        fold = "  "
        if outline.family.count(row):
            fold = "▾ " if row in outline.expanded else "▸ "
        left = line_of(
            (" " * self._indent(node.depth, width), None),
            (fold, strong),
            ("» " if node.id == self.moving else _mark(node), label or strong),
        )
        numbers = self.numbers(row, node, width)
        room = width - left.cell_len - numbers.cell_len - 1
        left.append_text(self.mark(line_of((self._title(row, room), label))))
        return columns(left, numbers, width)

    def ink(self, row: int, node: NodeLine) -> Style | None:
        """Return the style of a node's mark and title; None for the usual."""
        kept = self._shown.family.kept
        if kept is not None and not kept[row]:
            return self.style_of("quiet")
        if node.failure:
            return self.style_of("warning")
        return self.style_of("good") if row in self._marks else None

    def numbers(self, row: int, node: NodeLine, width: int) -> Text:
        """Return what stands at the right of a node's line. Counts are not known of what was."""
        if row in self._marks:
            return line_of((_NOVELTIES[self._marks[row]], self.style_of("good")))
        if self._past:
            return line_of((f"d{node.depth}", self.style_of("quiet")))
        return _numbers(node, width, self.style_of("quiet"))

    def _title(self, row: int, room: int) -> str:
        parent = int(self._shown.family.parent[row])
        below = parent != NO_PARENT and self.shown_as.layered
        return title_of(
            self._node_line(row).entry, room, self._node_line(parent).trigger if below else ""
        )

    def _indent(self, depth: int, width: int) -> int:
        """Deep nodes are not pushed out of sight: their depth is on the line."""
        return min((depth - 1) * _INDENT, width // 3)

    def _line(self, line: int) -> NodeLine:
        return self._node_line(int(self._shown.rows[line]))

    def _node_line(self, row: int) -> NodeLine:
        if row not in self._lines:
            family = self._shown.family
            tree, worth = family.tree, family.utility_text(row)
            self._lines[row] = node_line(
                tree, tree.node_at(row), tree.counts_at(row), self.shown_as, worth
            )
            self.parsed += 1
            if len(self._lines) > _KEPT_LINES:
                self._lines.popitem(last=False)
        return self._lines[row]

    @property
    def _shown(self) -> Outline:
        if self.outline is None:
            raise RuntimeError("an outline was drawn before it was there")
        return self.outline

    def clicked(self, line: int, column: int) -> None:
        """Fold a node by a click on the sign before it, or a second one on the node."""
        sign = self._indent(self._line(line).depth, self.scrollable_content_region.width)
        on_sign = sign <= column < sign + _INDENT
        again = line == self.cursor
        self.cursor = line
        if on_sign or again:
            self.action_fold()

    def action_expand(self) -> None:
        if not self.line_count():
            return
        if self._shown.expand_lone(self.cursor):
            self.lines_changed()
        elif self._shown.family.count(int(self._shown.rows[self.cursor])):
            self.cursor += 1

    def action_collapse(self) -> None:
        if not self.line_count():
            return
        if self._shown.collapse(self.cursor):
            self.lines_changed()
        else:
            self.action_parent()

    def action_fold(self) -> None:
        if self.line_count() and (
            self._shown.collapse(self.cursor) or self._shown.expand(self.cursor)
        ):
            self.lines_changed()

    def action_expand_below(self) -> None:
        if self.line_count() and self._shown.expand_below(self.cursor):
            self.lines_changed()

    def action_collapse_all(self) -> None:
        if self.line_count():
            row = int(self._shown.rows[self._shown.root_line(self.cursor)])
            self._shown.collapse_all()
            self.lines_changed(self._shown.line_of(row))

    def action_parent(self) -> None:
        if self.line_count():
            self.cursor = self._shown.parent_line(self.cursor)

    def action_root(self) -> None:
        if self.line_count():
            self.cursor = self._shown.root_line(self.cursor)

    def to_match(self, direction: int) -> None:
        """Go to the next node that fits the filter, or the one before; it goes round."""
        kept = self._shown.family.kept if self.line_count() else None
        if kept is not None:
            row = self._shown.seek(kept, self.cursor, direction)
            self.lines_changed(None if row is None else self._shown.reveal(row))

    def action_seek(self, what: Literal["failure", "due"], direction: int) -> None:
        """Go to the next node of a kind, also if it is collapsed."""
        try:
            wanted = self._wanted(what)
        except DeltaMemError as error:  # the numbers of the bank's method cannot be read
            browser_of(self).notes.report(error)
            return
        row = None if wanted is None else self._shown.seek(wanted, self.cursor, direction)
        if row is None:
            names = {"failure": "no failure", "due": "no node that is due to be fused"}
            browser_of(self).notes.notify(f"{names[what]} is shown in this tree")
            return
        self.lines_changed(self._shown.reveal(row))

    def _wanted(self, what: Literal["failure", "due"]) -> Mask | None:
        tree = self.shown_tree
        if tree is None or self._due is None or not self.line_count():
            return None
        return tree.failure if what == "failure" else self._due(tree)


def _mark(node: NodeLine) -> str:
    """Failures can be told without colours."""
    if node.failure:
        return "✗ "
    return "● " if node.root else "○ "


def _numbers(node: NodeLine, width: int, style: Style) -> Text:
    fused = "≡" if node.consolidated else " "
    hits = f"{node.hits:,}×" if node.hits else "·"
    if width < _NARROW:
        return line_of((f"{hits}{fused}", style))
    return line_of((f"d{node.depth} {hits:>4}{node.utility}{fused}", style))
