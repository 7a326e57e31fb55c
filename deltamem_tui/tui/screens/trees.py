"""A bank: both trees as outlines, and the node or chain one looks at."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from deltamem_tui.bank.node import TREES, TreeName
from deltamem_tui.errors import DeltaMemError, UsageError
from deltamem_tui.memory.parameters import Parameters, from_record
from deltamem_tui.memory.views.filters import FILTER_HELP, ORDERS, Order, parse_filter
from deltamem_tui.tui.actions import bindings
from deltamem_tui.tui.background import Inquiry
from deltamem_tui.tui.messages import Arranged, Failed
from deltamem_tui.tui.models.arrangement import Arrangement, arrange
from deltamem_tui.tui.models.family import Family
from deltamem_tui.tui.models.nodes import chain_sections, detail
from deltamem_tui.tui.models.outline import Outline
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.models.words import counted
from deltamem_tui.tui.screens.mending import ChosenNode, MendingScreen
from deltamem_tui.tui.state import EXPANDED_LIMIT, BankState
from deltamem_tui.tui.widgets.bars import TopBar, WorkBar
from deltamem_tui.tui.widgets.key_bar import KeyBar
from deltamem_tui.tui.widgets.line_input import LineInput
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.outline_view import OutlineView
from deltamem_tui.tui.widgets.text_pane import TextPane

_ARRANGING = "arranging the outlines"


class TreesScreen(MendingScreen):
    """Outlines above, the node below."""

    SCOPES = ("trees", "tree", "list", "bank", "app")
    BINDINGS: ClassVar = [*bindings("trees")]
    DEFAULT_CSS = """
    TreesScreen #outlines { height: 1fr; }
    TreesScreen OutlineView { width: 1fr; height: 1fr; border-top: solid $primary; }
    TreesScreen OutlineView:focus { border-top: heavy $accent; }
    TreesScreen TextPane { height: 1fr; border-top: solid $primary; padding: 0 1; }
    TreesScreen TextPane:focus { border-top: heavy $accent; }
    TreesScreen #filter { display: none; }
    TreesScreen #filter.-open { display: block; }
    TreesScreen.-narrow #env { display: none; }
    TreesScreen.-narrow.-env #env { display: block; }
    TreesScreen.-narrow.-env #task { display: none; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.arrangement = Arrangement()
        self._left = BankState()
        self._folds: Mapping[str, Sequence[str]] | None = None
        self._arranged = Inquiry(self, _ARRANGING)
        self._shown_as: Arrangement | None = None
        self._keys_go: Callable[[], None] | None = None
        self._expected: tuple[TreeName, str] | None = None
        self._shown_tree: TreeName = "task"
        self._chain_step: int | None = None
        self._chain_of: str | None = None

    def compose(self) -> ComposeResult:
        """Two outlines, a filter that comes when it is asked for, and a pane."""
        yield TopBar("DeltaMem", "trees")
        with Horizontal(id="outlines"):
            for name in TREES:
                yield OutlineView(name, id=name)
        yield LineInput(placeholder=FILTER_HELP, id="filter", compact=True)
        yield TextPane(id="detail")
        yield WorkBar()
        yield KeyBar(self.SCOPES)

    def on_mount(self) -> None:
        """Show the bank, the task tree in focus."""
        line = self.query_one("#filter", Input)
        line.value = self.arrangement.text
        line.set_class(bool(line.value), "-open")
        self.outline("task").focus()

    def outline(self, name: TreeName) -> OutlineView:
        """The outline of a tree."""
        return self.query_one(f"#{name}", OutlineView)

    @property
    def shown(self) -> OutlineView:
        """The outline that the detail pane is about."""
        return self.outline(self._shown_tree)

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
        return None if node is None else ChosenNode(self._shown_tree, node)

    # State between runs

    def restore(self, left: BankState) -> None:
        """Show the bank as it was left."""
        self._left = left
        with contextlib.suppress(UsageError):
            self.arrangement = Arrangement.of(left.filter, left.order)
        if not self.arrangement.wanted.empty:
            self._folds = left.expanded

    def remembered(self) -> BankState:
        """How the bank is left now."""
        if not self._ready:
            return self._left
        outlines = {name: self.outline(name) for name in TREES}
        return BankState(
            nodes={name: each.node.id for name, each in outlines.items() if each.node},
            expanded=self._folds_of(EXPANDED_LIMIT),
            filter=self.arrangement.text,
            order=self.arrangement.order,
        )

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
        same = self._shown_as is not None and self._shown_as.text == message.arrangement.text
        for name, family in message.families.items():
            view = self.outline(name)
            known = view.node
            expanded = self._expanded(view, family, same_filter=same)
            node_id = known.id if known else self._left.nodes.get(name)
            view.show(Outline(family, expanded), message.parameters[name], node_id)
            view.border_title = Content(self._title(name, family))
        self._shown_as = message.arrangement
        if self.arrangement.wanted.empty:
            self._folds = None
        self._is_arranged()
        if self._expected and not self._arranged.has_more:
            tree, node_id = self._expected
            self._expected = None
            self.go_to(tree, node_id)

    def on_failed(self, message: Failed) -> None:
        """The outlines stay as they are; the app says why."""
        if message.name == _ARRANGING:
            self._is_arranged()

    def _is_arranged(self) -> None:
        """Keys that were typed for the outlines go their way."""
        if self._keys_go is not None:
            self.call_later(self._keys_go)
            self._keys_go = None

    def _expanded(self, view: OutlineView, family: Family, *, same_filter: bool) -> set[int]:
        """What is expanded: all that a filter found, but for what the person collapsed since.

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
        """The ids of the nodes that are expanded; under a filter, of those that were before."""
        if self._folds is not None:
            return {name: list(self._folds.get(name, ()))[:limit] for name in TREES}
        return {name: self.outline(name).expanded_ids(limit) for name in TREES}

    def _title(self, name: TreeName, family: Family) -> str:
        words = f"{name} · {counted(len(family.tree), 'node')}"
        if family.kept is not None:
            words += f" · {int(family.kept.sum()):,} fit the filter"
        if self.arrangement.order != "birth":
            words += f" · by {self.arrangement.order}"
        return words

    def expect(self, tree: TreeName, node_id: str) -> None:
        """Go to a node once the outlines show the bank's new state."""
        self._expected = (tree, node_id)

    def go_to(self, tree: TreeName, node_id: str) -> None:
        """Put the cursor on a node, without a filter if the filter hides it."""
        view = self.outline(tree)
        if view.outline is None:
            self.expect(tree, node_id)
            return
        view.focus()
        if view.go_to(node_id):
            return
        if not self.arrangement.wanted.empty and node_id in self.bank.tree(tree).find(node_id):
            self.expect(tree, node_id)
            self._arrange_by("", self.arrangement.order, keys_wait=True)

    def on_line_list_moved(self, message: LineList.Moved) -> None:
        """Show the node under the cursor."""
        if isinstance(message.lines, OutlineView) and message.lines is self.shown:
            node_id = self.shown.node_id
            if node_id != self._chain_of:  # the bank may only say something else of the same node
                self._chain_of = node_id
                self._chain_step = None if self._chain_step is None else -1
            self._show_node()

    def on_descendant_focus(self) -> None:
        """The tree in focus is the one that is shown."""
        focused = self.focused
        if isinstance(focused, OutlineView) and focused.tree_name != self._shown_tree:
            self._shown_tree = focused.tree_name
            self.set_class(self._shown_tree == "env", "-env")
            self._show_node()

    def _show_node(self) -> None:
        pane = self.query_one("#detail", TextPane)
        view = self.shown
        try:
            node, tree = view.node, view.shown_tree
            if node is None or tree is None:
                pane.border_title = "node"
                pane.show([Section("", self._nothing())])
                return
            if self._chain_step is None:
                pane.border_title = Content(self._moving_title() or "node")
                pane.show(detail(tree, node))
                return
            chain = tree.chain(node.id)
            step = self._step_of(len(chain))
            title = f"chain as an agent receives it · {step + 1} of {len(chain)}"
            pane.border_title = Content(self._moving_title() or title)
            pane.show(chain_sections(tree.name, chain), step)
        except DeltaMemError as error:
            pane.show([Section("This node cannot be read", str(error), warning=True)])

    def watch_moving(self) -> None:
        """Show what is being moved: on its line, and with the keys that end it."""
        for name in TREES:
            here = self.moving is not None and self.moving.tree == name
            self.outline(name).moving = self.moving.node.id if self.moving and here else ""
        self._show_node()

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

    def _nothing(self) -> str:
        if not self.arrangement.wanted.empty:
            return f"No node of the {self._shown_tree} tree fits the filter."
        if self.bank.frozen:
            return "The tree is empty, and the bank is frozen: nothing is learnt any more."
        key = self.browser.key_of("show_episodes")
        return f"The tree is empty. Press {key} to import episodes and learn from them."

    def readable(self) -> Sequence[Section]:
        """The node or chain."""
        return self.query_one("#detail", TextPane).sections

    def action_other_tree(self) -> None:
        """Go to the other tree."""
        self.outline("env" if self._shown_tree == "task" else "task").display = True
        self.set_class(self._shown_tree == "task", "-env")
        self.outline("env" if self._shown_tree == "task" else "task").focus()

    def action_chain(self) -> None:
        """Show the chain, or the node again."""
        self._chain_step = -1 if self._chain_step is None else None
        self._show_node()

    def action_step(self, steps: int) -> None:
        """Go along the chain."""
        node, tree = self.shown.node, self.shown.shown_tree
        if node is None or tree is None:
            return
        self._chain_step = max(0, min(self._step_of(node.depth) + steps, node.depth - 1))
        self._show_node()

    def _step_of(self, length: int) -> int:
        """Which node of a chain is marked: the one stepped to, else the last."""
        step = self._chain_step
        return step if step is not None and 0 <= step < length else length - 1

    # Filter and sort

    def action_filter(self) -> None:
        """Type a filter."""
        line = self.query_one("#filter", Input)
        line.add_class("-open")
        line.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter while it is typed; a filter that is not finished waits.

        Who types fast is ahead of the messages: what the line says now counts, not what it
        said when the message was sent.
        """
        if event.input.id == "filter" and event.input.value != self.arrangement.text:
            self._filter_by(event.input.value, say=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go back to the outline."""
        if event.input.id == "filter" and self._filter_by(event.value, say=True):
            self._close_filter()

    def _filter_by(self, text: str, *, say: bool) -> bool:
        """Filter by what was typed. Returns whether it is a filter."""
        if text == self.arrangement.text:
            if say:
                self._let_keys_wait()
            return True
        try:
            parse_filter(text)
        except UsageError as error:
            if say:
                self.browser.tell_error(error)
            return False
        self._arrange_by(text, self.arrangement.order, keys_wait=say)
        return True

    def _let_keys_wait(self) -> None:
        """What is typed from now on is meant for the outlines that are being arranged."""
        if self._arranged.under_way and self._keys_go is None:
            self._keys_go = self.browser.hold_keys()

    def _close_filter(self) -> None:
        """Leave the filter's line, which says what the outlines are filtered by."""
        line = self.query_one("#filter", Input)
        if line.value != self.arrangement.text:
            line.value = self.arrangement.text
        line.set_class(bool(line.value), "-open")
        self.shown.focus()

    def _arrange_by(self, text: str, order: Order, *, keys_wait: bool) -> None:
        known, self.arrangement = self.arrangement, Arrangement.of(text, order)
        if known.wanted.empty and not self.arrangement.wanted.empty and self._folds is None:
            self._folds = self._folds_of(len(self.bank.tree("task")) + len(self.bank.tree("env")))
        line = self.query_one("#filter", Input)
        if line.value != text:
            line.value = text
        line.set_class(bool(text) or line.has_focus, "-open")
        self._arrange(keys_wait=keys_wait, at_once=True)

    def action_sort(self) -> None:
        """Sort siblings another way."""
        order = ORDERS[(ORDERS.index(self.arrangement.order) + 1) % len(ORDERS)]
        self._arrange_by(self.arrangement.text, order, keys_wait=True)

    async def action_close_bank(self) -> None:
        """Leave what is going on first: the filter's line, a move, the filter; then the bank."""
        line = self.query_one("#filter", Input)
        if line.has_focus:
            self._close_filter()
        elif self.moving:
            self.moving = None
            self.browser.tell("not moved")
        elif self.arrangement.text:
            self._arrange_by("", self.arrangement.order, keys_wait=True)
        else:
            await super().action_close_bank()
