"""The outline of one tree: parses and draws only the lines one sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.reactive import reactive

from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import NO_PARENT, Tree
from deltamem_tui.memory.display import Display
from deltamem_tui.text import counted
from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.models.outline import ArrangedNodes, NodeArrangement, Outline
from deltamem_tui.tui.models.sections import title_of
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.text_pane import columns, line_of


class Outlines(Horizontal):
    """An outline a tree, side by side; where there is no room, the one that is looked at."""

    SCOPED_CSS = False  # how much room there is, the screen above knows
    DEFAULT_CSS = """
    Outlines { height: 1fr; }
    Outlines OutlineView { width: 1fr; height: 1fr; border-top: solid $primary; }
    Outlines OutlineView:focus { border-top: heavy $accent; }
    .-narrow Outlines OutlineView.-aside, .-normal Outlines OutlineView.-aside { display: none; }
    .-wide Outlines { layout: vertical; }
    Outlines OutlineView.-unused { display: none; }
    """

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(id="outlines")
        self.views = {name: OutlineView(name) for name in names}
        self.tree_name = names[0]
        self._folds: Mapping[str, list[str]] = {}  # what is expanded without a filter
        self._shown_as: NodeArrangement | None = None

    def compose(self) -> ComposeResult:
        yield from self.views.values()

    def on_mount(self) -> None:
        self._mark_shown()
        self.shown.focus()

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
            view.set_class(view is self.shown, "-shown")
            view.set_class(view is not self.shown, "-aside")

    # What is expanded

    def show(self, arranged: ArrangedNodes) -> None:
        """Show the trees as they were arranged, cursors and what was expanded as they were."""
        if self._shown_as is None or self._shown_as.wanted.empty:  # a filter expands all it finds
            self._folds = {name: view.expanded_ids() for name, view in self.views.items()}
        self._shown_as = arranged.arrangement
        for name, view in self.views.items():
            if (family := arranged.families.get(name)) is None:
                continue  # another bank has taken the place of this one
            is_whole = family.kept is None
            expanded = family.rows_of(self._folds[name]) if is_whole else family.parents()
            display = arranged.displays.get(name)
            view.set_class(display is None, "-unused")
            shown = display or Display(name, name)
            words = arranged.arrangement.wanted.words
            view.show(Outline(family, expanded), view.node_id, shown, words)

    # Their titles

    def head(self, *, counts: bool) -> None:
        """Show in the titles what they show; `counts` says also how many nodes fit the filter."""
        if self._shown_as is None:
            return
        for view in self.views.values():
            if view.outline is not None:
                family = view.outline.family
                title = f"{view.shown_as.title} · {counted(len(family.tree), 'node')}"
                if family.kept is not None and counts:
                    title += f" · {int(family.kept.sum()):,} fit the filter"
                if self._shown_as.order != "birth":
                    title += f" · by {self._shown_as.order}"
                view.border_title = Content(title)


_INDENT = 2
_TOLD_APART = 200
"""Of more siblings each has its title alone: to read them all would keep the first line waiting."""
_NARROW = 34


class OutlineView(LineList):
    """One tree as an outline."""

    BINDINGS = [*bindings("tree")]  # noqa: RUF012 - textual reads it so

    moving: reactive[str] = reactive("", init=False)

    def __init__(self, tree_name: str) -> None:
        super().__init__(id=tree_name if tree_name.isidentifier() else None)
        self.tree_name = tree_name
        self.outline: Outline | None = None
        self.shown_as = Display(tree_name, tree_name)
        self._titles: dict[int, str] = {}

    def show(
        self,
        outline: Outline,
        node_id: str | None,
        display: Display,
        words: tuple[str, ...] = (),
    ) -> None:
        """Show an outline, the cursor on a node if it is there, else where it was.

        `words` are marked: those that the nodes are filtered by.
        """
        self.outline = outline
        self.words = words
        self.shown_as = display
        self._titles.clear()
        line = None
        if node_id is not None and (row := self._row_of(node_id)) is not None:
            line = outline.reveal(row)
        self.lines_changed(line)

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

    def expanded_ids(self) -> list[str]:
        """Return the ids of nodes that are expanded."""
        return self._ids(sorted(self.outline.expanded)) if self.outline else []

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
        outline, row = self._shown, int(self._shown.rows[line])
        node, kept = outline.family.tree.node_at(row), outline.family.kept
        strong, quiet = self.style_of("strong"), self.style_of("quiet")
        is_failure = node.label == "failure"
        ink = self.style_of("warning") if is_failure else None
        if kept is not None and not kept[row]:
            ink = quiet
        fold = "▾ " if row in outline.expanded else "▸ "
        mark = "✗ " if is_failure else "● " if node.kind == "root" else "○ "
        left = line_of(
            (" " * self._indent(node.depth, width), None),
            (fold if outline.family.count(row) else "  ", strong),
            ("» " if node.id == self.moving else mark, ink or strong),
        )
        numbers = line_of((self._numbers(row, node, width), quiet))
        room = width - left.cell_len - numbers.cell_len - 1
        left.append_text(self.mark(line_of((self._title(row, node, room), ink))))
        return columns(left, numbers, width)

    def _title(self, row: int, node: Node, room: int) -> str:
        """Return a node's title, told apart from its siblings'; below a parent, what differs."""
        family = self._shown.family
        if row not in self._titles:
            parent = int(family.parent[row])
            siblings = family.roots if parent == NO_PARENT else family.children(parent)
            rows = siblings.tolist() if len(siblings) <= _TOLD_APART else [row]
            above = family.tree.node_at(parent) if parent != NO_PARENT else None
            nodes = [family.tree.node_at(each) for each in rows]
            titles = self.shown_as.titles(nodes, above if self.shown_as.layered else None)
            self._titles |= zip(rows, titles, strict=True)
        return title_of(self._titles[row] or node.id, room)

    def _indent(self, depth: int, width: int) -> int:
        """Deep nodes are not pushed out of sight: their depth is on the line."""
        return min((depth - 1) * _INDENT, width // 3)

    def _numbers(self, row: int, node: Node, width: int) -> str:
        """Return depth, hits, utility, and whether the chain was fused; if narrow only the hits."""
        fused, family = "≡" if node.consolidated else " ", self._shown.family
        count = family.tree.counts_at(row).hits
        hits = f"{count:,}×" if count else "·"
        if width < _NARROW:
            return f"{hits}{fused}"
        depth = f"d{node.depth}" if node.depth > 1 else ""
        return f"{depth} {hits:>4}{family.utility_text(row)}{fused}"

    @property
    def _shown(self) -> Outline:
        if self.outline is None:
            raise RuntimeError("an outline was drawn before it was there")
        return self.outline

    def clicked(self, line: int, column: int) -> None:
        """Fold a node by a click on the sign before it, or a second one on the node."""
        row = int(self._shown.rows[line])
        depth = int(self._shown.family.depth[row])
        sign = self._indent(depth, self.scrollable_content_region.width)
        on_sign = sign <= column < sign + _INDENT
        again = line == self.cursor
        self.cursor = line
        if on_sign or again:
            self.action_fold()

    def action_expand(self) -> None:
        if not self._fold(Outline.expand) and self.line_count():
            self.cursor += bool(self._shown.family.count(int(self._shown.rows[self.cursor])))

    def action_collapse(self) -> None:
        if not self._fold(Outline.collapse) and self.line_count():
            self.cursor = self._shown.parent_line(self.cursor)

    def action_fold(self) -> None:
        _ = self._fold(Outline.collapse) or self._fold(Outline.expand)

    def action_expand_below(self) -> None:
        self._fold(Outline.expand_below)

    def _fold(self, change: Callable[[Outline, int], bool]) -> bool:
        """Fold or unfold the node under the cursor. Returns whether that changed anything."""
        changed = self.line_count() > 0 and change(self._shown, self.cursor)
        if changed:
            self.lines_changed()
        return changed
