"""Putting right: what a person changes in a bank's trees by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass

from textual.reactive import reactive

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node
from deltamem_tui.errors import BankError, DeltaMemError
from deltamem_tui.memory.writers.failure_markers import marks_in
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.background import Progress, look_up
from deltamem_tui.tui.messages import Changed, Planned, SubtreeRead
from deltamem_tui.tui.models.nodes import subtree_preview
from deltamem_tui.tui.screens.base import BankScreen


@dataclass(frozen=True, slots=True)
class ChosenNode:
    """A node that a person looks at.

    Attributes:
        tree: Its tree.
        node: The node as it was read.
    """

    tree: str
    node: Node

    @property
    def place(self) -> tuple[str, str]:
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
        from deltamem_tui.tui.models.edit_document import write_sheet
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
        from deltamem_tui.memory.methods import method_of
        from deltamem_tui.tui.models.edit_document import read_sheet, size_warning
        from deltamem_tui.tui.widgets.dialogs import ConfirmDialog

        drafts = self.home.drafts
        if after == before:
            drafts.drop(chosen.place)
            self.browser.tell("nothing was changed")
            return
        drafts.keep(chosen.place, after)
        try:
            payload = method_of(self.bank).cleaned(chosen.tree, read_sheet(after))
        except DeltaMemError as error:
            self.browser.tell_error(_with_hint(error, self._kept))
            return
        warning = size_warning(chosen.node.payload, payload)
        if warning is None:
            self._write(chosen, payload)
            return

        def answer(sure: bool | None) -> None:
            if sure:
                self._write(chosen, payload)
            else:
                self.browser.tell(f"nothing was written; {self._kept}")

        question = "Shall the node say so much?"
        self.browser.push_screen(ConfirmDialog(question, [warning]), answer)

    def _write(self, chosen: ChosenNode, payload: Mapping[str, str]) -> None:
        drafts, undoes, kept = self.home.drafts, self._undoes, self._kept

        def work(bank: Bank) -> str:
            from deltamem_tui.memory import editing

            try:
                editing.edit(bank, chosen.tree, chosen.node, payload)
            except DeltaMemError as error:
                raise _with_hint(error, kept) from error
            drafts.drop(chosen.place)
            return f"edited {chosen.node.id}; {undoes}"

        self._mend("writing the edit", work, chosen.place)

    def action_relabel(self) -> None:
        """Turn a success into a failure, or the reverse."""
        if (chosen := self._writable_node()) is None:
            return
        node, undoes, edits = chosen.node, self._undoes, self.browser.key_of("edit")
        label: Label = "success" if node.label == "failure" else "failure"

        def work(bank: Bank) -> str:
            from deltamem_tui.memory import editing

            editing.relabel(bank, chosen.tree, node, label)
            unwarned = chosen.tree == "task" and label == "success"
            marks = ", ".join(marks_in(node.payload)) if unwarned else ""
            said = f"; its text still says {marks}, {edits} edits it" if marks else ""
            return f"{node.id} is a {label} now{said}; {undoes}"

        self._mend("relabelling", work, chosen.place)

    def action_move(self) -> None:
        """First choose the node, then the new parent."""
        if (chosen := self._writable_node()) is None:
            return
        if self.moving is None or self.moving.tree != chosen.tree:
            self.moving = chosen
            key = self.browser.key_of
            self.browser.tell(
                f"go to its new parent and press {key('move')}, or {key('make_root')} to make it "
                f"a root; {key('step_back')} leaves it"
            )
            return
        self._move(self.moving, chosen.node)

    def action_make_root(self) -> None:
        """Make the node that is being moved, or the one under the cursor, a root."""
        if chosen := self._writable_node():
            self._move(self.moving or chosen, None)

    def _move(self, moved: ChosenNode, parent: Node | None) -> None:
        self.moving, undoes = None, self._undoes

        def work(bank: Bank) -> str:
            from deltamem_tui.memory import editing

            change = editing.move(bank, moved.tree, moved.node, parent)
            where = f"below {parent.id}" if parent else "among the roots"
            return f"moved {counted(len(change.nodes), 'node')} {where}; {undoes}"

        self._mend("moving", work, moved.place)

    def _mend(self, name: str, work: Callable[[Bank], str], place: tuple[str, str]) -> None:
        """Change the bank by work that writes one commit or raises, which `undo` takes back."""
        own = self.browser.own_changes

        def mend(bank: Bank) -> str:
            said = work(bank)
            own.note(bank)
            return said

        self.change(name, mend, place)

    def action_delete(self) -> None:
        """Show what would go, and ask."""
        from deltamem_tui.memory import editing

        chosen = self._writable_node()
        if chosen and self.browser.free_to_work():  # else the answer would be in vain
            tree, node_id = chosen.place
            shown, asked = self.bank.tree(tree), self.browser.asked_here()
            look_up(
                self,
                "reading the subtree",
                lambda _: SubtreeRead(tree, editing.subtree(shown, node_id), asked),
                keys_wait=True,
            )

    def on_subtree_read(self, message: SubtreeRead) -> None:
        """Ask before anything is deleted, unless the bank is closed by now."""
        if not self.home.is_read:
            return
        tree, nodes, path = message.tree, message.nodes, self.home.path
        parent = nodes[0].parent
        undoes, own = self._undoes, self.browser.own_changes

        def delete(_: Progress) -> Changed:
            bank = Bank.open(path)
            said = f"{_delete(bank, tree, nodes)}; {undoes}"
            own.note(bank)
            return Changed(path, said, (tree, parent) if parent else None)

        question = f"Delete {counted(len(nodes), 'node')} of the {tree} tree?"
        plan = Planned("deleting", question, subtree_preview(nodes), delete, asked=message.asked)
        plan.later = f"{one_line(path.name, 40)}: {question}"
        self.browser.offer(plan)

    def action_undo(self) -> None:
        """Take back the last change by hand."""
        from deltamem_tui.tui.jobs.undoing import undo_last

        if self.writable():
            path, own = self.home.path, self.browser.own_changes
            self.browser.work("undoing", lambda _: undo_last(path, own))

    @property
    def _kept(self) -> str:
        return f"your text is kept, {self.browser.key_of('edit')} offers it again"

    @property
    def _undoes(self) -> str:
        return f"{self.browser.key_of('undo')} undoes it"


def _delete(bank: Bank, tree: str, nodes: Sequence[Node]) -> str:
    """Delete a node and all below it, if that is still what was shown."""
    from deltamem_tui.memory import editing

    root, *_ = nodes
    now = editing.subtree(bank.tree(tree), root.id)
    if {node.id for node in now} != {node.id for node in nodes}:
        raise BankError(
            "other nodes hang below it by now; nothing was deleted",
            source=root.id,
            hint="look at it again, and delete it then",
        )
    return f"deleted {counted(len(editing.delete(bank, tree, root).nodes), 'node')}"


def _with_hint(error: DeltaMemError, hint: str) -> DeltaMemError:
    """The error with one more thing to do about it."""
    said = copy(error)
    said.hint = f"{error.hint}; {hint}" if error.hint else hint
    return said
