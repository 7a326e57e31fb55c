"""A bank: both trees as outlines, filtered and sorted, and the node one looks at."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import Input

from deltamem_tui.bank.node import TREES, TreeName
from deltamem_tui.errors import DeltaMemError, UsageError
from deltamem_tui.memory.parameters import Parameters, from_record
from deltamem_tui.memory.views.filters import ORDERS, Order
from deltamem_tui.text import one_line
from deltamem_tui.tui.actions import bindings
from deltamem_tui.tui.arrivals import Sought
from deltamem_tui.tui.background import Inquiry
from deltamem_tui.tui.messages import Arranged, Failed
from deltamem_tui.tui.models.arrangement import Arrangement, arrange
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.screens.mending import ChosenNode, MendingScreen
from deltamem_tui.tui.state import BankState
from deltamem_tui.tui.widgets.bars import TopBar, WorkBar
from deltamem_tui.tui.widgets.filter_line import FilterLine
from deltamem_tui.tui.widgets.key_bar import KeyBar
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.node_pane import NodePane, unreadable
from deltamem_tui.tui.widgets.outline_view import OutlineView
from deltamem_tui.tui.widgets.outlines import Outlines

_ARRANGING = "arranging the outlines"


class TreesScreen(MendingScreen):
    """Outlines above, the node below."""

    SCOPES = ("trees", "tree", "list", "bank", "app")
    BINDINGS: ClassVar = [*bindings("trees")]
    DEFAULT_CSS = """
    TreesScreen TextPane { height: 1fr; border-top: solid $primary; padding: 0 1; }
    TreesScreen TextPane:focus { border-top: heavy $accent; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.arrangement = Arrangement()
        self._outlines = Outlines()
        self._line = FilterLine()
        self._pane = NodePane(id="detail")
        self._left = BankState()
        self._arranged = Inquiry(self, _ARRANGING)
        self._keys_go: Callable[[], None] | None = None
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

    def outline(self, name: TreeName) -> OutlineView:
        """The outline of a tree."""
        return self._outlines.view(name)

    @property
    def shown(self) -> OutlineView:
        """The outline that the detail pane is about."""
        return self._outlines.shown

    @property
    def parameters(self) -> Parameters:
        """The bank's numbers."""
        return from_record(self.bank.manifest.parameters)

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
            self.arrangement = Arrangement.of(left.filter, left.order)
        self._outlines.restore(left, self.arrangement)

    def remembered(self) -> BankState:
        """How the bank is left now."""
        return self._outlines.remembered(self.arrangement) if self._ready else self._left

    # The outlines

    def bank_changed(self) -> None:
        """Arrange the outlines of what the bank holds now."""
        self._arrange(keys_wait=self.shown.outline is None, at_once=False)

    def _arrange(self, *, keys_wait: bool, at_once: bool) -> None:
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
        self._is_arranged()
        if self._sought and not self._arranged.has_more:
            sought, self._sought = self._sought, None
            self.go_to(sought)

    def on_failed(self, message: Failed) -> None:
        """The outlines stay as they are; the app says why."""
        if message.name == _ARRANGING:
            self._is_arranged()

    def _is_arranged(self) -> None:
        """Keys that were typed for the outlines go their way."""
        if self._keys_go is not None:
            self.call_later(self._keys_go)
            self._keys_go = None

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
            self._arrange_by("", self.arrangement.order, keys_wait=True)

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
        for name in TREES:
            here = self.moving is not None and self.moving.tree == name
            self.outline(name).moving = self.moving.node.id if self.moving and here else ""
        self._pane.head(self._moving_title())

    def _moving_title(self) -> str:
        if self.moving is None:
            return ""
        key = self.browser.key_of
        return (
            f"moving » {self.moving.node.id}: {key('move')} below this node · "
            f"{key('make_root')} a root · {key('close_bank')} leaves it"
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

    def action_filter(self) -> None:
        """Type a filter."""
        self._line.open()

    def on_input_changed(self) -> None:
        """Filter while it is typed; a filter that is not finished waits.

        Who types fast is ahead of the messages: what the line says now counts, not what it
        said when the message was sent.
        """
        if self._line.text != self.arrangement.text:
            self._filter_by(self._line.text, say=False)
        self._outlines.head(self._line.text)
        if self.shown.outline is not None and not self.shown.line_count():
            self._show_node()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go back to the outline."""
        if self._filter_by(event.value, say=True):
            self._close_filter()

    def _filter_by(self, text: str, *, say: bool) -> bool:
        """Filter by what was typed. Returns whether it is a filter."""
        if text == self.arrangement.text:
            if say:
                if not (self._is_as_arranged or self._arranged.under_way):  # it failed before
                    self._arrange(keys_wait=False, at_once=True)
                self._let_keys_wait()
            return True
        try:
            self._arrange_by(text, self.arrangement.order, keys_wait=say)
        except UsageError as error:
            if say:
                self.browser.tell_error(error)
            return False
        return True

    def _let_keys_wait(self) -> None:
        """What is typed from now on is meant for the outlines that are being arranged."""
        awaited = self._arranged.under_way and not self._is_as_arranged
        if awaited and self._keys_go is None:
            self._keys_go = self.browser.hold_keys()

    @property
    def _is_as_arranged(self) -> bool:
        """Whether the outlines are shown as they are to be arranged."""
        return self._outlines.shown_as is self.arrangement

    def _close_filter(self) -> None:
        """Leave the filter's line, which says what the outlines are filtered by."""
        self._line.show(self.arrangement.text)
        self.shown.focus()

    def _arrange_by(self, text: str, order: Order, *, keys_wait: bool) -> None:
        """Filter and sort.

        Raises:
            UsageError: The filter cannot be read; nothing is done.
        """
        known, self.arrangement = self.arrangement, Arrangement.of(text, order)
        if known.wanted.empty and not self.arrangement.wanted.empty:
            self._outlines.keep_folds()
        self._line.show(text, open=self._line.is_typed_in)
        self._arrange(keys_wait=keys_wait, at_once=True)

    def action_sort(self) -> None:
        """Sort siblings another way."""
        order = ORDERS[(ORDERS.index(self.arrangement.order) + 1) % len(ORDERS)]
        self._arrange_by(self.arrangement.text, order, keys_wait=True)

    async def action_close_bank(self) -> None:
        """Leave one thing at a time: the filter's line, a move, the chain, the filter, the bank."""
        if self._line.is_typed_in:
            self._let_keys_wait()
            self._close_filter()
        elif self.moving:
            self.moving = None
            self.browser.tell("not moved")
        elif self._pane.in_chain:
            self._pane.toggle_chain()
            self.shown.focus()
        elif self._line.text != self.arrangement.text:  # what could not be read is left there
            self._close_filter()
        elif self.arrangement.text:
            self._arrange_by("", self.arrangement.order, keys_wait=True)
        else:
            await super().action_close_bank()
