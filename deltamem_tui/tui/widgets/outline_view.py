"""The outline of one tree: parses and draws only the lines one sees."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Literal

from rich.style import Style
from rich.text import Text
from textual.reactive import reactive

from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.bank.tree_index import NO_PARENT
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.display import Display
from deltamem_tui.tui.core.actions import bindings, of_scopes
from deltamem_tui.tui.core.browser import browser_of
from deltamem_tui.tui.models.arrangement import DueRows
from deltamem_tui.tui.models.family import Mask
from deltamem_tui.tui.models.nodes import NodeLine, node_line
from deltamem_tui.tui.models.outline import Novelty, Outline
from deltamem_tui.tui.models.titles import BLOCK, Title, titles
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.painting import columns, line_of, told_apart

_NOVELTIES: Mapping[Novelty, str] = {"added": "+ new", "changed": "~ changed"}
_OWN = frozenset(action.method.partition("(")[0] for action in of_scopes(["tree"]))
_KEPT_LINES = 512
_KEPT_TITLES = 2_048
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
        self._titles: dict[tuple[int, int], Title] = {}

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
        self._titles.clear()
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
        """What was is not folded by keys."""
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
        """The ids of nodes that are expanded."""
        return self._ids(sorted(self.outline.expanded)[:limit]) if self.outline else []

    def collapsed_ids(self) -> list[str]:
        """The ids of nodes that could be expanded and are not."""
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
        """How many lines there are."""
        return len(self.outline) if self.outline else 0

    def line_text(self, line: int, width: int) -> Text:
        """A node: its place, label and trigger at the left, its numbers at the right."""
        node = self._line(line)
        outline = self._shown
        quiet, strong = self.style_of("quiet"), self.style_of("strong")
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
        room = width - left.cell_len - 1
        left.append_text(self.mark(told_apart(self._title(row, room, width), label, quiet)))
        return columns(left, numbers, width)

    def ink(self, row: int, node: NodeLine) -> Style | None:
        """The style of a node's mark and title; None for the usual."""
        kept = self._shown.family.kept
        if kept is not None and not kept[row]:
            return self.style_of("quiet")
        if node.failure:
            return self.style_of("warning")
        return self.style_of("good") if row in self._marks else None

    def numbers(self, row: int, node: NodeLine, width: int) -> Text:
        """What stands at the right of a node's line. Counts are not known of what was."""
        if row in self._marks:
            return line_of((_NOVELTIES[self._marks[row]], self.style_of("good")))
        if self._past:
            return line_of((f"d{node.depth}", self.style_of("quiet")))
        return _numbers(node, width, self.style_of("quiet"))

    def _title(self, row: int, room: int, width: int) -> Title:
        """What tells a node from its siblings and its parent, beside the widest numbers."""
        if (row, room) not in self._titles:
            family = self._shown.family
            rows = family.block(row, BLOCK).tolist()
            nodes = [self._node_line(each) for each in rows]
            parent = int(family.parent[row])
            below = parent != NO_PARENT and self.shown_as.layered
            above = self._node_line(parent).trigger if below else ""
            room_left = room - max(
                self.numbers(each, node, width).cell_len
                for each, node in zip(rows, nodes, strict=True)
            )
            if len(self._titles) > _KEPT_TITLES:
                self._titles.clear()
            for each, title in zip(
                rows,
                titles([node.entry for node in nodes], room_left, above, self.words),
                strict=True,
            ):
                self._titles[each, room] = title
        return self._titles[row, room]

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
        """A click on the sign before a node, or a second one on the node, folds it."""
        sign = self._indent(self._line(line).depth, self.scrollable_content_region.width)
        on_sign = sign <= column < sign + _INDENT
        again = line == self.cursor
        self.cursor = line
        if on_sign or again:
            self.action_fold()

    def action_expand(self) -> None:
        """Expand, or go to the first child."""
        if not self.line_count():
            return
        if self._shown.expand_lone(self.cursor):
            self.lines_changed()
        elif self._shown.family.count(int(self._shown.rows[self.cursor])):
            self.cursor += 1

    def action_collapse(self) -> None:
        """Collapse, or go to the parent."""
        if not self.line_count():
            return
        if self._shown.collapse(self.cursor):
            self.lines_changed()
        else:
            self.action_parent()

    def action_fold(self) -> None:
        """Expand or collapse."""
        if self.line_count() and (
            self._shown.collapse(self.cursor) or self._shown.expand(self.cursor)
        ):
            self.lines_changed()

    def action_expand_below(self) -> None:
        """Expand all below."""
        if self.line_count() and self._shown.expand_below(self.cursor):
            self.lines_changed()

    def action_collapse_all(self) -> None:
        """Collapse everything, the cursor on the root of where it was."""
        if self.line_count():
            row = int(self._shown.rows[self._shown.root_line(self.cursor)])
            self._shown.collapse_all()
            self.lines_changed(self._shown.line_of(row))

    def action_parent(self) -> None:
        """Go to the parent."""
        if self.line_count():
            self.cursor = self._shown.parent_line(self.cursor)

    def action_root(self) -> None:
        """Go to the root."""
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
