"""Putting right: what a person changes in a bank's trees by hand."""

from __future__ import annotations

from dataclasses import dataclass

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node, TreeName
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.text import one_line
from deltamem_tui.tui.background import look_up
from deltamem_tui.tui.messages import SubtreeRead
from deltamem_tui.tui.models.nodes import subtree_preview
from deltamem_tui.tui.models.words import counted
from deltamem_tui.tui.screens.base import BankScreen


@dataclass(frozen=True, slots=True)
class ChosenNode:
    """A node that a person looks at.

    Attributes:
        tree: Its tree.
        node: The node as it was read.
    """

    tree: TreeName
    node: Node

    @property
    def place(self) -> tuple[TreeName, str]:
        """Tree and id: where to look after a change."""
        return self.tree, self.node.id


class MendingScreen(BankScreen):
    """A screen that shows a node and lets a person change it.

    Every change is one commit by a handle of its own, and refused with its reason on a
    frozen bank before anything is asked.
    """

    def __init__(self) -> None:
        super().__init__()
        self.moving: ChosenNode | None = None

    def chosen(self) -> ChosenNode | None:
        """The node that the screen shows; None if there is none."""
        raise NotImplementedError

    def _writable_node(self) -> ChosenNode | None:
        """The node to change; None, and the reason shown, if it cannot be changed."""
        if not self.writable():
            return None
        try:
            return self.chosen()
        except DeltaMemError as error:
            self.browser.tell_error(error)
            return None

    def action_edit(self) -> None:
        """Edit the node's text in the editor."""
        from deltamem_tui.tui.models.sheet import write_sheet

        chosen = self._writable_node()
        if chosen and self.browser.free_to_work():  # what one types could not be written
            before = write_sheet(chosen.tree, chosen.node)
            self.browser.edit(before, lambda after: self._edited(chosen, before, after))

    def _edited(self, chosen: ChosenNode, before: str, after: str) -> None:
        from deltamem_tui.tui.models.sheet import read_sheet

        if after == before:
            self.browser.tell("nothing was changed")
            return
        try:
            payload = read_sheet(after)
        except DeltaMemError as error:
            self.browser.tell_error(error)
            return

        def work(bank: Bank) -> str:
            from deltamem_tui.memory import editing

            editing.edit(bank, chosen.tree, chosen.node, payload)
            return f"edited {chosen.node.id}; u undoes it"

        self.browser.change("writing the edit", work, chosen.place)

    def action_relabel(self) -> None:
        """Turn a success into a failure, or the reverse."""
        if (chosen := self._writable_node()) is None:
            return
        node = chosen.node

        def work(bank: Bank) -> str:
            from deltamem_tui.memory import editing

            label = "success" if node.label == "failure" else "failure"
            editing.relabel(bank, chosen.tree, node, "success" if label == "success" else "failure")
            return f"{node.id} is a {label} now; u undoes it"

        self.browser.change("relabelling", work, chosen.place)

    def action_move(self) -> None:
        """First choose the node, then the new parent."""
        if (chosen := self._writable_node()) is None:
            return
        if self.moving is None or self.moving.tree != chosen.tree:
            self.moving = chosen
            trigger = one_line(chosen.node.payload.activation_condition, 50)
            self.browser.tell(
                f"moving “{trigger}”: go to its new parent and press m, or M to make it a root; "
                "escape leaves it",
                stays=True,
            )
            return
        self._move(self.moving, chosen.node)

    def action_make_root(self) -> None:
        """Make the node that is being moved, or the one under the cursor, a root."""
        if chosen := self._writable_node():
            self._move(self.moving or chosen, None)

    def _move(self, moved: ChosenNode, parent: Node | None) -> None:
        self.moving = None

        def work(bank: Bank) -> str:
            from deltamem_tui.memory import editing

            change = editing.move(bank, moved.tree, moved.node, parent)
            where = f"below {parent.id}" if parent else "among the roots"
            return f"moved {counted(len(change.nodes), 'node')} {where}; u undoes it"

        self.browser.change("moving", work, moved.place)

    def action_delete(self) -> None:
        """Show what would go, and ask."""
        from deltamem_tui.memory import editing

        if chosen := self._writable_node():
            tree, node_id = chosen.place
            shown = self.bank.tree(tree)
            look_up(
                self,
                "reading the subtree",
                lambda _: SubtreeRead(tree, editing.subtree(shown, node_id)),
                keys_wait=True,
            )

    def on_subtree_read(self, message: SubtreeRead) -> None:
        """Ask before anything is deleted."""
        from deltamem_tui.tui.widgets.dialogs import ConfirmDialog

        if not self.browser.opened:
            return
        tree, nodes = message.tree, message.nodes

        def answer(sure: bool | None) -> None:
            if sure:
                self._delete(ChosenNode(tree, nodes[0]))

        question = f"Delete {counted(len(nodes), 'node')} of the {tree} tree?"
        self.browser.push_screen(ConfirmDialog(question, subtree_preview(nodes)), answer)

    def _delete(self, chosen: ChosenNode) -> None:
        def work(bank: Bank) -> str:
            from deltamem_tui.memory import editing

            change = editing.delete(bank, chosen.tree, chosen.node)
            return f"deleted {counted(len(change.nodes), 'node')}; u undoes it"

        parent = chosen.node.parent
        self.browser.change("deleting", work, (chosen.tree, parent) if parent else None)

    def action_undo(self) -> None:
        """Take back the last change by hand."""
        if self.writable():
            self.browser.change("undoing", _undo)


def _undo(bank: Bank) -> str:
    from deltamem_tui.memory import editing

    change = editing.undo(bank)
    return f"undone: {counted(len(change.nodes), 'node')} as before"
