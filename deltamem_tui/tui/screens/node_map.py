"""The nodes of a collection as a map by similarity, and the one under the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.methods import display_of, is_shown
from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.core.background import Inquiry
from deltamem_tui.tui.core.open_bank import OpenBank
from deltamem_tui.tui.models.node_map import NodeMap, node_map
from deltamem_tui.tui.models.nodes import detail
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.screens.base import BankScreen, bottom_bars
from deltamem_tui.tui.widgets.bars import TopBar
from deltamem_tui.tui.widgets.node_map import SIGNS, NodeMapView
from deltamem_tui.tui.widgets.text_pane import TextPane


class NodeMapScreen(BankScreen):
    """The map at the left, the node at the right."""

    SCOPES = ("map", "bank", "app")
    BINDINGS: ClassVar = [*bindings("map")]
    DEFAULT_CSS = """
    NodeMapScreen Horizontal { height: 1fr; }
    NodeMapScreen NodeMapView { width: 3fr; }
    NodeMapScreen TextPane { width: 2fr; border-top: solid $primary; padding: 0 1; }
    NodeMapScreen TextPane:focus { border-top: heavy $accent; }
    NodeMapScreen.-narrow Horizontal { layout: vertical; }
    NodeMapScreen.-narrow NodeMapView { height: 3fr; }
    NodeMapScreen.-narrow TextPane { height: 2fr; }
    """

    def __init__(self, home: OpenBank) -> None:
        super().__init__(home)
        self._laying_out = Inquiry(self, "laying out the map")
        self._map = NodeMapView()
        self._pane = TextPane()
        self._tree = ""

    def compose(self) -> ComposeResult:
        """Map, node."""
        yield TopBar("DeltaMem", "map")
        with Horizontal():
            yield self._map
            yield self._pane
        yield from bottom_bars(self.SCOPES)

    def on_mount(self) -> None:
        """Goes to the map."""
        self._map.border_title = "laying out …"
        self._pane.border_title = "node"
        self._map.focus()

    @property
    def _names(self) -> list[str]:
        return [name for name in self.bank.trees if is_shown(self.bank, name)]

    def bank_changed(self) -> None:
        """Lays the map out again."""
        names, bank = self._names, self.bank
        if not names:
            return
        name = self._tree = self._tree if self._tree in names else names[0]
        self._laying_out.ask(lambda _: node_map(bank, name), self._show, at_once=True)

    def _show(self, found: NodeMap) -> None:
        drawn = f"{len(found.rows):,} of " if len(found.rows) < found.nodes else ""
        title = display_of(self.bank, found.tree).title
        self._map.show(
            found,
            f"{title} · {drawn}{found.nodes:,} nodes · two axes show {found.kept:.0%}",
        )

    def on_node_map_view_went_to(self) -> None:
        """Shows the node under the cursor, and what the signs mean."""
        row = self._map.row
        self.offer("map_node", when=row is not None)
        self.offer("other_map", when=len(self._names) > 1)
        signs = "\n".join(f"{sign}  {means}" for sign, _, means in SIGNS.values())
        legend = Section("Legend: nodes close together are alike", signs, quiet=True)
        if row is None or self._map.shown is None:
            self._pane.show([Section("", "There is no node yet.", quiet=True), legend])
            return
        tree = self.bank.tree(self._map.shown.tree)
        try:
            found = detail(tree, tree.node_at(row), display_of(self.bank, tree.name))
        except DeltaMemError as error:
            found = [Section("This node cannot be read", str(error), warning=True)]
        self._pane.show([*found, legend])

    def on_node_map_view_picked(self) -> None:
        """Shows the node in its tree after a second click."""
        self.action_show_map_node()

    def readable(self) -> Sequence[Section]:
        """The node under the cursor."""
        return self._pane.sections

    @property
    def node_id(self) -> str | None:
        """The id of the node under the cursor."""
        row, found = self._map.row, self._map.shown
        return None if row is None or found is None else self.bank.tree(found.tree).node_at(row).id

    def action_go_towards(self, across: int, up: int) -> None:
        """Goes to the next node in a direction."""
        self._map.go_towards(across, up)

    def action_show_map_node(self) -> None:
        """Shows the node in its tree."""
        if (node_id := self.node_id) is not None:
            self.browser.session.show_node(self._tree, node_id)

    def action_other_map(self) -> None:
        """Lays out the next collection."""
        if names := self._names:
            self._tree = names[(names.index(self._tree) + 1) % len(names)]
            self.bank_changed()
