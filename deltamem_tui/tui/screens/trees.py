"""A bank: both trees as outlines, filtered and sorted, and the node one looks at."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.widget import Widget

from deltamem_tui.errors import DeltaMemError, UsageError
from deltamem_tui.memory.deltamem.collections import COLLECTIONS
from deltamem_tui.memory.deltamem.settings import Parameters, from_record
from deltamem_tui.memory.views.filters import NODES, ORDERS
from deltamem_tui.text import one_line
from deltamem_tui.tui.actions import bindings
from deltamem_tui.tui.arrivals import Sought
from deltamem_tui.tui.messages import Arranged
from deltamem_tui.tui.models.arrangement import ALL_NODES, Arrangement, NodeArrangement, arrange
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.screens.filter_sort import ArrangingScreen
from deltamem_tui.tui.screens.node_editing import ChosenNode, MendingScreen
from deltamem_tui.tui.state import BankState
from deltamem_tui.tui.widgets.bars import TopBar, WorkBar
from deltamem_tui.tui.widgets.key_bar import KeyBar
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.node_pane import NodePane, unreadable
from deltamem_tui.tui.widgets.outline_view import OutlineView
from deltamem_tui.tui.widgets.outlines import Outlines


class TreesScreen(ArrangingScreen, MendingScreen):
    """Outlines above, the node below."""

    LANGUAGE = NODES
    ORDERS = ORDERS
    ARRANGING = "arranging the outlines"
    SCOPES = ("trees", "tree", "list", "bank", "app")
    BINDINGS: ClassVar = [*bindings("trees")]
    DEFAULT_CSS = """
    TreesScreen TextPane { height: 1fr; border-top: solid $primary; padding: 0 1; }
    TreesScreen TextPane:focus { border-top: heavy $accent; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.arrangement: NodeArrangement = ALL_NODES
        self._outlines = Outlines()
        self._pane = NodePane(id="detail")
        self._left = BankState()
        self._sought: Sought | None = None

    def compose(self) -> ComposeResult:
        """Two outlines, a filter that comes when it is asked for, and a pane."""
        yield TopBar("DeltaMem", "trees")
        yield self._outlines
        yield self._line
        yield self._pane
        yield WorkBar()
        yield KeyBar(self.SCOPES)

    def on_mount(self) -> None:
        """Show the bank, the task tree in focus."""
        self._line.show(self.arrangement.text)
        self.outline("task").focus()

    def outline(self, name: str) -> OutlineView:
        """The outline of a tree."""
        return self._outlines.view(name)

    @property
    def shown(self) -> OutlineView:
        """The outline that the detail pane is about."""
        return self._outlines.shown

    @property
    def parameters(self) -> Parameters:
        """The bank's numbers."""
        return from_record(self.bank.manifest.settings)

    def panes(self) -> Iterable[Widget]:
        """The outline that is shown, before the others."""
        return [self.shown, *super().panes()]

    def chosen(self) -> ChosenNode | None:
        """The node under the cursor."""
        node = self.shown.node
        return None if node is None else ChosenNode(self.shown.tree_name, node)

    # State between runs

    def restore(self, left: BankState) -> None:
        """Show the bank as it was left."""
        self._left = left
        with contextlib.suppress(UsageError):
            self.arrangement = Arrangement.of(NODES, left.filter, left.order)
        self._outlines.restore(left, self.arrangement)

    def remembered(self) -> BankState:
        """How the bank is left now."""
        return self._outlines.remembered(self.arrangement) if self._ready else self._left

    # The outlines

    def bank_changed(self) -> None:
        """Arrange the outlines of what the bank holds now."""
        self.rearrange(keys_wait=self.shown.outline is None, at_once=False)

    def rearrange(self, *, keys_wait: bool, at_once: bool) -> None:
        """Let a worker filter and sort both trees."""
        bank, arrangement, parameters = self.bank, self.arrangement, self.parameters
        self._arranged.ask(
            lambda stopped: Arranged(
                arrangement, parameters, arrange(bank, arrangement, parameters, stopped)
            ),
            keys_wait=keys_wait,
            at_once=at_once,
        )

    def on_arranged(self, message: Arranged) -> None:
        """Show the outlines, the cursor and what was expanded as they were."""
        if not self.home.is_read or message.arrangement is not self.arrangement:
            return
        self._outlines.show(message)
        self._outlines.head(self._line.text)
        self.is_arranged()
        if self._sought and not self._arranged.has_more:
            sought, self._sought = self._sought, None
            self.go_to(sought)

    def expect(self, sought: Sought) -> None:
        """Go to a node once the outlines show the bank's new state."""
        self._sought = sought

    def go_to(self, sought: Sought) -> None:
        """Put the cursor on a node, without a filter if the filter hides it.

        Who went on meanwhile is left alone: the next key would be for another node.
        """
        if not self.browser.is_awaited(sought.asked):
            return
        tree, node_id = sought.tree, sought.node_id
        view = self.outline(tree)
        if view.outline is None:
            self.expect(sought)
            return
        self._outlines.bring(tree)
        if view.go_to(node_id):
            return
        if not self.arrangement.wanted.empty and node_id in self.bank.tree(tree).find(node_id):
            self.expect(sought)
            self.arrange_by("", self.arrangement.order, keys_wait=True)

    def action_other_tree(self) -> None:
        """Go to the other tree."""
        self._outlines.bring("env" if self.shown.tree_name == "task" else "task")

    # The node

    def on_line_list_moved(self, message: LineList.Moved) -> None:
        """Show the node under the cursor."""
        if message.lines is self.shown:
            self._show_node()

    def _show_node(self) -> None:
        view = self.shown
        try:
            node, tree = view.node, view.shown_tree
        except DeltaMemError as error:
            self._pane.show_nothing(unreadable(error))
            return
        if node is None or tree is None:
            self._pane.show_nothing(Section("", self._nothing()))
        else:
            self._pane.show_node(tree, node)

    def _nothing(self) -> str:
        shown = self._outlines.shown_as
        if shown is not None and not shown.wanted.empty:
            said = f"No node of the {self.shown.tree_name} tree fits the filter"
            return (
                f"{said}."
                if self._line.text == shown.text
                else f"{said} {one_line(shown.text, 60)}."
            )
        if self.bank.frozen:
            return "The tree is empty, and the bank is frozen: nothing is learnt any more."
        key = self.browser.key_of("show_episodes")
        return f"The tree is empty. Press {key} to import episodes and learn from them."

    def watch_moving(self) -> None:
        """Show what is being moved: on its line, and with the keys that end it."""
        for name in COLLECTIONS:
            here = self.moving is not None and self.moving.tree == name
            self.outline(name).moving = self.moving.node.id if self.moving and here else ""
        self._pane.head(self._moving_title())

    def _moving_title(self) -> str:
        if self.moving is None:
            return ""
        key = self.browser.key_of
        return (
            f"moving » {self.moving.node.id}: {key('move')} below this node · "
            f"{key('make_root')} a root · {key('step_back')} leaves it"
        )

    def action_show(self, screen: str) -> None:
        """Show another screen; a move ends with the look at the trees."""
        self.moving = None
        super().action_show(screen)

    def readable(self) -> Sequence[Section]:
        """The node or chain."""
        return self._pane.sections

    def action_chain(self) -> None:
        """Show the chain, or the node again."""
        self._pane.toggle_chain()

    def action_step(self, steps: int) -> None:
        """Go along the chain."""
        self._pane.step(steps)

    # Filter and sort

    @property
    def shown_as(self) -> NodeArrangement | None:
        """How the outlines are arranged, as one sees them."""
        return self._outlines.shown_as

    def filter_typed(self) -> None:
        """Count what fits only of the filter that the outlines are filtered by."""
        self._outlines.head(self._line.text)
        if self.shown.outline is not None and not self.shown.line_count():
            self._show_node()

    def filter_begins(self) -> None:
        """Keep what is expanded without a filter."""
        self._outlines.keep_folds()

    def step_out(self) -> bool:
        """Leave a move, or else the chain."""
        if self.moving:
            self.moving = None
            self.browser.tell("not moved")
            return True
        if self._pane.in_chain:
            self._pane.toggle_chain()
            self.shown.focus()
            return True
        return False
