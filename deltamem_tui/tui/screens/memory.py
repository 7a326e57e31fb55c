"""A bank: its trees as outlines, filtered and sorted, and the node one looks at."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from deltamem_tui.bank.node import Label
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.filters import NODES, ORDERS, Order
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.core.background import Stopped
from deltamem_tui.tui.core.bank_session import OpenBank
from deltamem_tui.tui.models.nodes import chain_sections, detail, evidence_of
from deltamem_tui.tui.models.outline import ALL_NODES, ArrangedNodes, NodeArrangement, arrange
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.screens.base import BankScreen, bottom_bars
from deltamem_tui.tui.screens.filtering import ListFilter, Place
from deltamem_tui.tui.screens.node_editing import ChosenNode, NodeEditor
from deltamem_tui.tui.widgets.bars import TopBar
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.outline_view import Outlines, OutlineView
from deltamem_tui.tui.widgets.text_pane import TextPane


class MemoryScreen(BankScreen):
    """Outlines above, the node below; side by side where there is room."""

    SCOPES = ("memory", "tree", "list", "bank", "app")
    AUTO_FOCUS = "OutlineView.-shown"
    BINDINGS: ClassVar = [*bindings("memory")]
    DEFAULT_CSS = """
    MemoryScreen TextPane { height: 1fr; border-top: solid $primary; padding: 0 1; }
    MemoryScreen TextPane:focus { border-top: heavy $accent; }
    MemoryScreen #columns, MemoryScreen #left { height: 1fr; }
    MemoryScreen.-wide #columns { layout: horizontal; }
    MemoryScreen.-wide #left, MemoryScreen.-wide TextPane { width: 1fr; }
    """

    def __init__(self, home: OpenBank) -> None:
        super().__init__(home)
        self.list_filter: ListFilter[Order, ArrangedNodes] = ListFilter(
            "arranging the outlines",
            NODES,
            ORDERS,
            ALL_NODES,
            find=self._find,
            show=self._show,
            focus=lambda: self.set_focus(self.shown),
            typed=self._filter_typed,
            seek=self._seek,
        )
        self._outlines = Outlines(tuple(home.bank.trees))
        self.main_pane = TextPane(id="detail")
        self._chain = False  # whether the node's chain is shown in its place
        self._move_keys = ""
        self.editor = NodeEditor(self, self.chosen, self._show_move)

    def compose(self) -> ComposeResult:
        yield TopBar("memory")
        with Vertical(id="columns"):
            with Vertical(id="left"):
                yield self._outlines
                yield self.list_filter
            yield self.main_pane
        yield from bottom_bars()

    @property
    def shown(self) -> OutlineView:
        """The outline that the pane below is about."""
        return self._outlines.shown

    def outline(self, tree: str) -> OutlineView:
        """Return the outline of a tree."""
        return self._outlines.views[tree]

    def chosen(self) -> ChosenNode | None:
        """Return the node under the cursor."""
        node = self.shown.node
        return None if node is None else ChosenNode(self.shown.tree_name, node)

    # The outlines

    def bank_changed(self) -> None:
        """Arrange the outlines; the first time at once, so that they are there when first drawn."""
        if self.shown.outline is None and self.list_filter.arrangement.wanted.empty:
            with contextlib.suppress(DeltaMemError):  # what is wrong is reported by the thread
                arranged = self._find(self.list_filter.arrangement)(lambda: False)
                self.list_filter.show(arranged)
                return
        self.list_filter.rearrange()

    def _find(self, arrangement: NodeArrangement) -> Callable[[Stopped], ArrangedNodes]:
        bank = self.bank
        return lambda stopped: arrange(bank, arrangement, stopped)

    def _show(self, arranged: ArrangedNodes) -> None:
        """Show the outlines, the cursor and what was expanded as they were."""
        self.main_pane.mark(self.list_filter.words)
        self._outlines.show(arranged)
        self.offer(
            "filter", "sort", when=any(len(self.bank.tree(name)) for name in self._outlines.views)
        )
        self._outlines.head(counts=self.list_filter.is_in_force)

    def return_to(self, place: Place) -> None:
        """Put the cursor on a node, once the outlines show the bank as it is."""
        self.list_filter.go_to(place)

    def _seek(self, place: Place) -> bool:
        """Put the cursor on a node; False if it is there, and the filter hides it."""
        tree, node_id = place
        self._outlines.bring(tree)
        return self.outline(tree).go_to(node_id) or not self.bank.tree(tree).find(node_id)

    def place(self) -> Place:
        """Return the node under the cursor."""
        node = self.shown.node
        return () if node is None else (self.shown.tree_name, node.id)

    def action_evidence(self) -> None:
        if (chosen := self.chosen()) is not None:
            self.show_evidence(chosen.tree, chosen.node)

    def action_other_tree(self) -> None:
        self._outlines.bring(self._outlines.next_tree)

    # The node

    def on_line_list_moved(self, message: LineList.Moved) -> None:
        if message.lines is self.shown:
            self._show_node()

    def _show_node(self) -> None:
        """Show all that is known of the node under the cursor, or its chain."""
        view, current, title = self.shown, None, "node"
        try:
            node, tree = view.node, view.shown_tree
            kept, missing = evidence_of(self.bank, view.tree_name, node) if node else ([], [])
            if node is None or tree is None:
                sections = [Section("", self._why_empty())]
            elif self._chain:
                chain = tree.chain(node.id)
                title = f"chain from the root · {counted(len(chain), 'node')}"
                current = len(chain) - 1
                sections = chain_sections(view.shown_as, chain)
            else:
                sections = detail(tree, node, view.shown_as, missing)
            self.offer("chain", "edit", when=node is not None)
            self.offer("evidence", when=bool(kept))
        except DeltaMemError as error:
            sections = [Section("This node cannot be read", str(error), warning=True)]
        self.main_pane.border_title = Content(self._move_keys or title)
        self.main_pane.show(sections, current)

    def _why_empty(self) -> str:
        shown, display = self.list_filter.shown_as, self.shown.shown_as
        if shown is not None and not shown.wanted.empty:
            text = f"No node of the {display.title} fits the filter"
            if self.list_filter.is_in_force:
                return f"{text}."
            return f"{text} {one_line(shown.text, 60)}."
        if self.bank.frozen:
            return f"There is no {display.noun}, and the bank is frozen: it learns nothing more."
        key = self.browser.key_of("show_episodes")
        return (
            f"There is no {display.noun} yet. Press {key} to import episodes and learn from them."
        )

    def action_chain(self) -> None:
        self._chain = not self._chain
        self._show_node()

    # Filter and sort

    def action_filter(self) -> None:
        self.list_filter.open()

    def action_sort(self) -> None:
        self.list_filter.sort()

    def _filter_typed(self) -> None:
        """Count what fits only of the filter that is in force."""
        self._outlines.head(counts=self.list_filter.is_in_force)
        if self.shown.outline is not None and not self.shown.line_count():
            self._show_node()

    async def action_step_back(self) -> None:
        """Leave one thing at a time: the line, a move, the chain, a link, the filter, the bank."""
        if not self.list_filter.step_back(self._leave_inner):
            await super().action_step_back()

    def _leave_inner(self) -> bool:
        if self.editor.leave_move():
            self.browser.notes.notify("not moved")
        elif self._chain:
            self.action_chain()
            self.shown.focus()
        else:
            return self.browser.session.back_by_link()
        return True

    # Editing

    def _show_move(self, moved: ChosenNode | None) -> None:
        """Show what is being moved: on its line, and with the keys that end it."""
        for name, view in self._outlines.views.items():
            view.moving = moved.node.id if moved and moved.tree == name else ""
        key, self._move_keys = self.browser.key_of, ""
        if moved:
            self._move_keys = (
                f"moving » {moved.node.id}: {key('move')} below this node · "
                f"{key('make_root')} a root · {key('step_back')} cancels"
            )
        self._show_node()

    def action_show(self, screen: str) -> None:
        """Show another screen; a move ends when the trees are left."""
        self.editor.leave_move()
        super().action_show(screen)

    def action_node(self, change: str, *values: str) -> None:
        """Do what the editor calls so with the node under the cursor."""
        getattr(self.editor, change)(*values)

    def action_relabel(self, label: Label) -> None:
        self.editor.relabel(label)
