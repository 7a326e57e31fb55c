"""Putting right: what a person changes in a bank's trees by hand."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

from textual.reactive import reactive

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node, TreeName
from deltamem_tui.errors import DeltaMemError
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

    Attributes:
        moving: The node that waits for its new parent to be chosen.
    """

    moving: reactive[ChosenNode | None] = reactive(None, init=False)

    def chosen(self) -> ChosenNode | None:
        """The node that the screen shows; None if there is none."""
        raise NotImplementedError

    def expect(self, tree: TreeName, node_id: str) -> None:
        """Look at a node once the screen shows the bank's new state."""
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
        """Edit the node's text in the editor, or go on with what could not be saved."""
        from deltamem_tui.tui.models.sheet import write_sheet
        from deltamem_tui.tui.widgets.dialogs import DraftDialog

        chosen = self._writable_node()
        if not chosen or not self.browser.free_to_work():  # what one types could not be written
            return
        before = write_sheet(chosen.tree, chosen.node)
        draft = self.home.drafts.of(chosen.place)
        if draft is None or draft == before:
            self._edit(chosen, before, before)
            return

        def answer(goes_on: bool | None) -> None:
            if goes_on is not None:
                self.call_later(self._edit, chosen, before, draft if goes_on else before)

        self.browser.push_screen(DraftDialog(draft, before), answer)

    def _edit(self, chosen: ChosenNode, before: str, text: str) -> None:
        self.browser.edit(
            text,
            lambda after: self._edited(chosen, before, after),
            lambda after: self.home.drafts.keep(chosen.place, after),
        )

    def _edited(self, chosen: ChosenNode, before: str, after: str) -> None:
        from deltamem_tui.tui.models.sheet import read_sheet

        drafts = self.home.drafts
        if after == before:
            drafts.drop(chosen.place)
            self.browser.tell("nothing was changed")
            return
        drafts.keep(chosen.place, after)
        kept = f"your text is kept, {self.browser.key_of('edit')} offers it again"
        try:
            payload = read_sheet(after)
        except DeltaMemError as error:
            self.browser.tell_error(_with_hint(error, kept))
            return

        def work(bank: Bank) -> str:
            from deltamem_tui.memory import editing

            try:
                editing.edit(bank, chosen.tree, chosen.node, payload)
            except DeltaMemError as error:
                raise _with_hint(error, kept) from error
            drafts.drop(chosen.place)
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
            self.browser.tell(
                "go to its new parent and press m, or M to make it a root; escape leaves it"
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
            self.browser.change("undoing", self._undo)

    def _undo(self, bank: Bank) -> str:
        """Undo beside the screen, which then looks at what came back."""
        from deltamem_tui.memory import editing

        change = editing.undo(bank)
        self.call_later(self.expect, change.tree, change.nodes[0].id)
        return f"undone: {counted(len(change.nodes), 'node')} as before"


def _with_hint(error: DeltaMemError, hint: str) -> DeltaMemError:
    """The error with one more thing to do about it."""
    said = copy(error)
    said.hint = f"{error.hint}; {hint}" if error.hint else hint
    return said
