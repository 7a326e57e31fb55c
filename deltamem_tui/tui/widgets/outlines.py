"""Both trees' outlines: which of them is looked at, and what is expanded, also past a filter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from deltamem_tui.memory.deltamem.collections import COLLECTIONS
from deltamem_tui.text import counted
from deltamem_tui.tui.messages import Arranged
from deltamem_tui.tui.models.arrangement import NodeArrangement
from deltamem_tui.tui.models.family import Family
from deltamem_tui.tui.models.outline import Outline
from deltamem_tui.tui.state import EXPANDED_LIMIT, BankState
from deltamem_tui.tui.widgets.outline_view import OutlineView


class Outlines(Horizontal):
    """Two outlines side by side; where there is no room for both, the one that is looked at.

    Attributes:
        tree_name: The tree that is looked at.
    """

    SCOPED_CSS = False  # how much room there is, the screen above knows
    DEFAULT_CSS = """
    Outlines { height: 1fr; }
    Outlines OutlineView { width: 1fr; height: 1fr; border-top: solid $primary; }
    Outlines OutlineView:focus { border-top: heavy $accent; }
    .-narrow Outlines #env { display: none; }
    .-narrow Outlines.-env #env { display: block; }
    .-narrow Outlines.-env #task { display: none; }
    """

    def __init__(self) -> None:
        super().__init__(id="outlines")
        self.tree_name: str = "task"
        self._views = {name: OutlineView(name, id=name) for name in COLLECTIONS}
        self._left = BankState()
        self._folds: Mapping[str, Sequence[str]] | None = None
        self._shown_as: NodeArrangement | None = None

    def compose(self) -> ComposeResult:
        """An outline a tree."""
        yield from self._views.values()

    def view(self, name: str) -> OutlineView:
        """The outline of a tree."""
        return self._views[name]

    @property
    def shown(self) -> OutlineView:
        """The outline that is looked at."""
        return self._views[self.tree_name]

    def bring(self, name: str) -> None:
        """Look at a tree."""
        self._look_at(name)
        self._views[name].focus()

    def on_descendant_focus(self) -> None:
        """The tree in focus is the one that is looked at."""
        focused = self.screen.focused
        if isinstance(focused, OutlineView) and focused.tree_name != self.tree_name:
            self._look_at(focused.tree_name)

    def _look_at(self, name: str) -> None:
        if name != self.tree_name:
            self.tree_name = name
            self.set_class(name == "env", "-env")
            self.post_message(OutlineView.Moved(self.shown))

    # What is expanded

    def restore(self, left: BankState, arrangement: NodeArrangement) -> None:
        """Let them be as they were left: cursors, and what was expanded before the filter."""
        self._left = left
        if not arrangement.wanted.empty:
            self._folds = left.expanded

    def remembered(self, arrangement: NodeArrangement) -> BankState:
        """How they are left, arranged so."""
        ids = {name: view.node_id for name, view in self._views.items()}
        return BankState(
            nodes={name: node_id for name, node_id in ids.items() if node_id},
            expanded=self._folds_of(EXPANDED_LIMIT),
            filter=arrangement.text,
            order=arrangement.order,
        )

    def keep_folds(self) -> None:
        """A filter begins, which expands all that it finds: keep what is expanded without it."""
        if self._folds is None:
            nodes = sum(len(view.shown_tree or ()) for view in self._views.values())
            self._folds = self._folds_of(nodes)

    def show(self, arranged: Arranged) -> None:
        """Show the trees as they were arranged, cursors and what was expanded as they were."""
        before, self._shown_as = self._shown_as, arranged.arrangement
        same = before is not None and before.text == arranged.arrangement.text
        for name, family in arranged.families.items():
            view = self._views[name]
            expanded = self._expanded(view, family, same_filter=same)
            node_id = view.node_id or self._left.nodes.get(name)
            view.show(Outline(family, expanded), arranged.parameters[name], node_id)
        if arranged.arrangement.wanted.empty:
            self._folds = None

    @property
    def shown_as(self) -> NodeArrangement | None:
        """How they are arranged, as one sees them; None until they were shown."""
        return self._shown_as

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
            return {name: list(self._folds.get(name, ()))[:limit] for name in COLLECTIONS}
        return {name: view.expanded_ids(limit) for name, view in self._views.items()}

    # Their titles

    def head(self, filtered_by: str) -> None:
        """Say what they show.

        Args:
            filtered_by: The filter that the person sees. How many nodes fit is said only if it
                is the one that the outlines are filtered by: not of one that is still being
                sought, nor of one that cannot be read.
        """
        if self._shown_as is None:
            return
        counts = filtered_by == self._shown_as.text
        for view in self._views.values():
            if view.outline is not None:
                title = _title(view.tree_name, view.outline.family, counts=counts)
                if self._shown_as.order != "birth":
                    title += f" · by {self._shown_as.order}"
                view.border_title = Content(title)


def _title(name: str, family: Family, *, counts: bool) -> str:
    title = f"{name} · {counted(len(family.tree), 'node')}"
    if family.kept is not None and counts:
        title += f" · {int(family.kept.sum()):,} fit the filter"
    return title
