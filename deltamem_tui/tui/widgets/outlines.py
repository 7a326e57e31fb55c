"""The outlines of a bank's trees: which one is looked at, and what is expanded in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from deltamem_tui.memory.display import Display
from deltamem_tui.text import counted
from deltamem_tui.tui.core.state import EXPANDED_LIMIT, BankState
from deltamem_tui.tui.models.arrangement import ArrangedNodes, NodeArrangement
from deltamem_tui.tui.models.family import Family
from deltamem_tui.tui.models.outline import Outline
from deltamem_tui.tui.widgets.outline_view import OutlineView


class Outlines(Horizontal):
    """An outline a tree, side by side; where there is no room, the one that is looked at.

    Args:
        names: The names of the trees.
        left: How the bank was left the last time.
        filtered: Whether it was left with a filter.

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
        """An outline a tree."""
        yield from self.views.values()

    def on_mount(self) -> None:
        """Looks at the first tree."""
        self._mark_shown()
        self.shown.focus()

    def view(self, name: str) -> OutlineView:
        """Returns the outline of a tree."""
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
        """Looks at a tree."""
        if name != self.tree_name:
            self._look_at(name)
        self.views[name].focus()

    def on_descendant_focus(self) -> None:
        """Looks at the tree in focus."""
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
        """Returns how they are left, arranged like this."""
        ids = {name: view.node_id for name, view in self.views.items()}
        return BankState(
            nodes={name: node_id for name, node_id in ids.items() if node_id},
            expanded=self._folds_of(EXPANDED_LIMIT),
            filter=arrangement.text,
            order=arrangement.order,
        )

    def keep_folds(self) -> None:
        """Keeps what is expanded before a filter, which expands all that it finds."""
        if self._folds is None:
            nodes = sum(len(view.shown_tree or ()) for view in self.views.values())
            self._folds = self._folds_of(nodes)

    def show(self, arranged: ArrangedNodes) -> None:
        """Shows the trees as they were arranged, cursors and what was expanded as they were."""
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
        """What is expanded: all that a filter found, but for what was collapsed since.

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
            return {name: list(self._folds.get(name, ()))[:limit] for name in self.views}
        return {name: view.expanded_ids(limit) for name, view in self.views.items()}

    # Their titles

    def head(self, filtered_by: str) -> None:
        """Shows in the titles what they show.

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
