"""The pane below the outlines: the node under the cursor, or the chain that leads to it."""

from __future__ import annotations

from textual.content import Content

from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.display import Display
from deltamem_tui.tui.models.nodes import chain_sections, detail
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.widgets.text_pane import TextPane

_LAST = -1


class NodePane(TextPane):
    """All that is known of a node, or its chain with one entry marked.

    Another node's chain is marked at its end, which is the node itself. Where one had stepped
    to is kept for as long as it is the same node, also if the bank says something new of it.
    """

    def __init__(self, id: str | None = None) -> None:  # noqa: A002 - textual's word
        super().__init__(id=id)
        self._place: tuple[Tree, Node, Display, tuple[str, ...]] | None = None
        self._step: int | None = None
        self._heading = ""

    @property
    def in_chain(self) -> bool:
        """Whether the chain is shown, and not only the node."""
        return self._step is not None and self._place is not None

    def show_node(
        self, tree: Tree, node: Node, display: Display, missing: tuple[str, ...] = ()
    ) -> None:
        """Show a node of a tree, in the way the one before was shown.

        `missing` are its episodes that the bank does not have.
        """
        in_chain = self._step is not None
        if in_chain and (self._place is None or self._place[1].id != node.id):
            self._step = _LAST
        self._place = tree, node, display, missing
        self._draw()

    def show_nothing(self, section: Section) -> None:
        """Show why there is no node to be shown."""
        self._place = None
        self._draw()
        self.show([section])

    def head(self, words: str) -> None:
        """Say something in the title that matters more than what is shown; nothing if empty."""
        self._heading = words
        self._draw()

    def toggle_chain(self) -> None:
        """Show the chain, or the node again."""
        if self._place is not None:
            self._step = None if self.in_chain else _LAST
            self._draw()

    def step(self, steps: int) -> None:
        """Go along the chain, which is shown for it."""
        if self._place is not None:
            depth = self._place[1].depth
            self._step = max(0, min(self._marked(depth) + steps, depth - 1))
            self._draw()

    def _marked(self, length: int) -> int:
        """Which node of a chain is marked: the one stepped to, else the last."""
        step = self._step
        return step if step is not None and 0 <= step < length else length - 1

    def _draw(self) -> None:
        if self._place is None:
            self.border_title = Content(self._heading or "node")
            return
        try:
            title, sections, current = self._content(*self._place)
        except DeltaMemError as error:
            title, sections, current = "node", [unreadable(error)], None
        self.border_title = Content(self._heading or title)
        self.show(sections, current)

    def _content(
        self, tree: Tree, node: Node, display: Display, missing: tuple[str, ...]
    ) -> tuple[str, list[Section], int | None]:
        """Title, sections, and which of them is marked."""
        if not self.in_chain:
            return "node", detail(tree, node, display, missing), None
        chain = tree.chain(node.id)
        step = self._marked(len(chain))
        title = f"chain from the root · {step + 1} of {len(chain)}"
        return title, chain_sections(display, chain), step


def unreadable(error: DeltaMemError) -> Section:
    """What is shown in place of a node that cannot be read."""
    return Section("This node cannot be read", str(error), warning=True)
